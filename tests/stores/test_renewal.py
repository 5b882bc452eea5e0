"""A renewal waits for nobody: what a transaction holds is skipped, and its neighbours are renewed."""

from __future__ import annotations

import threading

import pytest

from haulwright.clock import SECOND
from haulwright.engine.lease import renewal_seconds
from haulwright.stores.effects import Effects
from tests.stores.scenes import START, claim, claim_one, lose, new_job

MANY = 40
"""More than a transaction of a few rows is about."""


@pytest.fixture
def on_postgres(store):
    if store.database.dialect == "sqlite":
        pytest.skip("SQLite has one writer: no row is held while others can be written")


def while_held(store, lease, act):
    """What an act returns that happens while a transaction of a run holds its job."""

    def hold(connection):
        assert store.leases.hold(connection, lease)
        return act()

    return store.database.transact(hold)


@pytest.mark.postgres
@pytest.mark.usefixtures("on_postgres")
@pytest.mark.proves("HB-01")
def test_a_renewal_does_not_wait_for_the_commit_of_a_neighbour(store, open_store, clock, worker):
    store.jobs.enqueue([new_job() for _ in range(3)])
    busy, *others = leases = claim(store, worker, 3)
    clock.advance(20)

    renewal = while_held(store, busy, lambda: open_store().leases.renew(leases))

    assert (renewal.lost, renewal.skipped) == (frozenset(), {busy.id})
    assert {store.listing.get(lease.id).heartbeat_at for lease in others} == {START + 20 * SECOND}
    assert store.listing.get(busy.id).heartbeat_at == START
    assert store.leases.renew(leases).skipped == frozenset()
    assert store.listing.get(busy.id).heartbeat_at == START + 20 * SECOND


@pytest.mark.postgres
@pytest.mark.usefixtures("on_postgres", "a_job")
def test_a_lease_that_is_gone_is_lost_even_where_the_next_run_holds_the_job(store, open_store, clock, worker):
    stale = claim_one(store, worker)
    lose(store, clock)
    current = claim_one(store, worker)

    renewal = while_held(store, current, lambda: open_store().leases.renew([stale]))

    assert (renewal.lost, renewal.skipped) == ({stale.id}, frozenset())


@pytest.mark.postgres
@pytest.mark.usefixtures("on_postgres", "a_job")
def test_a_run_hears_of_a_cancel_although_its_lease_was_skipped(store, open_store, worker):
    lease = claim_one(store, worker)
    store.jobs.cancel(lease.id, tenant=None, reason="enough", actor="a person")

    renewal = while_held(store, lease, lambda: open_store().leases.renew([lease]))

    assert (renewal.skipped, renewal.cancelled) == ({lease.id}, {lease.id: "enough"})


@pytest.mark.postgres
@pytest.mark.usefixtures("on_postgres", "a_job")
def test_what_a_transaction_holds_is_not_taken_back_meanwhile(store, open_store, clock, worker):
    lease = claim_one(store, worker)
    clock.advance(500)

    assert while_held(store, lease, open_store().recovery.reap) == []


@pytest.mark.postgres
@pytest.mark.usefixtures("on_postgres", "a_job")
def test_what_a_transaction_holds_is_not_taken_back_by_who_watched_it(store, open_store, clock, worker):
    lease = claim_one(store, worker)
    clock.advance(500)
    _, watched = store.recovery.ending(0, 0, 10)

    assert while_held(store, lease, lambda: open_store().recovery.reap_silent(watched)) == []


@pytest.mark.parametrize("seconds", [19, 21], ids=["shortly", "longer than a renewal"])
def test_a_transaction_that_kept_a_lease_from_being_renewed_renews_it(store, clock, lease, monkeypatch, seconds):
    """Whoever watched it meanwhile saw it stand still, and may ask for it the moment that it is free."""
    moments = iter([100.0, 100.0 + seconds])
    monkeypatch.setattr(Effects, "_monotonic", staticmethod(lambda: next(moments)))

    store.effects.under(lease, "commit", lambda _connection: clock.advance(seconds))

    renewed_at = clock.now() if seconds > renewal_seconds(lease.lease_us) else START
    assert store.listing.get(lease.id).heartbeat_at == renewed_at


def test_a_renewal_of_many_leases_does_not_give_way_to_those_who_write_much(store, worker):
    """On SQLite whoever writes many rows lets the others go first, and waits its turn with its kind."""
    store.jobs.enqueue([new_job() for _ in range(MANY)])
    leases = claim(store, worker, MANY)
    renewals = []
    renewing = threading.Thread(target=lambda: renewals.append(store.leases.renew(leases)), daemon=True)

    with getattr(store.database, "_crowd", threading.Lock()):  # somebody writes much, and others wait to
        renewing.start()
        renewing.join(20)

    assert [renewal.lost for renewal in renewals] == [frozenset()]
