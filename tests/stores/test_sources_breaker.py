"""The breaker of a source: it opens after failures in a row, and exactly one probe in the whole fleet closes it."""

from __future__ import annotations

import pytest

from haulwright import events
from haulwright.clock import SECOND
from haulwright.engine.source import PROBE_SECONDS, source_limits
from haulwright.stores.sources.admission import Admission, Denial, Release, Requester
from tests.stores.gates import KEY, ask, ask_many, claimed, declare, fail, leave, outsider, passes, wait_of
from tests.stores.scenes import claim, claim_one, lose, race


@pytest.mark.proves("CB-01", "CB-02", "CB-04")
def test_the_fifth_failure_in_a_row_opens_it_for_five_minutes(store, clock):
    declare(store)
    fail(store, 4)
    assert passes(store)

    fail(store, 1)

    answer = ask(store)
    source = store.sources.get(KEY)
    assert (answer.gate, wait_of(answer)) == ("breaker", 300)
    assert (source.failure_streak, source.last_failure_at, source.last_success_at) == (5, clock.now(), None)


@pytest.mark.parametrize("outcome", ["ok", "ignored", "answered", "auth"])
def test_what_does_not_speak_against_the_server_never_opens_it(store, outcome):
    """A success begins the count anew; a 404 of one item, or a page that cannot be parsed, is none of its business."""
    declare(store)
    for _ in range(3):
        fail(store, 4)
        leave(store, ask(store), outcome)
        if outcome != "ok":
            break

    assert passes(store)
    assert store.sources.get(KEY).failure_streak == (0 if outcome == "ok" else 4)


def test_after_the_cool_down_one_probe_passes_and_everybody_else_waits(store, clock):
    declare(store)
    fail(store, 5)
    clock.advance(300)

    first, *others = ask_many(store, 5)

    assert isinstance(first, Admission)
    assert {(other.gate, wait_of(other)) for other in others} == {("breaker", PROBE_SECONDS)}
    assert not passes(store)


def test_of_many_that_ask_at_once_one_is_the_probe(open_store, store, clock):
    declare(store)
    fail(store, 5)
    clock.advance(300)
    stores = [open_store() for _ in range(8)]

    answers = race(*(lambda one=one: ask(one) for one in stores))

    assert sorted(type(answer).__name__ for answer in answers) == ["Admission"] + ["Denial"] * 7


@pytest.mark.parametrize("outcome", ["ok", "answered", "auth"])
def test_a_probe_that_is_answered_closes_it(store, clock, outcome):
    declare(store)
    fail(store, 5)
    clock.advance(300)

    leave(store, ask(store), outcome)

    assert all(isinstance(answer, Admission) for answer in ask_many(store, 10))
    names = [event.name for event in store.events.latest(limit=50)]
    assert names == [events.SOURCE_DECLARED, events.SOURCE_BREAKER_OPENED, events.SOURCE_BREAKER_CLOSED]


def test_each_failed_probe_doubles_the_cool_down_up_to_an_hour_and_a_success_forgets_it(store, clock):
    declare(store, breaker="1 failure / 5 min")
    fail(store, 1)
    waits = []
    for _ in range(6):
        waits.append(wait_of(ask(store)))
        clock.advance(waits[-1])
        fail(store, 1)

    assert waits == [300, 600, 1200, 2400, 3600, 3600]
    clock.advance(3600)
    leave(store, ask(store))
    fail(store, 1)
    assert wait_of(ask(store)) == 300


def test_a_straggler_neither_closes_nor_prolongs_an_open_breaker(store, clock):
    declare(store)
    stragglers = [ask(store), ask(store)]
    fail(store, 5)

    leave(store, stragglers[0], "ok")
    clock.advance(100)
    leave(store, stragglers[1], "failed")

    assert wait_of(ask(store)) == 200


def test_who_leaves_a_failed_probe_hears_how_long_the_source_is_closed_again(store, clock):
    declare(store)
    assert store.gates.leave(ask(store), Release("failed")) is None
    fail(store, 4)
    clock.advance(300)

    assert store.gates.leave(ask(store), Release("failed")) == Denial(KEY, "breaker", 600 * SECOND)


def test_a_claimed_job_knows_that_it_is_the_probe_in_any_process(open_store, store, worker, make_job, clock):
    declare(store)
    fail(store, 5)
    clock.advance(300)
    make_job(source=KEY)
    lease = claim_one(store, worker)

    here, elsewhere = (claimed(one, lease) for one in (store, open_store()))

    assert here.is_probe
    assert elsewhere.is_probe


def test_a_probe_that_never_comes_back_is_followed_by_another(store, clock):
    declare(store)
    fail(store, 5)
    clock.advance(300)
    assert passes(store)

    clock.advance(PROBE_SECONDS)

    assert passes(store)
    assert not passes(store)


def test_the_probe_of_a_worker_that_died_comes_back_with_its_lease(store, worker, make_job, clock):
    declare(store)
    fail(store, 5)
    clock.advance(300)
    make_job(source=KEY, lease_us=5 * SECOND)
    claim_one(store, worker)
    assert not passes(store)

    lose(store, clock, 6)

    assert passes(store)


@pytest.mark.proves("CB-03")
def test_an_open_breaker_burns_no_attempt_and_its_jobs_are_spread_behind_it(store, worker, make_job, clock):
    declare(store, rate="60/min", breaker="1 failure / 5 min")
    fail(store, 1)
    jobs = [make_job(source=KEY) for _ in range(3)]

    assert claim(store, worker, 10) == []

    rows = [store.listing.get(job.id, None) for job in jobs]
    assert [row.waiting_on for row in rows] == [f"source:{KEY}:breaker"] * 3
    assert [(row.attempts, row.deferrals) for row in rows] == [(0, 1)] * 3
    assert [(row.run_at - clock.now()) // SECOND for row in rows] == [300, 301, 302]


def test_a_closed_breaker_wakes_who_waits_one_turn_after_the_other(store, worker, make_job, clock):
    declare(store, rate="60/min", breaker="1 failure / 5 min")
    fail(store, 1)
    jobs = [make_job(source=KEY) for _ in range(3)]
    claim(store, worker, 10)
    clock.advance(300)

    leave(store, ask(store, back=True), "ok")

    rows = [store.listing.get(job.id, None) for job in jobs]
    assert [(row.run_at - clock.now()) // SECOND for row in rows] == [0, 1, 2]


def test_a_failed_probe_moves_who_waits_behind_the_next_one_without_a_claim(store, worker, make_job, clock):
    declare(store)
    fail(store, 5)
    job = make_job(source=KEY)
    claim(store, worker, 10)
    clock.advance(300)

    leave(store, ask(store), "failed")

    row = store.listing.get(job.id, None)
    assert ((row.run_at - clock.now()) // SECOND, row.fence, row.deferrals) == (600, 1, 1)


def test_a_refused_credential_closes_its_account_at_once_and_for_nobody_else(store, clock):
    for account in ("acme", "other"):
        store.sources.declare(f"{KEY}@{account}", source_limits(), f"fingerprint-{account}")
    leave(store, ask(store, f"{KEY}@acme"), "auth")

    clock.advance(7 * 86_400)

    assert ask(store, f"{KEY}@acme").gate == "credential"
    assert passes(store, f"{KEY}@other")


def test_a_changed_credential_or_a_person_opens_it_again(store):
    store.sources.declare(KEY, source_limits(), "old")
    leave(store, ask(store), "auth")
    store.sources.declare(KEY, source_limits(), "old")
    assert not passes(store)

    store.sources.declare(KEY, source_limits(), "new")
    assert passes(store)
    leave(store, ask(store), "auth")
    assert store.sources.resume(KEY, actor="ops")
    assert passes(store)


def test_the_right_of_a_probe_is_its_own(store, clock):
    """Another request of the same job may be the probe's next step; one of another job may not."""
    declare(store)
    fail(store, 5)
    clock.advance(300)
    probe = Requester(outsider())

    assert isinstance(store.gates.ask(KEY, probe, lease_seconds=60), Admission)
    assert isinstance(store.gates.ask(KEY, probe, lease_seconds=60), Admission)
    assert isinstance(store.gates.ask(KEY, Requester(probe.holder._replace(fence=1)), lease_seconds=60), Denial)
