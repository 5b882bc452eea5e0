"""The meters of a source: grants stay within the rate whatever happens, and who must wait gets a turn of its own."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from haulwright.clock import SECOND
from haulwright.errors import LeaseLost, NotFound
from haulwright.stores.sources.admission import Admission, Denial, Requester
from tests.stores.gates import KEY, ask, ask_many, declare, leave, outsider, passes, wait_of
from tests.stores.scenes import START, claim_one, lose

STEPS = st.lists(
    st.tuples(st.integers(0, 3_000), st.integers(0, 6), st.integers(0, 6), st.booleans()), min_size=1, max_size=14
)
keys = itertools.count()


@pytest.mark.proves("RL-03", "RL-04")
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, per_minute=st.sampled_from([30, 60, 600]), burst=st.sampled_from([1, 3]))
def test_every_window_holds_at_most_what_the_rate_admits_in_it_and_the_burst(store, clock, steps, per_minute, burst):
    """Whoever asks, in whatever order: no two grants are closer than the meter allows."""
    key = declare(store, f"property-{next(keys)}", rate=f"{per_minute}/min", burst=burst)
    interval_us, granted = 60 * SECOND // per_minute, []
    for wait_ms, fresh, back, pauses in steps:
        now = clock.advance(wait_ms / 1000)
        if pauses:
            store.sources.pause(key, actor="test", reason="", seconds=0.5)
        answers = ask_many(store, fresh, back, key) if fresh + back else []
        passed = [answer for answer in answers if isinstance(answer, Admission)]
        assert all(answer.delay_us <= 2 * SECOND for answer in passed)
        granted += [now + answer.delay_us for answer in passed]

    granted.sort()
    for first, last in itertools.combinations(range(len(granted)), 2):
        assert last - first + 1 <= burst + (granted[last] - granted[first]) / interval_us


@pytest.mark.proves("RL-05")
def test_who_is_refused_gets_a_turn_of_its_own(store):
    declare(store, rate="30/min")

    answers = ask_many(store, 6)

    assert [isinstance(answer, Admission) for answer in answers] == [True, True, False, False, False, False]
    assert [wait_of(answer) for answer in answers[2:]] == [4, 6, 8, 10]
    assert {answer.gate for answer in answers[2:]} == {"rate"}


def test_a_short_wait_is_a_grant_that_begins_later(store):
    declare(store, rate="60/min")

    assert [answer.delay_us / SECOND for answer in ask_many(store, 3)] == [0, 1, 2]
    assert isinstance(ask(store), Denial)


def test_who_comes_back_at_its_turn_gets_in_whoever_else_asks_meanwhile(store, clock):
    """The line is kept: those who come later are told a later turn, and take nobody's place."""
    declare(store, rate="60/min")
    turns = sorted(START + answer.wait_us for answer in ask_many(store, 20) if isinstance(answer, Denial))
    assert len(turns) == 17

    for turn in turns:
        clock.set(turn)
        assert not isinstance(ask_many(store, 2)[0], Admission)
        assert isinstance(ask(store, back=True, patience=2), Admission)


def test_a_worker_that_comes_late_shifts_the_line_and_nobody_loses_a_turn(store, clock):
    declare(store, rate="60/min")
    turns = sorted(START + answer.wait_us for answer in ask_many(store, 10) if isinstance(answer, Denial))

    for turn in turns:
        clock.set(turn + SECOND * 3 // 2)  # always a second and a half late
        assert isinstance(ask(store, back=True, patience=2), Admission)


def test_a_line_in_which_nobody_comes_any_more_is_void(store, clock):
    """A thousand jobs had turns and were cancelled: the next one does not wait behind them."""
    declare(store, rate="60/min")
    ask_many(store, 1000)

    clock.advance(30)

    assert passes(store)


@pytest.mark.proves("RL-01", "RL-02")
def test_a_minimum_interval_lies_between_any_two(store, clock):
    declare(store, f"{KEY}@acme", min_interval="60 s")
    assert passes(store, f"{KEY}@acme")

    clock.advance(59)
    assert wait_of(ask(store, f"{KEY}@acme")) == 1
    clock.advance(1)
    assert isinstance(ask(store, f"{KEY}@acme", back=True), Admission)


def test_a_budget_lasts_for_a_day_of_utc(store, clock):
    declare(store, budget="3/day")
    clock.advance(3600)

    answers = ask_many(store, 5)

    assert sum(isinstance(answer, Admission) for answer in answers) == 3
    assert (answers[-1].gate, wait_of(answers[-1])) == ("budget", 23 * 3600)
    clock.advance(23 * 3600)
    assert passes(store)


@pytest.mark.proves("CB-05")
def test_a_disabled_source_lets_nobody_in(store):
    declare(store, enabled=False)

    assert ask(store).gate == "disabled"


def test_a_paused_source_opens_by_itself_or_by_a_person(store, clock):
    declare(store)
    store.sources.pause(KEY, actor="ops", reason="deploy", seconds=60)
    assert (ask(store).gate, wait_of(ask(store))) == ("paused", 60)

    clock.advance(60)
    assert passes(store)
    store.sources.pause(KEY, actor="ops", reason="for good")
    clock.advance(30 * 86_400)
    assert ask(store).gate == "paused"
    assert store.sources.resume(KEY, actor="ops")
    assert passes(store)
    assert not store.sources.resume(KEY, actor="ops")


@pytest.mark.proves("RL-06")
def test_a_server_that_asks_for_patience_is_left_alone_for_as_long(store, clock):
    declare(store)
    leave(store, ask(store), "ignored", park_seconds=30)

    assert (ask(store).gate, wait_of(ask(store))) == ("parked", 30)
    clock.advance(30)
    assert passes(store)


def test_one_answer_closes_a_source_for_an_hour_at_most(store):
    declare(store)
    leave(store, ask(store), "ignored", park_seconds=86_400)

    assert wait_of(ask(store)) == 3600


def test_what_a_person_set_holds_over_the_code_until_it_is_taken_back(store):
    declare(store, rate="30/min")
    store.sources.override(KEY, {"concurrency": 7}, actor="ops")
    declare(store, rate="60/min", concurrency=1)

    source = store.sources.get(KEY)
    assert (source.figures.concurrency, source.figures.per_minute, source.overridden_by) == (7, 60, "ops")

    store.sources.override(KEY, None, actor="ops")
    assert store.sources.get(KEY).figures.concurrency == 1
    assert store.sources.standing(KEY).concurrency == 1


def test_a_declaration_that_says_nothing_new_changes_nothing(store):
    assert store.sources.declare(KEY, store_figures := _figures(), None)

    assert not store.sources.declare(KEY, store_figures, None)


def test_an_unknown_source_is_not_governed_and_cannot_be_paused(store):
    assert store.gates.ask("nobody", Requester(outsider()), lease_seconds=60) is None
    with pytest.raises(NotFound):
        store.sources.pause("nobody", actor="ops", reason="")


def test_a_run_that_lost_its_lease_gets_no_answer(store, worker, make_job, clock):
    declare(store, rate="60/min", concurrency=1)
    make_job()
    lease = claim_one(store, worker)
    assert isinstance(store.gates.ask(KEY, Requester(lease.key)), Admission)

    lose(store, clock)

    with pytest.raises(LeaseLost):
        store.gates.ask(KEY, Requester(lease.key))
    assert store.sources.standing(KEY).held == 0


def _figures():
    from haulwright.engine.source import source_limits  # noqa: PLC0415 - used once

    return source_limits(rate="30/min")
