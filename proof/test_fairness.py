"""Fairness: nobody waits behind the backlog of another tenant, nor behind what is parked."""

from __future__ import annotations

import time
from contextlib import closing
from math import ceil

import pytest

from haulwright.engine.ids import new_id
from haulwright.engine.job import NewJob
from haulwright.stores.claim_cursor import ClaimCursor
from haulwright.stores.store import Store
from proof.support.bulk import fill
from proof.support.site import START, Site

BACKLOG = 100_000
PARKED = 200_000
HOUR = 3_600_000_000
BATCHES = (1, 10, 100)
SLOWEST_CLAIM_MS = 100
"""Far above what a claim takes, and far below what it would take to walk over what is parked."""


@pytest.fixture
def store(database_url, tmp_path):
    site = Site.prepare(database_url, tmp_path)
    site.clock.advance(1)
    with closing(site.open_store()) as store:
        yield store


def claim(store: Store, worker, batch, turn):
    """The tenants of one claim."""
    return [lease.tenant for lease in store.leases.claim(worker, ["default"], batch, turn)]


def newcomer(store: Store, name):
    """One job of a tenant that was not there before."""
    store.jobs.enqueue([NewJob(id=new_id(), task="note", args='{"number":1}', tenant=name)])


@pytest.mark.parametrize("name", ["aaa", "zzz"], ids=["before in the alphabet", "after in the alphabet"])
def test_a_newcomer_is_claimed_next_whatever_the_backlog_of_another(store: Store, name, report: list[str]):
    fill(store, BACKLOG, batch=1, tenant="'large'", run_at=START)
    turn, worker = ClaimCursor(), new_id()
    assert claim(store, worker, 10, turn) == ["large"] * 10
    newcomer(store, name)
    began = time.monotonic()

    served = claim(store, worker, 10, turn)

    milliseconds = (time.monotonic() - began) * 1000
    report.append(
        f"{store.database.dialect}: {name} against {BACKLOG} jobs, claimed in the next claim, {milliseconds:.1f} ms"
    )
    assert served.count(name) == 1
    assert len(served) == 10
    assert milliseconds < SLOWEST_CLAIM_MS


@pytest.mark.parametrize("tenants", [5, 50, 200])
@pytest.mark.parametrize("batch", BATCHES)
def test_every_tenant_is_served_within_one_round(store: Store, tenants, batch, report: list[str]):
    fill(store, BACKLOG, batch=1, tenant=f"'t' || (n % {tenants})", run_at=START)
    fill(store, PARKED, batch=2, tenant=f"'t' || (n % {tenants})", run_at=START + HOUR, rank=-100)
    turn, worker, bound = ClaimCursor(), new_id(), ceil(tenants / batch)
    claim(store, worker, batch, turn)  # so that the round starts somewhere in the middle
    served, began = set(), time.monotonic()

    for _ in range(bound):
        served |= set(claim(store, worker, batch, turn))

    each = (time.monotonic() - began) * 1000 / bound
    report.append(
        f"{store.database.dialect}: {tenants} tenants, batches of {batch}, {BACKLOG} due and {PARKED} parked in front: "
        f"all served within {bound} claims of {each:.1f} ms"
    )
    assert len(served) == tenants
    assert each < SLOWEST_CLAIM_MS


def test_a_newcomer_among_many_tenants_waits_for_one_round_at_most(store: Store, report: list[str]):
    fill(store, BACKLOG, batch=1, tenant="'t' || (n % 200)", run_at=START)
    turn, worker, waits = ClaimCursor(), new_id(), []
    for number in range(20):
        newcomer(store, f"t{number * 10}-new")
        waited = 1
        while f"t{number * 10}-new" not in claim(store, worker, 7, turn):
            waited += 1
        waits.append(waited)

    report.append(f"{store.database.dialect}: newcomers among 200 tenants, batches of 7, waited {sorted(waits)} claims")
    assert max(waits) <= ceil(201 / 7)
