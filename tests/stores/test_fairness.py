"""Tenants take turns: nobody waits behind the backlog of another."""

from __future__ import annotations

import random
from collections import Counter
from math import ceil

import pytest

from haulwright.engine.lease import shares_of
from haulwright.stores.claim_cursor import ClaimCursor
from tests.stores.scenes import HOUR, START, claim, new_job


def fill(store, backlog):
    store.jobs.enqueue([new_job(tenant=tenant) for tenant, jobs in backlog.items() for _ in range(jobs)])


@pytest.mark.parametrize(
    ("tenants", "batch"), [(1, 1), (2, 1), (3, 1), (5, 2), (7, 3), (6, 6), (4, 10), (13, 5)], ids=str
)
def test_the_first_job_of_each_tenant_waits_for_one_round_at_most(store, worker, tenants, batch):
    fill(store, {f"t{n:02}": 12 for n in range(tenants)})
    turn, served = ClaimCursor(), set()

    for _ in range(ceil(tenants / batch)):
        served |= {lease.tenant for lease in store.leases.claim(worker, ["default"], batch, turn)}

    assert len(served) == tenants


def test_more_tenants_than_one_claim_serves_are_served_by_the_next_ones(store, worker, monkeypatch):
    monkeypatch.setattr("haulwright.stores.leases.TENANTS_AT_ONCE", 3)
    fill(store, {f"t{n}": 4 for n in range(8)})
    turn = ClaimCursor()

    served = [Counter(one.tenant for one in store.leases.claim(worker, ["default"], 6, turn)) for _ in range(3)]

    assert served[0] == {"t0": 2, "t1": 2, "t2": 2}
    assert served[1] == {"t3": 2, "t4": 2, "t5": 2}
    assert {"t6", "t7"} <= set(served[2])


def test_room_that_some_tenants_leave_is_for_all_others(store, worker, monkeypatch):
    monkeypatch.setattr("haulwright.stores.leases.TENANTS_AT_ONCE", 3)
    fill(store, {f"t{n}": 1 for n in range(8)})
    store.jobs.enqueue([new_job(tenant="t9", delay_us=HOUR)])
    turn = ClaimCursor()

    served = [lease.tenant for lease in store.leases.claim(worker, ["default"], 20, turn)]

    assert served == [f"t{n}" for n in range(8)]
    assert turn.next_due == START + HOUR
    assert turn.last_tenant == {}


def test_a_claim_that_did_not_come_to_all_tenants_says_that_there_is_more_and_goes_on_there(store, worker, monkeypatch):
    monkeypatch.setattr("haulwright.stores.leases.TENANTS_AT_ONCE", 2)
    monkeypatch.setattr("haulwright.stores.leases.ROUNDS", 2)
    fill(store, {f"t{n}": 1 for n in range(7)})
    turn = ClaimCursor()

    first = [lease.tenant for lease in store.leases.claim(worker, ["default"], 20, turn)]
    said = turn.next_due
    fill(store, {"t0": 5})
    second = [lease.tenant for lease in store.leases.claim(worker, ["default"], 20, turn)]

    assert first == ["t0", "t1", "t2", "t3"]
    assert said == START
    assert second[:3] == ["t4", "t5", "t6"]


@pytest.mark.parametrize("seed", range(3))
def test_the_bound_holds_for_uneven_backlogs_from_any_place_in_the_round(store, worker, seed):
    rng = random.Random(seed)  # noqa: S311 - a table of cases, not a secret
    backlog = {f"t{n}": rng.choice([1, 2, 5, 20]) for n in range(rng.randint(2, 9))}
    store.jobs.enqueue(
        [new_job(tenant=t, priority=rng.randint(-2, 2)) for t, jobs in backlog.items() for _ in range(jobs)]
    )
    batch, turn, waited = rng.randint(1, 4), ClaimCursor(), Counter()

    while leases := store.leases.claim(worker, ["default"], batch, turn):
        served = Counter(lease.tenant for lease in leases)
        backlog = {tenant: jobs - served[tenant] for tenant, jobs in backlog.items() if jobs > served[tenant]}
        waited = Counter({tenant: 0 if served[tenant] else waited[tenant] + 1 for tenant in backlog})
        assert max(waited.values(), default=0) <= ceil(9 / batch)

    assert not backlog


def test_a_newcomer_is_served_before_a_large_backlog_is_done(store, worker):
    fill(store, {"large": 50})
    turn = ClaimCursor()
    store.leases.claim(worker, ["default"], 5, turn)
    fill(store, {"newcomer": 1})

    served = store.leases.claim(worker, ["default"], 5, turn)

    assert "newcomer" in {lease.tenant for lease in served}


def test_a_batch_is_shared_evenly_and_filled_up_from_those_who_have_more(store, worker):
    fill(store, {"a": 20, "b": 20, "c": 1})

    served = Counter(lease.tenant for lease in claim(store, worker, 9))

    assert served == {"a": 5, "b": 3, "c": 1}


def test_a_batch_is_full_while_there_is_work_whatever_its_priorities(store, worker):
    store.jobs.enqueue([new_job(tenant=f"t{n % 2}", priority=n) for n in range(20)])

    assert len(claim(store, worker, 20)) == 20


def test_another_tenants_priority_does_not_jump_the_round(store, worker):
    """Priority orders the jobs of one tenant; it is no weapon against the others."""
    store.jobs.enqueue([new_job(tenant="loud", priority=100) for _ in range(10)])
    store.jobs.enqueue([new_job(tenant="quiet", priority=-100)])

    assert {lease.tenant for lease in claim(store, worker, 2)} == {"loud", "quiet"}


def test_tenants_with_nothing_due_take_no_turn(store, worker):
    store.jobs.enqueue([new_job(tenant=f"parked{n}", delay_us=HOUR) for n in range(5)])
    fill(store, {"zebra": 3})

    assert [lease.tenant for lease in claim(store, worker, 3)] == ["zebra"] * 3


def test_tenants_of_every_alphabet_are_in_the_round(store, worker):
    tenants = {"Zoë", "ant", "éclair", "中文", "🦀", "-", "~", "A b"}
    fill(store, dict.fromkeys(tenants, 2))
    turn, served = ClaimCursor(), set()

    for _ in range(len(tenants)):
        served |= {lease.tenant for lease in store.leases.claim(worker, ["default"], 1, turn)}

    assert served == tenants


def test_a_tenant_has_a_name(store):
    """The round starts after the empty name: a job under it would never be found."""
    with pytest.raises(Exception, match=r"(?i)check constraint"):
        store.jobs.enqueue([new_job(tenant="")])


@pytest.mark.parametrize(("tenants", "batch"), [(1, 5), (3, 5), (5, 3), (4, 4)])
def test_a_batch_is_given_out_whole_and_nobody_gets_twice_what_another_gets(tenants, batch):
    parts = [share.limit for share in shares_of([(f"t{n}", 0) for n in range(tenants)], batch)]

    assert sum(parts) == batch
    assert max(parts) - min(parts) <= 1
