"""Taking a brand out: its work stops, its rows go, its events stay."""

from __future__ import annotations

import asyncio

import pytest

from haulwright.errors import NotFound
from haulwright.sources.apify import Order
from tests.apps.brands.scenes import ACME, SIX, TENANT, connect, count

TABLES = (
    "brands", "connections", "compile_runs", "compile_sources", "runs", "raw_items", "quarantine", "evidence",
    "evidence_refs", "snapshots",
)  # fmt: skip


def test_a_brand_goes_with_all_its_rows_and_no_others(brands, brand, settle, sandbox, monkeypatch):
    monkeypatch.setattr("haulwright.apps.brands.removal.BATCH_ROWS", 7)
    sandbox.apify.script(broken=2)
    other = brands.add(ACME, "Other")
    for one in (brand, other):
        connect(brands, one, SIX[0], SIX[5], settings={"cap": 10})
        brands.compile(ACME, one.id)
    settle()
    before = {table: count(brands, f"brands_{table}") for table in TABLES}

    gone = brands.remove(ACME, brand.id)

    after = {table: count(brands, f"brands_{table}") for table in TABLES}
    assert gone == sum(before.values()) - sum(after.values()) > 0
    assert [one.id for one in brands.list(ACME)] == [other.id]
    assert len(brands.snapshot(ACME, other.id)["evidence"]) == 20
    events = brands.app.store.events
    assert events.latest(name="brand.removed")[0].data == {"brand_id": brand.id, "rows": gone}
    assert len(events.latest(name="brand.compiled")) == 2
    with pytest.raises(NotFound):
        brands.remove(ACME, brand.id)


def test_removing_a_brand_stops_its_work_and_its_paid_runs(brands, brand, sandbox, bench, settle):
    sandbox.apify.script(ending="NEVER", times=None)
    connect(brands, brand, SIX[0], SIX[2])
    compiled = brands.compile(ACME, brand.id)
    bench.drain()
    brands.remove(ACME, brand.id)
    settle()

    assert [run.status(sandbox.clock.now()) for run in sandbox.apify.runs()] == ["ABORTED", "ABORTED"]
    assert brands.app.operations().jobs.get(compiled.job_id).state == "cancelled"
    assert sum(count(brands, f"brands_{table}") for table in TABLES) == 0


def test_a_run_whose_start_was_not_recorded_is_stopped_with_its_brand(brands, brand, sandbox, bench, settle):
    sandbox.apify.script(ending="NEVER")
    connect(brands, brand)
    brands.compile(ACME, brand.id)
    with bench.crash(brands.refresh_task, after="start"):
        bench.drain()

    brands.remove(ACME, brand.id)
    settle()

    assert [run.status(sandbox.clock.now()) for run in sandbox.apify.runs()] == ["ABORTED"]
    assert sum(count(brands, f"brands_{table}") for table in TABLES) == 0


def test_a_run_that_begins_while_its_brand_is_removed_is_stopped(brands, brand, sandbox, settle, monkeypatch):
    astart = Order.astart

    async def while_it_is_removed(order, marker):
        begun = await astart(order, marker)
        await asyncio.to_thread(brands.remove, ACME, brand.id)
        return begun

    monkeypatch.setattr(Order, "astart", while_it_is_removed)
    sandbox.apify.script(ending="NEVER")
    connect(brands, brand)
    brands.compile(ACME, brand.id)
    settle()

    assert [run.status(sandbox.clock.now()) for run in sandbox.apify.runs()] == ["ABORTED"]
    assert sum(count(brands, f"brands_{table}") for table in TABLES) == 0


def test_a_run_that_is_under_way_writes_nothing_for_a_brand_that_is_removed(brands, brand, bench, settle):
    connect(brands, brand)
    brands.compile(ACME, brand.id)
    bench.drain(limit=1)
    brands.tables.write("removal.mark", tenant=TENANT, brand_id=brand.id)
    settle()

    assert (count(brands, "brands_runs"), count(brands, "brands_evidence")) == (0, 0)
    assert {job.state for job in bench.all_enqueued()} <= {"cancelled", "skipped"}
    assert brands.remove(ACME, brand.id) > 0
