"""Permits of a source: never more requests under way than it allows, and each comes back with the lease of its job."""

from __future__ import annotations

import pytest

from haulwright.clock import SECOND
from haulwright.engine.outcome import Done, RetryLater
from haulwright.errors import LeaseLost
from haulwright.stores.sources.admission import Admission, Release, Requester
from tests.stores.gates import KEY, ask, claimed, declare, leave, passes
from tests.stores.scenes import BOOM, claim, claim_one, count, lose, race, rows, settle


def test_no_more_are_out_than_it_allows(store):
    declare(store, concurrency=2)
    first, second = ask(store), ask(store)

    assert ask(store).gate == "permits"
    leave(store, first)
    assert passes(store)
    leave(store, second)
    assert count(store, "haulwright_source_permits") == 1


def test_of_many_that_ask_at_once_as_many_get_one_as_there_are(open_store, store):
    declare(store, concurrency=3)
    stores = [open_store() for _ in range(8)]

    answers = race(*(lambda one=one: ask(one) for one in stores))

    assert sum(isinstance(answer, Admission) for answer in answers) == 3
    assert count(store, "haulwright_source_permits") == store.sources.standing(KEY).held == 3


def test_permits_that_come_and_go_at_once_are_counted_right(open_store, store):
    declare(store, concurrency=3)
    stores = [open_store() for _ in range(6)]

    def come_and_go(one):
        most = 0
        for _ in range(10):
            answer = ask(one)
            if isinstance(answer, Admission):
                most = max(most, count(one, "haulwright_source_permits"))
                leave(one, answer)
        return most

    assert max(race(*(lambda one=one: come_and_go(one) for one in stores))) <= 3
    assert (count(store, "haulwright_source_permits"), store.sources.standing(KEY).held) == (0, 0)


def test_a_permit_outside_any_job_is_retaken_after_its_time(store, clock):
    declare(store, concurrency=1)
    assert passes(store)

    clock.advance(59)
    assert not passes(store)
    clock.advance(1)
    assert passes(store)
    assert count(store, "haulwright_source_permits") == 1


def test_a_permit_of_a_job_lasts_as_long_as_its_run(store, worker, make_job, clock):
    declare(store, concurrency=1)
    make_job()
    lease = claim_one(store, worker)
    assert isinstance(store.gates.ask(KEY, Requester(lease.key)), Admission)

    clock.advance(119)
    assert not passes(store)
    lose(store, clock, 2)

    assert passes(store)


def test_a_permit_whose_job_ended_without_a_word_is_no_permit(store, worker, make_job):
    """The run took it under a task that declares no source, and died in its child: the next one who asks frees it."""
    declare(store, concurrency=1)
    make_job()
    lease = claim_one(store, worker)
    store.gates.ask(KEY, Requester(lease.key))

    assert settle(store, lease, Done())

    assert passes(store)
    assert store.sources.standing(KEY).held == 1


def test_a_run_that_loses_its_lease_while_it_looks_for_a_permit_is_told(store, worker, make_job, clock, monkeypatch):
    """A permit whose holder is gone is looked for in a second transaction; the lease may end before it."""
    declare(store, concurrency=1)
    make_job(), make_job()
    gone, asking = claim(store, worker, 2)
    store.gates.ask(KEY, Requester(gone.key))
    settle(store, gone, Done())
    transact = store.database.transact

    def lose_before(work, **options):
        monkeypatch.undo()
        lose(store, clock)
        return transact(work, **options)

    monkeypatch.setattr(store.database, "transact", lose_before)
    with pytest.raises(LeaseLost):
        store.gates.ask(KEY, Requester(asking.key))


def test_what_a_job_got_with_its_claim_goes_back_when_it_ends(store, worker, make_job):
    declare(store, concurrency=1)
    make_job(source=KEY)
    lease = claim_one(store, worker)
    assert store.sources.standing(KEY).held == 1

    settle(store, lease, Done())

    assert (count(store, "haulwright_source_permits"), store.sources.standing(KEY).held) == (0, 0)


def test_a_freed_permit_wakes_the_oldest_who_waits_for_one(store, worker, make_job, clock):
    declare(store, concurrency=1)
    first, second, third = (make_job(source=KEY) for _ in range(3))
    (lease,) = claim(store, worker, 3)
    waiting = {job.id: store.listing.get(job.id, None) for job in (first, second, third)}
    assert {row.waiting_on for row in waiting.values()} == {None, f"source:{KEY}:permits"}

    settle(store, lease, RetryLater(BOOM))

    due = {job.id for job in (second, third) if store.listing.get(job.id, None).run_at <= clock.now()}
    assert due == {second.id}


def test_the_claim_of_a_job_that_found_no_permit_costs_it_nothing(store, worker, make_job):
    declare(store, concurrency=2)
    jobs = [make_job(source=KEY) for _ in range(5)]

    taken = claim(store, worker, 5)

    assert len(taken) == 2
    left = [store.listing.get(job.id, None) for job in jobs if job.id not in {lease.id for lease in taken}]
    assert [(row.attempts, row.deferrals, row.state) for row in left] == [(0, 1, "queued")] * 3


def test_a_run_in_another_process_than_its_claim_uses_what_the_claim_got(open_store, store, worker, make_job):
    """To ask anew would need a second place in the rate, which a slow one never has."""
    declare(store, rate="1/h", concurrency=1)
    make_job(source=KEY)
    lease = claim_one(store, worker)
    child = open_store()

    passed = claimed(child, lease)
    child.gates.leave(passed, Release("ok"))

    assert (store.sources.standing(KEY).tickets, store.sources.standing(KEY).held) == (1, 0)
    assert claimed(child, lease) is None


def test_what_a_claim_got_for_later_begins_no_sooner_in_another_process(open_store, store, worker, make_job):
    declare(store, rate="60/min")
    jobs = [make_job(source=KEY) for _ in range(2)]
    leases = {lease.id: lease for lease in claim(store, worker, 2)}

    passed = claimed(open_store(), leases[jobs[1].id])

    assert passed.delay_us == claimed(store, leases[jobs[1].id]).delay_us == SECOND


def test_a_permit_that_is_gone_is_not_used_by_another_process(open_store, store, worker, make_job):
    declare(store, concurrency=1)
    make_job(source=KEY)
    lease = claim_one(store, worker)
    store.database.transact(lambda connection: store.gates.give_back(connection, [lease.key]))

    assert claimed(open_store(), lease) is None


def test_traffic_is_counted_by_the_minute(store, clock):
    declare(store)
    passed = ask(store)
    store.gates.leave(passed, Release("ok", sent=10, received=2000, seconds=0.5))
    clock.advance(60)
    store.gates.leave(ask(store), Release("failed", received=7))
    store.gates.leave(ask(store), Release("ignored", counts=False))

    traffic = store.sources.traffic(60)[KEY]

    assert (traffic.requests, traffic.failed, traffic.sent_bytes, traffic.received_bytes) == (2, 1, 10, 2007)
    assert store.sources.traffic(1)[KEY].requests == 1
    clock.advance(7200)
    store.sources.prune_traffic(3600, 100)
    assert rows(store, "select * from haulwright_traffic") == []
