"""Sources from the command line: how they stand, and how a person changes that."""

from __future__ import annotations

import pytest

from haulwright.engine.source import source_limits
from tests.stores.gates import ask, fail, leave

NAME = "shop.example"


@pytest.fixture
def declared(store):
    store.sources.declare(NAME, source_limits(rate="30/min", min_interval=2, concurrency=2))
    return store


@pytest.mark.proves("CB-04")
def test_a_source_is_shown_with_the_names_of_the_documents(haulwright, declared):
    leave(declared, ask(declared, NAME))

    shown = haulwright("source", "show", NAME, "--json").json

    assert (shown["rate_limit_per_minute"], shown["min_interval_seconds"], shown["enabled"]) == (30, 2, True)
    assert (shown["failure_streak"], shown["last_failure_at"], shown["paused_until"]) == (0, None, None)
    assert shown["last_success_at"].endswith("Z")
    assert shown["last_hour"]["requests"] == 1


def test_a_source_that_failed_too_often_says_so_in_the_list(haulwright, store):
    store.sources.declare(NAME, source_limits())
    fail(store, 5, NAME)

    (listed,) = haulwright("source", "list", "--json").json["sources"]

    assert (listed["gate"], listed["breaker"], listed["failure_streak"]) == ("breaker", "open", 5)
    assert listed["paused_until"] is not None
    header, row = haulwright("source", "list").out.splitlines()
    assert header.split()[:2] == ["source", "gate"]
    assert "breaker for 5 min" in row


@pytest.mark.usefixtures("declared")
def test_a_source_that_takes_requests_is_ok(haulwright):
    """`open` would say the opposite to whoever knows circuit breakers."""
    assert haulwright("source", "list").out.splitlines()[1].split()[:2] == [NAME, "ok"]


@pytest.mark.usefixtures("declared")
def test_a_source_is_paused_with_a_reason_and_resumed(haulwright):
    assert haulwright("source", "pause", NAME, "--for", "1 h", "--reason", "audit", "--json").code == 0

    shown = haulwright("source", "show", NAME, "--json").json
    assert (shown["gate"], shown["reason"], shown["paused_by"].startswith("admin:cli:")) == ("paused", "audit", True)
    assert "source resume" in haulwright("source", "show", NAME).err

    assert haulwright("source", "resume", NAME, "--json").json["changed"] is True
    assert haulwright("source", "resume", NAME, "--json").json["changed"] is False


@pytest.mark.usefixtures("declared")
def test_figures_are_set_over_the_code_and_reset(haulwright):
    changed = haulwright("source", "set", NAME, "--rate", "5/s", "--breaker", "none", "--disable", "--json").json
    assert (changed["rate_limit_per_minute"], changed["breaker_failures"], changed["enabled"]) == (300, None, False)
    assert set(changed["overridden"]) == {"rate_count", "rate_per_us", "burst", "breaker_failures", "enabled"}

    back = haulwright("source", "set", NAME, "--reset", "--json").json
    assert (back["rate_limit_per_minute"], back["enabled"], back["overridden"]) == (30, True, {})


@pytest.mark.usefixtures("declared")
@pytest.mark.parametrize(
    "words", [[], ["--reset", "--disable"], ["--rate", "fast"], ["--burst", "3"], ["--concurrency", "0"]], ids=str
)
def test_what_makes_no_sense_is_refused_and_nothing_changes(haulwright, words):
    before = haulwright("source", "show", NAME, "--json").json

    assert haulwright("source", "set", NAME, *words).code == 2

    assert haulwright("source", "show", NAME, "--json").json == before


def test_an_unknown_source_is_refused_with_the_next_step(haulwright):
    answer = haulwright("source", "show", "nobody")

    assert answer.code == 3
    assert " source list" in answer.err
