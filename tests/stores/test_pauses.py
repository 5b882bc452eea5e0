"""A pause by a person costs no job its time, and its end costs nobody else theirs."""

from __future__ import annotations

import pytest

from haulwright.engine.job import NewJob
from haulwright.stores.books import book
from tests.stores.gates import KEY, declare
from tests.stores.scenes import DAY, HOUR, START, claim_one, count, new_job, rows

MANY = 20_000


def pause_for(store, clock, seconds: float, queue: str = "default") -> None:
    store.queues.pause(queue, actor="alice", reason="maintenance")
    clock.advance(seconds)
    store.queues.resume(queue, actor="alice")


def deadline_of(store, job: NewJob) -> int:
    return store.listing.get(job.id).deadline_at


def test_a_resume_writes_one_row_however_many_jobs_wait(store, clock):
    jobs = [new_job(deadline_us=HOUR) for _ in range(MANY)]
    store.jobs.enqueue(jobs)
    written = "select count(*), min(deadline_at), max(deadline_at), count(pauses_until) from haulwright_jobs"

    pause_for(store, clock, 7200)

    assert rows(store, written) == [(MANY, START + HOUR, START + HOUR, 0)]
    assert count(store, "haulwright_pauses") == 1
    assert deadline_of(store, jobs[0]) == deadline_of(store, jobs[-1]) == START + 3 * HOUR


def test_the_sweep_gives_back_what_a_pause_took_before_it_buries_anybody(store, clock):
    """Those that the pause kept waiting come first in the sweep, and it goes on behind them."""
    waiting = [new_job(deadline_us=HOUR) for _ in range(250)]
    overdue = new_job(queue="other", deadline_us=HOUR + 1)
    store.jobs.enqueue([*waiting, overdue])
    pause_for(store, clock, 7200)

    assert store.recovery.expire(limit=100) == [overdue.id]
    assert store.recovery.expire(limit=100) == []
    assert count(store, "haulwright_jobs") == 250


def test_what_a_pause_took_is_given_back_once(store, clock, make_job):
    job = make_job(deadline_us=HOUR)
    pause_for(store, clock, 7200)
    assert store.recovery.expire() == []
    assert deadline_of(store, job) == START + 3 * HOUR

    clock.advance(3599)
    assert store.recovery.expire() == []
    clock.advance(1)
    assert store.recovery.expire() == [job.id]
    assert deadline_of(store, job) == START + 3 * HOUR


def test_several_pauses_add_up_for_who_was_there(store, clock, make_job):
    early = make_job(deadline_us=DAY)
    pause_for(store, clock, 3600)
    late = make_job(deadline_us=DAY)
    pause_for(store, clock, 7200)
    pause_for(store, clock, 60, queue="other")

    assert deadline_of(store, early) == START + DAY + 3 * HOUR
    assert deadline_of(store, late) == START + HOUR + DAY + 2 * HOUR


def test_a_pause_after_the_sweep_has_given_back_another_counts_as_well(store, clock, make_job):
    job = make_job(deadline_us=HOUR)
    pause_for(store, clock, 7200)
    store.recovery.expire()
    pause_for(store, clock, 7200)

    assert store.recovery.expire() == []
    assert deadline_of(store, job) == START + 5 * HOUR
    clock.advance(3600)
    assert store.recovery.expire() == [job.id]


def test_a_clock_that_goes_back_behind_a_resume_gives_it_once(store, clock, make_job):
    job = make_job(deadline_us=HOUR)
    pause_for(store, clock, 7200)
    clock.advance(-1800)

    assert store.recovery.expire() == []
    assert deadline_of(store, job) == START + 3 * HOUR


def test_a_job_that_ran_through_a_pause_and_failed_has_its_time_too(store, clock, worker, make_job):
    job = make_job(deadline_us=HOUR)
    lease = claim_one(store, worker)
    pause_for(store, clock, 60)

    assert lease.deadline_at == START + HOUR
    assert deadline_of(store, job) == START + HOUR + 60 * 1_000_000


def test_a_source_that_a_person_paused_costs_its_jobs_no_time(store, clock, make_job):
    """Also those that nobody claimed meanwhile, which no gate knows of."""
    declare(store)
    job, other = make_job(source=KEY, deadline_us=HOUR), make_job(deadline_us=HOUR)
    store.sources.pause(KEY, actor="alice", reason="audit")
    clock.advance(7200)
    assert store.recovery.expire() == [other.id]

    store.sources.resume(KEY, actor="alice")

    assert store.recovery.expire() == []
    assert deadline_of(store, job) == START + 3 * HOUR


def test_a_resume_of_a_source_that_breaks_off_leaves_nobody_dead(store, clock, monkeypatch, make_job):
    declare(store)
    make_job(source=KEY, deadline_us=HOUR)
    store.sources.pause(KEY, actor="alice", reason="audit")
    clock.advance(7200)
    monkeypatch.setattr(store.sources._waiters, "reschedule_waiters", lambda *_: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        store.sources.resume(KEY, actor="alice")

    assert store.recovery.expire() == []


def test_a_pause_of_a_source_that_ended_by_itself_costs_no_time_either(store, clock, make_job):
    declare(store)
    job = make_job(source=KEY, deadline_us=HOUR)
    store.sources.pause(KEY, actor="alice", reason="audit", seconds=7200)
    clock.advance(7200 + 60)
    assert store.recovery.expire() == []

    store.sources.pause(KEY, actor="alice", reason="again", seconds=7200)
    clock.advance(7200 + 60)

    assert store.recovery.expire() == []
    assert deadline_of(store, job) == START + 5 * HOUR
    clock.advance(3600 - 120)
    assert store.recovery.expire() == [job.id]


def test_pauses_are_kept_while_a_job_is_there_that_they_kept_waiting(store, clock, make_job):
    job = make_job(deadline_us=365 * DAY)
    pause_for(store, clock, 3600)
    clock.advance(30 * 86400)
    assert store.pauses.prune() == 0

    store.jobs.cancel(job.id, tenant=None, reason="no more", actor="alice")
    make_job()

    assert store.pauses.prune() == 1
    assert count(store, "haulwright_pauses") == 0


def test_the_waiters_of_a_source_are_moved_without_sorting_all_of_them(store):
    if store.database.dialect != "sqlite":
        pytest.skip("the plan of PostgreSQL depends on its statistics")
    (statement,) = book("haulwright.stores", "sqlite", "sources")["respread"]
    names = ("opens_at", "offset", "burst", "interval_us", "key", "paused_us", "after", "limit", "now")
    params = {**dict.fromkeys(names, 1), "gates": "[]"}

    plan = store.database.read(lambda c: c.execute(f"explain query plan {statement}", params))

    searches = [row[3] for row in plan if "haulwright_jobs_waiting" in row[3]]
    assert len(searches) == 7
    assert all(line.endswith("(waiting_on=? AND id>?)") for line in searches)
