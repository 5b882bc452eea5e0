"""A job is claimed alike alone, beside other tenants, and beside a job with a gate, whatever statement that takes."""

from __future__ import annotations

import pytest

from haulwright.clock import SECOND
from haulwright.stores.claim_cursor import ClaimCursor
from haulwright.stores.postgres.connection import PostgresConnection
from tests.stores.scenes import HOUR, START, claim, fail, ids, new_job

COMPANY = {
    "alone": {},
    "beside another tenant": {"tenant": "zz"},
    "beside a job with a gate": {"tenant": "zz", "concurrency_key": "door", "concurrency_limit": 1},
}


@pytest.fixture(params=COMPANY)
def take(request, store, worker):
    """Claim all that is due of one tenant, in the company of another, or alone."""

    def act():
        if words := COMPANY[request.param]:
            store.jobs.enqueue([new_job(**words)])
        return [lease for lease in claim(store, worker, 5) if lease.tenant == "default"]

    return act


@pytest.mark.proves("CLM-04", "CLM-08", "JOB-10")
def test_a_claim_writes_owner_fence_lease_and_attempt(store, worker, a_job, take):
    (lease,) = take()

    found = store.listing.get(a_job.id)
    assert (lease.id, lease.fence, lease.attempts, lease.worker_id) == (a_job.id, 1, 1, worker)
    assert (found.fence, found.attempts, found.worker_id) == (1, 1, worker)
    assert (found.leased_at, found.heartbeat_at, found.started_at, found.updated_at) == (START,) * 4
    assert found.lease_expires_at == START + 120 * SECOND


@pytest.mark.usefixtures("a_job")
def test_the_second_claim_of_a_job_has_the_second_fence_and_remembers_the_first_start(store, clock, take):
    (first,) = take()
    fail(store, first)
    clock.advance(3600)

    (second,) = take()

    found = store.listing.get(second.id)
    assert (second.fence, second.attempts) == (2, 2)
    assert (found.started_at, found.leased_at, found.waiting_on) == (START, START + HOUR, None)


@pytest.mark.proves("CLM-02")
def test_what_is_not_due_yet_stays_and_the_earliest_comes_first(store, make_job, take):
    last, first = make_job(run_at=START - SECOND), make_job(run_at=START - HOUR)
    parked = make_job(delay_us=HOUR)

    assert ids(take()) == [first.id, last.id]
    assert store.listing.get(parked.id).fence == 0


@pytest.mark.proves("CLM-07")
def test_a_row_that_somebody_holds_is_not_waited_for(store, open_store, make_job, take):
    if store.database.dialect == "sqlite":
        pytest.skip("SQLite has no row locks")
    held, free = make_job(run_at=START - HOUR), make_job()

    def hold_and_take(connection):
        connection.execute("select 1 from haulwright_jobs where id = %s for update", [held.id])
        return ids(take())

    assert open_store().database.transact(hold_and_take) == [free.id]


@pytest.mark.postgres
@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_a_lone_job_is_claimed_by_a_single_statement(store, worker, make_job, monkeypatch):
    """A trip to the server more would be felt at every job that somebody waits for."""
    said, turn, execute = [], ClaimCursor(), PostgresConnection._execute
    monkeypatch.setattr(PostgresConnection, "_execute", lambda self, *it: said.append(it) or execute(self, *it))
    make_job(tenant="other", delay_us=HOUR)
    lone = make_job()
    said.clear()

    leases = store.leases.claim(worker, ["default"], 5, turn)

    assert ids(leases) == [lone.id]
    assert len(said) == 1
    assert turn.next_due == START + HOUR
