"""Effects from the command line: what was done, and what a person found out."""

from __future__ import annotations

import pytest

from haulwright.engine.ids import new_id
from haulwright.engine.outcome import Bury
from haulwright.events import EFFECT_RESOLVED
from tests.stores.scenes import claim_one, settle

KEY = "a-key-of-an-effect"


@pytest.fixture
def unknown(enqueue, store):
    """A dead letter whose only effect is unknown."""
    job_id = enqueue("price", "sku=A1")
    lease = claim_one(store, new_id())
    store.effects.begin(lease, KEY, "pay")
    store.effects.mark_unknown(lease, KEY, "pay")
    settle(store, lease, Bury("effect_unknown"))
    return job_id


def test_the_effects_of_a_job_are_listed(haulwright, unknown):
    (effect,) = haulwright("effect", "list", unknown, "--json").json["effects"]

    assert " ".join(effect) == "key name kind state fence tries started_at settled_at stored result"
    assert (effect["key"], effect["name"], effect["state"]) == (KEY, "pay", "unknown")
    assert "unknown" in haulwright("effect", "list", unknown).out


@pytest.mark.parametrize(
    ("words", "ledger"),
    [
        (["--happened", "--result", '{"id": 7}'], [("done", {"id": 7})]),
        (["--happened"], [("done", None)]),
        (["--not"], []),
    ],
)
def test_a_person_says_what_became_of_an_unknown_effect(haulwright, unknown, words, ledger):
    answer = haulwright("effect", "resolve", KEY, *words, "--reason", "asked the bank")

    effects = haulwright("effect", "list", unknown, "--json").json["effects"]
    (told,) = haulwright("event", "list", "--name", EFFECT_RESOLVED, "--json").json["events"]
    assert (answer.code, [(effect["state"], effect["result"]) for effect in effects]) == (0, ledger)
    assert (told["data"]["reason"], told["actor"].startswith("admin:cli:")) == ("asked the bank", True)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--reason", "x"], 2),
        (["--happened"], 2),
        (["--happened", "--result", "{", "--reason", "x"], 2),
        (["--not", "--result", "1", "--reason", "x"], 2),
        (["--happened", "--reason", "x", "--tenant", "other"], 3),
    ],
)
def test_an_unclear_answer_is_refused_and_changes_nothing(haulwright, unknown, words, code):
    assert haulwright("effect", "resolve", KEY, *words).code == code
    assert haulwright("effect", "list", unknown, "--json").json["effects"][0]["state"] == "unknown"


@pytest.mark.usefixtures("unknown")
def test_a_result_that_is_nested_too_deeply_is_refused(haulwright):
    answer = haulwright("effect", "resolve", KEY, "--happened", "--result", "[" * 100_000, "--reason", "x")

    assert answer.code == 2
    assert "is no JSON" in answer.err
