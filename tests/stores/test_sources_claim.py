"""Sources at the claim: the gate is asked once for a batch, before any code runs, and a waiting job has its turn."""

from __future__ import annotations

import pytest

from haulwright.clock import SECOND
from haulwright.engine.ids import new_id
from haulwright.engine.outcome import Done
from haulwright.stores.sources.admission import Admission
from tests.stores.gates import KEY, ask, claimed, declare, leave
from tests.stores.scenes import DAY, START, claim, count, new_job, settle


@pytest.mark.proves("RL-04", "CB-03")
def test_as_many_jobs_are_claimed_as_the_rate_admits_and_the_others_have_turns(store, worker, make_job, clock):
    declare(store, rate="60/min")
    jobs = [make_job(source=KEY) for _ in range(6)]

    taken = claim(store, worker, 6)

    waiting = [store.listing.get(job.id, None) for job in jobs[3:]]
    assert [lease.id for lease in taken] == [job.id for job in jobs[:3]]
    assert [row.run_at - clock.now() for row in waiting] == [3 * SECOND, 4 * SECOND, 5 * SECOND]
    assert {(row.waiting_on, row.attempts, row.deferrals) for row in waiting} == {(f"source:{KEY}:rate", 0, 1)}


def test_a_claim_is_filled_from_behind_jobs_that_must_wait(store, worker, make_job):
    declare(store, rate="1/h")
    for _ in range(5):
        make_job(source=KEY)
    free = make_job()

    taken = claim(store, worker, 2)

    assert len(taken) == 2
    assert free.id in {lease.id for lease in taken}


def test_a_job_behind_a_long_line_is_claimed_once_before_its_turn_and_once_at_it(store, worker, clock):
    """Two hundred jobs behind ten in a second, with newcomers all the while."""
    declare(store, rate="600/min")
    jobs = [new_job(source=KEY) for _ in range(200)]
    store.jobs.enqueue(jobs)
    fences, late = [], []
    for _ in range(500):
        for lease in claim(store, worker, 8):
            fences.append(lease.fence)
            settle(store, lease, Done())
        if len(late) < 40:
            late.append(new_job(source=KEY))
            store.jobs.enqueue(late[-1:])
        if len(fences) == 240:
            break
        clock.advance(0.1)

    assert len(fences) == 240
    assert max(fences) <= 2


def test_the_first_request_uses_what_the_claim_got_and_is_not_counted_twice(store, worker, make_job):
    declare(store, rate="1/h")
    make_job(source=KEY)
    (lease,) = claim(store, worker)

    passed = claimed(store, lease)

    assert isinstance(passed, Admission)
    assert claimed(store, lease) is None
    assert store.sources.standing(KEY).tickets == 1


def test_one_429_parks_every_job_of_the_source(store, worker, clock):
    """None of five hundred is claimed to run for thirty seconds, and none has an attempt more."""
    declare(store)
    jobs = [new_job(source=KEY) for _ in range(500)]
    store.jobs.enqueue(jobs)
    leave(store, ask(store), "ignored", park_seconds=30)

    for _ in range(29):
        assert claim(store, worker, 100) == []
        clock.advance(1)
    clock.advance(1)

    taken = [lease for _ in range(6) for lease in claim(store, worker, 100)]
    assert len(taken) == 500
    assert {lease.attempts for lease in taken} == {1}
    assert max(lease.fence for lease in taken) <= 2


def test_jobs_behind_a_refused_one_get_their_turns_without_a_claim(store, worker, make_job, clock):
    declare(store, rate="60/min")
    jobs = [make_job(source=KEY) for _ in range(10)]
    stranger = make_job(tenant="other", source=KEY)

    claim(store, worker, 4)

    rows = [store.listing.get(job.id, None) for job in (stranger, *jobs)]
    assert [(row.run_at - clock.now()) // SECOND for row in rows if row.waiting_on] == list(range(3, 11))
    assert [row.fence for row in rows] == [1, 1, 1, 1, 1, *[0] * 6]


def test_a_resumed_source_wakes_all_who_wait_and_gives_them_their_deadlines_back(store, worker, make_job, clock):
    declare(store)
    store.sources.pause(KEY, actor="ops", reason="audit")
    job = make_job(source=KEY, deadline_us=DAY)
    claim(store, worker)
    clock.advance(2 * 86_400)
    assert store.recovery.expire() == []

    store.sources.resume(KEY, actor="ops")

    row = store.listing.get(job.id, None)
    assert (row.run_at, row.deadline_at) == (clock.now(), START + 3 * DAY)
    assert len(claim(store, worker)) == 1


def test_of_jobs_that_came_at_the_same_moment_the_first_gets_through(store, worker, make_job):
    declare(store, rate="1/h")
    jobs = [make_job(source=KEY) for _ in range(50)]

    (taken,) = claim(store, worker, 50)

    assert taken.id == jobs[0].id
    waiting = [store.listing.get(job.id, None).run_at for job in jobs[1:]]
    assert waiting == sorted(waiting)


def test_a_faster_rate_brings_turns_forward(store, worker, make_job, clock):
    declare(store, rate="1/h")
    jobs = [make_job(source=KEY) for _ in range(4)]
    claim(store, worker, 4)

    declare(store, rate="60/min")

    waits = [(store.listing.get(job.id, None).run_at - clock.now()) // SECOND for job in jobs[1:]]
    assert waits == [0, 1, 2]


def test_more_who_wait_than_one_step_takes_are_all_moved(store, worker):
    declare(store)
    store.sources.pause(KEY, actor="ops", reason="")
    many = store.database.batch_size + 50
    store.jobs.enqueue([new_job(source=KEY) for _ in range(many)])
    while claim(store, worker, 500) or count_waiting(store) < many:
        pass

    store.sources.resume(KEY, actor="ops")

    assert len(claim_all(store, many)) == many


def test_jobs_without_a_source_ask_nothing(store, worker, make_job):
    declare(store, enabled=False)
    make_job()

    assert len(claim(store, worker)) == 1
    assert count(store, "haulwright_source_permits") == 0


def count_waiting(store):
    return store.database.read(
        lambda c: c.execute("select count(*) from haulwright_jobs where waiting_on is not null")
    )[0][0]


def claim_all(store, many):
    worker, taken = new_id(), []
    while len(taken) < many and (batch := claim(store, worker, 500)):
        taken += batch
    return taken
