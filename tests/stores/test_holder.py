"""A number that is given out twice is still two rights: who holds it is a part of the right.

A database that was put back (a fail-over to a replica that missed the claim, a restored backup) counts again from where
it was. How each write of a run is refused then is told in test_fence.py; here are the gates, and a real fail-over.
"""

from __future__ import annotations

from contextlib import closing

import psycopg
import pytest

from haulwright.errors import LeaseLost
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from haulwright.stores.sources.admission import Admission, Denial, Leaving, Release, Requester
from haulwright.stores.store import Store
from tests.stores.gates import KEY, declare, fail
from tests.stores.scenes import claim_one, give_same_number_to, new_job, settle
from tests.support.binaries import PostgresUnavailable
from tests.support.postgres import start


@pytest.fixture
def twin(store, worker, other_worker, make_job):
    """A lease and its permit; the database was put back, and another worker has the same number now."""
    declare(store, concurrency=2)  # with one left: who leaves while all are out takes the longer way
    make_job(source=KEY)
    lease = claim_one(store, worker)
    admission = store.gates.take_claimed(lease)
    give_same_number_to(store, other_worker)
    return lease, admission


def test_a_gate_does_not_let_through_whose_number_somebody_else_has(store, twin):
    lease, _ = twin

    with pytest.raises(LeaseLost):
        store.gates.ask(KEY, Requester(lease.key))


@pytest.mark.parametrize("outcome", ["ok", "failed"])
def test_who_leaves_does_not_give_back_the_permit_of_the_other(store, twin, outcome):
    _, admission = twin

    store.gates.leave(admission, Release(outcome))

    assert store.sources.standing(KEY).held == 1


def test_leaving_at_once_does_not_give_back_the_permit_of_the_other(store, twin):
    _, admission = twin

    store.gates.leave_quietly([Leaving(admission, Release("ok"))])

    assert store.sources.standing(KEY).held == 1


def test_a_lease_that_ends_does_not_give_back_the_permit_of_the_other(store, twin):
    lease, _ = twin

    store.database.transact(lambda connection: store.gates.give_back(connection, [lease.key]))
    assert store.sources.standing(KEY).held == 1

    other = store.listing.get(lease.id).worker_id
    store.database.transact(lambda c: store.gates.give_back(c, [lease.key._replace(worker_id=other)]))
    assert store.sources.standing(KEY).held == 0


def test_what_the_other_got_with_its_claim_is_not_adopted(open_store, twin):
    lease, _ = twin

    assert open_store().gates.adopt(lease) is None


def test_a_permit_of_somebody_who_does_not_run_the_job_is_given_to_who_asks(store, worker, other_worker, make_job):
    declare(store, concurrency=1)
    make_job()
    lease = claim_one(store, worker)
    assert isinstance(store.gates.ask(KEY, Requester(lease.key)), Admission)
    give = f"update haulwright_jobs set worker_id = '{other_worker}'"  # noqa: S608 - our own
    store.database.transact(lambda connection: connection.execute(give))

    assert isinstance(store.gates.ask(KEY, Requester(lease.key._replace(worker_id=other_worker))), Admission)
    assert store.sources.standing(KEY).held == 1


@pytest.fixture
def probe(store, worker, make_job, clock):
    """The lease and the right of the one who finds out how a server is, before the database is put back."""
    declare(store)
    fail(store, 5)
    clock.advance(300)
    make_job()
    lease = claim_one(store, worker)
    return lease, store.gates.ask(KEY, Requester(lease.key))


@pytest.mark.parametrize("outcome", ["ok", "failed"])
def test_the_probe_of_the_other_is_not_ended(store, other_worker, probe, outcome):
    _, admission = probe
    give_same_number_to(store, other_worker)

    store.gates.leave(admission, Release(outcome))

    assert store.sources.standing(KEY).breaker == "half_open"


def test_the_probe_of_the_other_ends_with_its_own_lease_alone(store, other_worker, probe):
    lease, _ = probe
    give_same_number_to(store, other_worker)

    store.database.transact(lambda connection: store.gates.give_back(connection, [lease.key]))
    assert store.sources.standing(KEY).breaker == "half_open"

    store.database.transact(lambda c: store.gates.give_back(c, [lease.key._replace(worker_id=other_worker)]))
    assert store.sources.standing(KEY).breaker == "open"


def test_the_probe_of_the_other_does_not_end_with_a_permit_of_the_same_source(
    store, worker, other_worker, make_job, clock
):
    declare(store, concurrency=2)
    make_job(source=KEY)
    with_permit = claim_one(store, worker)
    fail(store, 5)
    clock.advance(300)
    make_job()
    prober = claim_one(store, worker)
    assert isinstance(store.gates.ask(KEY, Requester(prober.key)), Admission)
    with_same_number = prober.key._replace(worker_id=other_worker)

    store.database.transact(lambda c: store.gates.give_back(c, [with_permit.key, with_same_number]))

    standing = store.sources.standing(KEY)
    assert (standing.held, standing.breaker) == (1, "half_open")


def test_the_right_of_the_other_probe_is_not_shared(store, other_worker, probe):
    lease, _ = probe
    with_same_number = Requester(lease.key._replace(worker_id=other_worker))

    assert isinstance(store.gates.ask(KEY, with_same_number, lease_seconds=60), Denial)
    assert isinstance(store.gates.ask(KEY, Requester(lease.key)), Admission)


@pytest.mark.postgres
def test_after_a_failover_to_a_replica_that_missed_the_claim_the_old_holder_changes_nothing(worker, other_worker):
    """Two workers hold one job under one number: the one whose claim was lost is refused, the other settles."""
    job = new_job(concurrency_key="k", concurrency_limit=1)
    with start(durable=True) as primary, closing(open_database(primary.url())) as database:
        migrations.migrate(database)
        store = Store(database)
        store.jobs.enqueue([job])
        standby = _caught_up(primary)
        with standby:
            standby.halt("fast")
            lost = claim_one(store, worker)
            primary.halt("immediate")
            standby.launch()
            with psycopg.connect(standby.url(), autocommit=True) as server:
                server.execute("select pg_promote(true)")
            with closing(open_database(standby.url())) as promoted:
                _only_the_second_holds(Store(promoted), lost, other_worker)


def _caught_up(primary):
    try:
        standby = primary.replicate()
    except PostgresUnavailable as reason:
        pytest.skip(str(reason))
    with psycopg.connect(primary.url(), autocommit=True) as server:
        (here,) = server.execute("select pg_current_wal_flush_lsn()").fetchone()
    with psycopg.connect(standby.url(), autocommit=True) as server:
        replayed = "select pg_last_wal_replay_lsn() >= %s::pg_lsn"
        while not server.execute(replayed, (here,)).fetchone()[0]:
            server.execute("select pg_sleep(0.02)")
    return standby


def _only_the_second_holds(store, lost, other_worker):
    current = claim_one(store, other_worker)
    assert (current.id, current.fence) == (lost.id, lost.fence)

    assert store.leases.renew([lost]).lost == {lost.id}
    assert not store.leases.progress(lost, '{"at":1}')
    with pytest.raises(LeaseLost):
        store.effects.begin(lost, "key", "pay")
    assert not settle(store, lost)
    assert settle(store, current)
