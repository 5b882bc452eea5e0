"""A claim takes due jobs in their order, each under a new fence, and never twice."""

from __future__ import annotations

import pytest

from haulwright.clock import SECOND
from haulwright.engine.transitions import State
from haulwright.errors import DatabaseUnavailable
from haulwright.stores.claim_cursor import ClaimCursor
from tests.stores.scenes import HOUR, START, claim, claim_one, fail, ids, new_job, race, settle


@pytest.mark.proves("CLM-04", "CLM-08", "JOB-10", "CLM-11")
def test_a_claim_sets_owner_fence_lease_and_heartbeat_and_counts_the_attempt(store, worker, a_job):
    lease = claim_one(store, worker)

    found = store.listing.get(a_job.id)
    assert (lease.id, lease.fence, lease.attempts, lease.worker_id) == (a_job.id, 1, 1, worker)
    assert (found.state, found.fence, found.attempts, found.worker_id) == (State.RUNNING, 1, 1, worker)
    assert (found.leased_at, found.heartbeat_at, found.started_at) == (START, START, START)
    assert found.lease_expires_at == START + 120 * SECOND


@pytest.mark.proves("JOB-10", "CLM-16")
def test_a_job_that_waits_again_has_no_lease(store, worker, a_job):
    fail(store, claim_one(store, worker))

    found = store.listing.get(a_job.id)
    assert (found.worker_id, found.leased_at, found.heartbeat_at, found.lease_expires_at) == (None, None, None, None)


@pytest.mark.proves("HB-11")
@pytest.mark.parametrize("column", ["worker_id", "leased_at", "heartbeat_at", "lease_expires_at"])
@pytest.mark.usefixtures("a_job")
def test_a_running_job_without_its_whole_lease_cannot_be_stored(store, worker, column):
    """So the search for stuck jobs misses none: it never meets a NULL."""
    claim_one(store, worker)

    with pytest.raises(Exception, match=r"(?i)check constraint"):
        store.database.transact(lambda c: c.execute(f"update haulwright_jobs set {column} = null"))  # noqa: S608


def test_a_lease_is_as_long_as_its_job_asked_for(store, worker, make_job):
    job = make_job(lease_us=300 * SECOND)

    claim_one(store, worker)

    assert store.listing.get(job.id).lease_expires_at == START + 300 * SECOND


def test_a_lease_is_as_long_as_the_worker_says_that_claims_it(store, worker, make_job):
    asked = [make_job(lease_us=300 * SECOND), make_job(task="other", lease_us=300 * SECOND)]

    leases = store.leases.claim(worker, ["default"], 2, lengths={"work": 77 * SECOND})

    assert {lease.id: lease.lease_us for lease in leases} == {asked[0].id: 77 * SECOND, asked[1].id: 300 * SECOND}
    ends = [store.listing.get(job.id).lease_expires_at for job in asked]
    assert ends == [START + 77 * SECOND, START + 300 * SECOND]
    store.leases.renew(leases)
    assert [store.listing.get(job.id).lease_expires_at for job in asked] == ends


def test_a_worker_that_cannot_say_how_long_its_lease_is_renews_for_the_shorter_one(
    store, worker, make_job, monkeypatch
):
    job = make_job(lease_us=300 * SECOND)

    def fail(_leases):
        raise DatabaseUnavailable("the connection broke")

    monkeypatch.setattr(store.leases, "set_lengths", fail)
    (lease,) = store.leases.claim(worker, ["default"], lengths={"work": 600 * SECOND})

    assert (lease.id, lease.lease_us) == (job.id, 300 * SECOND)


def test_a_lease_carries_what_is_needed_to_run_its_job(store, worker):
    words = {"tenant": "acme", "queue": "q", "args": '{"v":1}', "priority": 3, "source": "shop", "tags": '["t"]'}
    words |= {"event_fields": '{"f":1}', "headers": '{"h":"1"}', "correlation_id": "c"}
    job = new_job(**words, timeout_us=5, max_attempts=4, deadline_us=HOUR)
    store.jobs.enqueue([job])

    lease = claim_one(store, worker, "q")

    assert {name: getattr(lease, name) for name in words} == words
    assert (lease.timeout_us, lease.max_attempts) == (5, 4)
    assert (lease.run_at, lease.created_at, lease.leased_at, lease.deadline_at) == (START, START, START, START + HOUR)
    assert (lease.losses, lease.deferrals, lease.job_key, lease.requeued_from) == (0, 0, job.id, None)


@pytest.mark.proves("CLM-02")
def test_jobs_are_claimed_by_priority_then_time_then_age(store, clock, worker):
    clock.advance(10)
    young, old = new_job(), new_job(run_at=START)
    urgent, late_urgent = new_job(priority=100), new_job(priority=100)
    lazy = new_job(priority=-100, run_at=START)
    store.jobs.enqueue([lazy, late_urgent, young, urgent, old])

    one_by_one = [claim_one(store, worker).id for _ in range(5)]

    assert one_by_one == [*sorted(ids([urgent, late_urgent])), old.id, young.id, lazy.id]


def test_a_batch_comes_in_the_same_order(store, worker):
    jobs = [new_job(priority=priority) for priority in (0, 5, -3, 5, 100, 0)]
    store.jobs.enqueue(jobs)

    batch = claim(store, worker, 10)

    assert ids(batch) == ids(sorted(jobs, key=lambda job: (-job.priority, job.id)))


@pytest.mark.proves("CLM-03", "RT-11")
def test_new_jobs_and_due_retries_are_served_by_the_same_claim(store, clock, worker, a_job, make_job):
    fail(store, claim_one(store, worker))
    new = make_job()

    assert ids(claim(store, worker, 10)) == [new.id]
    clock.advance(30)
    assert ids(claim(store, worker, 10)) == [a_job.id]


@pytest.mark.usefixtures("a_job")
def test_the_fence_grows_by_one_with_every_claim_and_never_falls(store, clock, worker):
    fences = []
    for _ in range(3):
        lease = claim_one(store, worker)
        fences.append(lease.fence)
        fail(store, lease)
        clock.advance(3600)

    assert fences == [1, 2, 3]


@pytest.mark.usefixtures("a_job")
def test_a_finished_job_is_not_claimed_again(store, worker):
    settle(store, claim_one(store, worker))

    assert claim(store, worker) == []


def test_queues_are_served_in_the_order_they_are_named(store, worker, make_job):
    make_job(queue="ignored")
    slow, fast = make_job(queue="slow"), make_job(queue="fast")

    assert ids(store.leases.claim(worker, ["fast", "slow"], 1)) == [fast.id]
    assert ids(store.leases.claim(worker, ["fast", "slow"], 9)) == [slow.id]


def test_a_claim_from_no_queue_or_of_no_jobs_takes_nothing(store, worker, a_job):
    assert store.leases.claim(worker, [], 5) == []
    assert store.leases.claim(worker, ["default"], 0) == []
    assert store.listing.get(a_job.id).state is State.QUEUED


@pytest.mark.proves("CLM-01", "CLM-07", "CLM-10", "GU-03", "GU-04")
def test_claimers_at_once_never_get_the_same_job(store, open_store, worker):
    jobs = [new_job(tenant=f"t{n % 5}", priority=n % 3) for n in range(60)]
    store.jobs.enqueue(jobs)
    stores = [open_store() for _ in range(4)]

    def drain(claimer):
        taken = []
        while leases := claimer.leases.claim(worker, ["default"], 3):
            taken += ids(leases)
        return taken

    taken = race(*(lambda s=s: drain(s) for s in stores))

    assert sorted(job for part in taken for job in part) == sorted(ids(jobs))


@pytest.mark.proves("CLM-01")
def test_of_two_claimers_of_one_job_exactly_one_gets_it(store, open_store, worker, other_worker, make_job):
    other = open_store()
    for _ in range(15):
        make_job()

        one, two = race(lambda: claim(store, worker), lambda: claim(other, other_worker))

        assert len(one) + len(two) == 1


@pytest.mark.proves("CLM-07")
def test_a_claim_does_not_wait_for_a_row_that_somebody_holds(store, open_store, worker):
    """Nor does it come back empty: the next job is due as well."""
    if store.database.dialect == "sqlite":
        pytest.skip("SQLite has no row locks")
    held, free = new_job(priority=1), new_job()
    store.jobs.enqueue([held, free])

    def hold_and_claim(connection):
        connection.execute("select 1 from haulwright_jobs where id = %s for update", [held.id])
        return ids(claim(store, worker, 2))

    assert open_store().database.transact(hold_and_claim) == [free.id]


@pytest.mark.parametrize("batch", [1, 10])
def test_parked_jobs_of_the_best_priority_do_not_hide_due_ones(store, worker, batch):
    store.jobs.enqueue([new_job(priority=100, delay_us=HOUR) for _ in range(30)])
    due = new_job(priority=-100)
    store.jobs.enqueue([due])

    assert ids(claim(store, worker, batch)) == [due.id]


def test_a_short_claim_knows_when_the_next_job_is_due(store, clock, worker, make_job):
    turn = ClaimCursor()
    assert store.leases.claim(worker, ["default"], 1, turn) == []
    assert turn.next_due is None

    make_job(delay_us=HOUR, tenant="a")
    make_job(delay_us=HOUR // 2, tenant="b", priority=-7)
    make_job(delay_us=HOUR // 4, queue="other")
    assert store.leases.claim(worker, ["default", "other"], 1, turn) == []
    assert turn.next_due == START + HOUR // 4

    clock.advance(900)
    assert len(store.leases.claim(worker, ["default", "other"], 1, turn)) == 1
    assert store.leases.claim(worker, ["default", "other"], 1, turn) == []
    assert turn.next_due == START + HOUR // 2


def test_a_job_left_behind_by_a_clock_that_went_back_runs_when_its_time_comes(store, clock, worker, a_job):
    clock.advance(-60)
    assert claim(store, worker) == []

    clock.advance(60)
    assert ids(claim(store, worker)) == [a_job.id]


def test_a_look_at_what_is_due_writes_nothing(store, worker, make_job):
    make_job(tenant="a", priority=5)
    make_job(tenant="a", priority=-5)
    make_job(tenant="b", delay_us=HOUR)

    assert store.leases.due_pairs("default") == [("a", 5), ("a", -5)]
    assert len(claim(store, worker, 5)) == 2


def test_jobs_are_claimed_by_their_ids_where_they_are_due_in_a_queue_that_is_served(store, clock, worker, make_job):
    """Each under a new fence, through its gate, and never one that runs."""
    due, running, other = make_job(), make_job(priority=9), make_job(queue="other")
    later, paused = make_job(delay_us=60 * SECOND), make_job(queue="paused")
    gated = [make_job(concurrency_key="k", concurrency_limit=1) for _ in range(2)]
    store.queues.pause("paused", actor="alice", reason="")
    claim_one(store, worker)
    wanted = [job.id for job in (due, running, other, later, paused, *gated)]

    leases = store.leases.claim_some(worker, wanted, ["default", "paused"], 10)

    assert sorted(lease.id for lease in leases) == sorted([due.id, gated[0].id])
    assert {lease.fence for lease in leases} == {1}
    assert store.listing.get(running.id).fence == 1
    assert store.listing.get(gated[1].id).waiting_on == "concurrency:k"
    assert store.leases.claim_some(worker, wanted, ["default"], 10) == []
    clock.advance(60)
    assert later.id in {lease.id for lease in store.leases.claim_some(worker, wanted, ["default"], 10)}
