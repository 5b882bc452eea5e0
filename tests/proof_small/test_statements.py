"""Each guarded statement refuses by itself: no guard leans on another that stands before it."""

from __future__ import annotations

import pytest

from haulwright.clock import SECOND
from haulwright.engine.lease import RunAgain, after_loss
from haulwright.engine.outcome import Bury, Done, RetryLater
from haulwright.engine.schedule import Disposition, Opening, ScheduleSpec, plan
from haulwright.engine.settlement import RELEASE, Settlement
from haulwright.engine.transitions import State
from haulwright.errors import NotFound
from haulwright.stores.books import book
from haulwright.stores.commit_groups import CommitRequest
from haulwright.stores.job_rows import fenced
from tests.stores.scenes import (
    BOOM,
    MINUTE,
    START,
    bury,
    claim_one,
    fail,
    ids,
    lose,
    names,
    new_job,
    settle,
    settlement,
)

VERBS = {
    "renew": lambda store, lease: lease.id not in store.leases.renew([lease]).lost,
    "set_lengths": lambda store, lease: bool(store.leases.set_lengths([lease])),
    "progress": lambda store, lease: store.leases.progress(lease, "{}"),
    "hold": lambda store, lease: store.database.transact(lambda c: store.leases.hold(c, lease)),
    "commit together": lambda store, lease: bool(
        store.commits.commit_together([CommitRequest(lease, "key", "save", lambda _: "1", None, "")])
    ),
    "settle": lambda store, lease: settle(store, lease, Done()),
    "release": lambda store, lease: bool(store.settlements.settle([Settlement(lease, RELEASE)])),
}


def run(store, entry, **params):
    """Run one statement of a book, as it stands, in a transaction of its own."""
    noun, _, name = entry.partition(".")
    statement = book("haulwright.stores", store.database.dialect, noun)[name]
    return store.database.transact(lambda connection: connection.run(statement, {"now": START, **params}))


def give_waiting_jobs_to(store, worker):
    """Give jobs that wait a holder, which the tables forbid: a statement must say by itself what it is for."""
    checks = (
        "select conname from pg_constraint where conrelid = 'haulwright_jobs'::regclass"
        " and pg_get_constraintdef(oid) like '%worker_id IS NOT NULL%'"
    )

    def change(connection):
        if store.database.dialect == "sqlite":
            connection.execute("pragma ignore_check_constraints = on")
        else:
            for (name,) in connection.execute(checks):
                connection.execute(f"alter table haulwright_jobs drop constraint {name}")
        connection.execute(f"update haulwright_jobs set worker_id = '{worker}'")  # noqa: S608 - our own

    store.database.transact(change)


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_for_a_running_job_is_refused_for_one_that_waits_under_the_same_fence(store, worker, a_job, verb):
    lease = claim_one(store, worker)
    fail(store, lease)
    give_waiting_jobs_to(store, worker)
    before = store.listing.get(a_job.id)

    assert not VERBS[verb](store, lease)

    assert store.listing.get(a_job.id) == before
    assert before.state is State.QUEUED


def test_a_stale_failure_does_not_cancel_the_successor_that_was_asked_to_cancel(store, clock, worker, a_job):
    stale = claim_one(store, worker)
    lose(store, clock)
    claim_one(store, worker)
    store.jobs.cancel(a_job.id, tenant=None, reason="enough", actor="a person")

    assert store.settlements.settle([settlement(stale, RetryLater(BOOM))]) == frozenset()

    assert store.listing.get(a_job.id).state is State.RUNNING


def test_a_permit_is_freed_under_its_own_fence_alone(store, clock, worker, make_job):
    job = make_job(concurrency_key="k", concurrency_limit=1)
    stale = claim_one(store, worker)
    lose(store, clock)
    current = claim_one(store, worker)
    freed = book("haulwright.stores", store.database.dialect, "jobs")["free_permits"]

    def free(lease):
        columns = {"id": [job.id], "fence": [lease.fence], "worker_id": [lease.worker_id]}
        return store.database.transact(lambda connection: connection.run_batch(freed, columns, {}))

    assert free(stale) == []
    assert free(current) == [("k",)]


def test_a_number_of_a_permit_has_one_holder(store, worker, make_job):
    make_job(concurrency_key="k", concurrency_limit=1)
    other = make_job()
    claim_one(store, worker)
    mark = "?" if store.database.dialect == "sqlite" else "%s"
    sql = f"insert into haulwright_permits values ('k', 1, {mark}, 1, {mark}, 0)"  # noqa: S608 - a mark, not a value

    with pytest.raises(Exception, match=r"(?i)unique"):
        store.database.transact(lambda connection: connection.execute(sql, (other.id, other.id)))


@pytest.fixture
def effect(store, clock, worker, make_job):
    """An effect in the hands of the second run of its job."""
    make_job()
    store.effects.begin(claim_one(store, worker), "k", "charge")
    lose(store, clock)
    second = claim_one(store, worker)
    store.effects.begin(second, "k", "charge")
    return {"tenant": second.tenant, "key": "k", "fence": second.fence, "job_id": second.id, "worker_id": worker}


def test_an_effect_is_settled_under_the_fence_that_began_it_and_once(store, effect):
    done = {"result": "1", "stored": "inline"}

    assert run(store, "effects.settle", **effect | done | {"fence": 1}) == []
    assert run(store, "effects.settle", **effect | done) == [("k",)]
    assert run(store, "effects.settle", **effect | done) == []


def test_an_effect_is_settled_by_the_worker_that_began_it(store, other_worker, effect):
    done = {"result": "1", "stored": "inline"}

    assert run(store, "effects.settle", **effect | done | {"worker_id": other_worker}) == []
    assert run(store, "effects.settle", **effect | done) == [("k",)]


def test_a_permit_is_freed_by_its_own_worker_alone(store, worker, other_worker, make_job):
    make_job(concurrency_key="k", concurrency_limit=1)
    lease = claim_one(store, worker)
    freed = book("haulwright.stores", store.database.dialect, "jobs")["free_permits"]

    def free(worker_id):
        columns = fenced([lease.key._replace(worker_id=worker_id)])
        return store.database.transact(lambda connection: connection.run_batch(freed, columns, {}))

    assert free(other_worker) == []
    assert free(worker) == [("k",)]


def test_a_cancel_is_heard_by_its_own_worker_alone(store, worker, other_worker, a_job):
    lease = claim_one(store, worker)
    store.jobs.cancel(a_job.id, tenant=None, reason="enough", actor="a person")
    asked = book("haulwright.stores", store.database.dialect, "jobs")["asked_to_cancel"]

    def look(worker_id):
        columns = fenced([lease.key._replace(worker_id=worker_id)])
        return store.database.transact(lambda connection: connection.run_batch(asked, columns, {}))

    assert look(other_worker) == []
    assert look(worker) == [(a_job.id, 1, worker, "enough")]


@pytest.mark.usefixtures("a_job")
def test_after_a_lost_reply_the_worker_tells_whose_settlement_it_was(store, worker, other_worker):
    lease = claim_one(store, worker)
    assert settle(store, lease)

    assert store.settlements.ended_by(lease)
    assert not store.settlements.ended_by(lease._replace(worker_id=other_worker))


def test_an_effect_is_taken_over_by_a_newer_run_alone_and_only_while_it_is_in_doubt(store, effect):
    assert run(store, "effects.begin_again", **effect | {"fence": 1}) == []
    assert run(store, "effects.begin_again", **effect | {"fence": 3}) == [("k",)]
    assert run(store, "effects.settle", **effect | {"fence": 3, "result": "1", "stored": "inline"})
    assert run(store, "effects.begin_again", **effect | {"fence": 4}) == []


def test_a_requeue_is_marked_once(store, worker):
    dead, heir = bury(store, worker), new_job().id

    assert run(store, "jobs.mark_requeued", id=dead, successor=heir) == [(dead,)]
    assert run(store, "jobs.mark_requeued", id=dead, successor=heir) == []


def test_a_schedule_moves_on_only_from_where_it_stood(store):
    store.schedules.declare(ScheduleSpec.declare("s", "*/5 * * * *", "work"), new_job(id=""))
    moved = {"name": "s", "until": START + 1, "next_at": START + 2}

    assert run(store, "schedules.advance", **moved | {"from": START - 1}) == []
    assert run(store, "schedules.advance", **moved | {"from": START}) == [("s",)]


@pytest.mark.postgres
def test_a_sweep_does_not_touch_what_another_sweep_holds(store, open_store, clock, worker, a_job):
    if store.database.dialect == "sqlite":
        pytest.skip("SQLite has one writer, so there are never two sweeps at once")
    claim_one(store, worker)
    clock.advance(121)
    stale = book("haulwright.stores", "postgres", "jobs")["stale"]

    def hold_and_sweep(connection):
        held = connection.run(stale, {"now": clock.now(), "limit": 10})
        return [row[0] for row in held], ids(open_store().recovery.reap())

    assert store.database.transact(hold_and_sweep) == ([a_job.id], [])


def test_a_foreign_tenant_cannot_cancel_a_job(store, a_job):
    with pytest.raises(NotFound):
        store.jobs.cancel(a_job.id, tenant="other", reason="mine now", actor="a stranger")

    assert store.listing.get(a_job.id).state is State.QUEUED
    assert names(store, a_job.id) == []


def test_a_running_job_is_not_looked_for_by_its_deadline(store, clock, worker, make_job):
    make_job(deadline_us=1)
    claim_one(store, worker)
    clock.advance(10)

    assert run(store, "jobs.overdue", now=clock.now(), limit=10) == []
    assert store.recovery.expire() == []


def test_an_effect_is_found_by_its_own_tenant(store, worker, make_job):
    for tenant, result in (("a", "1"), ("b", "2")):
        make_job(tenant=tenant)
        lease = claim_one(store, worker)
        store.effects.begin(lease, "k", "charge")
        store.effects.settle(lease, "k", result)

    assert [store.effects.find(tenant, "k").result for tenant in ("a", "b")] == ["1", "2"]
    assert store.effects.find("c", "k") is None


def test_losses_have_a_budget_of_their_own_whatever_the_attempts_say():
    """Attempts may be given back; a job that keeps losing its worker is buried all the same."""
    assert after_loss(attempts=1, max_attempts=3, losses=3, cancel_reason=None) == RunAgain(60 * SECOND)
    assert isinstance(after_loss(attempts=1, max_attempts=3, losses=4, cancel_reason=None), Bury)


def test_a_slot_that_a_person_opened_is_not_planned_again_nor_merged_into():
    spec = ScheduleSpec.declare("s", "*/5 * * * *", "work", misfire_grace=None)
    early, late = START + 5 * MINUTE, START + 10 * MINUTE

    planned = plan(spec, [early, late], late, paused=False, active=False, taken=[late])

    assert planned == [Opening(early, Disposition.FIRED)]
