"""Dead letters from the command line."""

from __future__ import annotations

import pytest

from haulwright.events import JOB_REQUEUED


@pytest.mark.proves("DL-04")
def test_dead_letters_are_counted_by_tenant_and_error_code(haulwright, dead):
    dead("--tenant", "acme")
    dead("--tenant", "acme")
    dead("--tenant", "globex")

    counts = haulwright("dead", "counts", "--json").json["counts"]

    assert counts == [
        {"tenant": "acme", "error_code": "value_error", "count": 2},
        {"tenant": "globex", "error_code": "value_error", "count": 1},
    ]
    assert haulwright("dlq", "counts", "--tenant", "globex", "--json").json["counts"] == counts[1:]


@pytest.mark.proves("DL-02", "LG-05")
def test_a_requeue_makes_a_new_job_that_carries_the_ticket(haulwright, dead):
    letter = dead()

    words = ("--reason", "ticket 4711", "--correlation-id", "ticket-4711", "--json")
    (made,) = haulwright("dead", "requeue", letter, *words).json["requeued"]

    job = haulwright("job", "show", made["id"], "--json").json
    assert (job["requeued_from"], job["correlation_id"], job["state"]) == (letter, "ticket-4711", "queued")
    assert haulwright("dead", "list", "--json").json["jobs"] == []
    assert [one["id"] for one in haulwright("dead", "list", "--requeued", "--json").json["jobs"]] == [letter]


def test_a_requeue_records_who_and_why(haulwright, dead):
    haulwright("dead", "requeue", dead(), "--reason", "the shop is back")

    (told,) = haulwright("event", "list", "--name", JOB_REQUEUED, "--json").json["events"]

    assert told["actor"].startswith("admin:cli:")
    assert told["data"]["reason"] == "the shop is back"


def test_a_dead_letter_is_requeued_only_once(haulwright, dead):
    letter = dead()
    haulwright("dead", "requeue", letter)

    answer = haulwright("dead", "requeue", letter)

    assert answer.code == 4
    assert "was requeued already" in answer.err


def test_of_several_the_good_ones_are_requeued_and_the_others_told(haulwright, dead, enqueue):
    letter, waiting = dead(), enqueue("price", "sku=A1")

    answer = haulwright("dead", "requeue", waiting, letter, "--json")

    assert answer.code == 4
    assert [one["requeued_from"] for one in answer.json["requeued"]] == [letter]
    assert [one["id"] for one in answer.json["refused"]] == [waiting]


def test_a_bulk_requeue_can_be_looked_at_first(haulwright, dead):
    letter = dead()
    dead("--tenant", "acme")

    answer = haulwright("dead", "requeue", "--all", "--tenant", "default", "--dry-run", "--json")

    assert answer.json == {"would_requeue": [letter], "more": False}
    assert len(haulwright("dead", "list", "--json").json["jobs"]) == 2


def test_a_bulk_requeue_asks_or_wants_yes(haulwright, dead):
    dead()

    refused = haulwright("dead", "requeue", "--all")
    done = haulwright("dead", "requeue", "--all", "--error-code", "value_error", "--yes", "--json")

    assert (refused.code, "--yes" in refused.err) == (2, True)
    assert len(done.json["requeued"]) == 1


def test_fresh_says_what_may_be_repeated(haulwright, dead):
    letter = dead()

    answer = haulwright("dead", "requeue", letter, "--fresh", "--json")

    assert "may happen again" in answer.err
    new = haulwright("job", "show", answer.json["requeued"][0]["id"], "--json").json
    assert new["job_key"] == new["id"] != letter


@pytest.mark.proves("DL-03")
def test_support_sees_only_the_tenant_that_it_acts_for(haulwright, dead):
    letter = dead("--tenant", "acme")
    as_support = ("--as-support", "alice", "--reason", "ticket 1")

    foreign = haulwright("dead", "requeue", letter, *as_support, "--tenant", "globex")
    own = haulwright("dead", "requeue", letter, *as_support, "--tenant", "acme")

    assert (foreign.code, own.code) == (3, 0)
    (told,) = haulwright("event", "list", "--name", JOB_REQUEUED, "--json").json["events"]
    assert told["actor"] == "support:alice"


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--as-support", "alice", "--tenant", "acme"],
        ["--as-support", "alice", "--reason", "x"],
        ["--task", "price"],
    ],
)
def test_an_unclear_requeue_is_refused(haulwright, dead, words):
    letter = dead()
    chosen = [letter] if words else []

    assert haulwright("dead", "requeue", *chosen, *words).code == 2
    assert len(haulwright("dead", "list", "--json").json["jobs"]) == 1
