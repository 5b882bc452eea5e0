"""Sources from the command line: how they stand, and how a person changes that."""

from __future__ import annotations

import pytest

from penstock.engine.source import figures
from tests.stores.gates import ask, fail, leave

NAME = "shop.example"


@pytest.fixture
def declared(store):
    store.sources.declare(NAME, figures(rate="30/min", min_interval=2, concurrency=2))
    return store


@pytest.mark.proves("CB-04")
def test_a_source_is_shown_with_the_names_of_the_documents(penstock, declared):
    leave(declared, ask(declared, NAME))

    shown = penstock("source", "show", NAME, "--json").json

    assert (shown["rate_limit_per_minute"], shown["min_interval_seconds"], shown["enabled"]) == (30, 2, True)
    assert (shown["failure_streak"], shown["last_failure_at"], shown["paused_until"]) == (0, None, None)
    assert shown["last_success_at"].endswith("Z")
    assert shown["last_hour"]["requests"] == 1


def test_a_source_that_failed_too_often_says_so_in_the_list(penstock, store):
    store.sources.declare(NAME, figures())
    fail(store, 5, NAME)

    (listed,) = penstock("source", "list", "--json").json["sources"]

    assert (listed["gate"], listed["breaker"], listed["failure_streak"]) == ("breaker", "open", 5)
    assert listed["paused_until"] is not None
    assert "breaker for 5 min" in penstock("source", "list").out


@pytest.mark.usefixtures("declared")
def test_a_source_is_paused_with_a_reason_and_resumed(penstock):
    assert penstock("source", "pause", NAME, "--for", "1 h", "--reason", "audit", "--json").code == 0

    shown = penstock("source", "show", NAME, "--json").json
    assert (shown["gate"], shown["reason"], shown["paused_by"].startswith("admin:cli:")) == ("paused", "audit", True)
    assert "source resume" in penstock("source", "show", NAME).err

    assert penstock("source", "resume", NAME, "--json").json["changed"] is True
    assert penstock("source", "resume", NAME, "--json").json["changed"] is False


@pytest.mark.usefixtures("declared")
def test_figures_are_set_over_the_code_and_reset(penstock):
    changed = penstock("source", "set", NAME, "--rate", "5/s", "--breaker", "none", "--disable", "--json").json
    assert (changed["rate_limit_per_minute"], changed["breaker_failures"], changed["enabled"]) == (300, None, False)
    assert set(changed["overridden"]) == {"rate_count", "rate_per_us", "burst", "breaker_failures", "enabled"}

    back = penstock("source", "set", NAME, "--reset", "--json").json
    assert (back["rate_limit_per_minute"], back["enabled"], back["overridden"]) == (30, True, {})


@pytest.mark.usefixtures("declared")
@pytest.mark.parametrize(
    "words", [[], ["--reset", "--disable"], ["--rate", "fast"], ["--burst", "3"], ["--concurrency", "0"]], ids=str
)
def test_what_makes_no_sense_is_refused_and_nothing_changes(penstock, words):
    before = penstock("source", "show", NAME, "--json").json

    assert penstock("source", "set", NAME, *words).code == 2

    assert penstock("source", "show", NAME, "--json").json == before


def test_an_unknown_source_is_refused_with_the_next_step(penstock):
    answer = penstock("source", "show", "nobody")

    assert answer.code == 3
    assert "penstock source list" in answer.err
