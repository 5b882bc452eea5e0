"""What is written down and told about a paid run on its way, and how long one request may take."""

from __future__ import annotations

import pytest

from haulwright.apps.brands.compat import BrandBrain
from haulwright.apps.brands.settings import BrandSettings
from haulwright.errors import Permanent
from haulwright.settings import Settings
from tests.apps.brands.scenes import ACME, ADMIN, TENANT, connect, count, rows, runs_of

ITEMS = "/apify/v2/datasets/*/items"


@pytest.fixture
def small_pages(monkeypatch):
    monkeypatch.setattr("haulwright.apps.brands.buying.purchase.PAGE_ITEMS", 20)


@pytest.mark.proves("LG-04")
def test_start_polls_and_end_of_a_run_are_told_with_their_counts(brands, brand, settle):
    (connection,) = connect(brands, brand, settings={"cap": 7})
    compiled = brands.compile(ACME, brand.id)
    settle()

    (source,), (run,) = brands.status(ACME, compiled.id).sources, runs_of(brands, connection)
    told = brands.app.operations().jobs.timeline(source.job_id).rows
    known = {
        "apify_run_id": run.id,
        "connection_id": connection.id,
        "actor": run.actor,
        "actor_run_id": run.actor_run_id,
    }
    ours = {one.name: one.data for one in told if one.name.startswith("brand.run_")}
    assert all(known.items() <= data.items() for data in ours.values())
    assert list(ours) == ["brand.run_started", "brand.run_ended", "brand.run_fetched", "brand.run_normalized"]
    polls = [one for one in told if one.name == "job.snoozed" and one.data["gate"] == f"apify run {run.actor_run_id}"]
    assert len(polls) == ours["brand.run_ended"]["waits"] > 0
    assert ours["brand.run_ended"]["status"] == "SUCCEEDED"
    assert ours["brand.run_fetched"]["raw_items_count"] == 7
    counts = {name: ours["brand.run_normalized"][name] for name in ("created", "updated", "quarantined")}
    assert counts == {"created": 7, "updated": 0, "quarantined": 0}


@pytest.mark.proves("LG-04")
def test_a_run_that_failed_is_told_with_its_reason(brands, brand, sandbox, settle):
    sandbox.apify.script(ending="FAILED", message="the profile is private")
    connect(brands, brand)
    brands.compile(ACME, brand.id)
    settle()

    (told,) = brands.app.store.events.latest(name="brand.run_ended")
    assert (told.data["status"], "the profile is private" in told.data["error"]) == ("FAILED", True)


@pytest.mark.proves("RW-02")
@pytest.mark.usefixtures("small_pages")
def test_the_items_of_a_run_are_replaced_as_a_whole(brands, brand, sandbox, settle, bench):
    sandbox.faults.add("status", path=ITEMS, code=500, skip=2)
    (connection,) = connect(brands, brand)
    brands.compile(ACME, brand.id)
    bench.drain()
    (run,) = runs_of(brands, connection)
    stray = [{"item_index": index, "bytes": 2, "body": "{}"} for index in (0, 70)]
    brands.tables.transact(lambda writing: writing.each("items.store", stray, tenant=TENANT, run_id=run.id))

    bench.advance("30 s")
    bench.drain()
    assert count(brands, "brands_raw_items") == 2, "two pages of three came, and nothing was changed"
    settle()

    assert [index for (index,) in rows(brands, "select item_index from brands_raw_items order by 1")] == [*range(50)]
    assert len(sandbox.books.requests(path=ITEMS)) > 4


@pytest.mark.proves("IN-07")
def test_a_request_ends_in_time_by_a_clock_that_nobody_sets(install, sandbox, bench):
    brands = install(request_seconds=0.2)
    brand = brands.add(ACME, "Acme")
    (connection,) = connect(brands, brand)
    sandbox.faults.add("hang", path="/apify/v2/actor-runs/*", seconds=3600, times=None)  # longer than any test may take
    brands.compile(ACME, brand.id)
    bench.drain()
    bench.advance("30 s")

    bench.drain()

    (run,) = runs_of(brands, connection)
    assert (run.finished_at, run.actor_run_id is None) == (None, False)
    assert BrandSettings.load(Settings.load({})).request_seconds == 30


def test_normalizing_a_run_whose_raw_items_are_gone_is_refused(install, settle, bench):
    brands = install(keep_raw_seconds=60.0)
    brand = brands.add(ACME, "Acme")
    (connection,) = connect(brands, brand, settings={"cap": 2})
    brands.compile(ACME, brand.id)
    settle()
    bench.advance("2 min")
    brands.prune(ADMIN)
    (run,) = runs_of(brands, connection)

    with pytest.raises(Permanent, match="are gone"):
        BrandBrain(brands, ACME).normalize_apify_run(run.id, 10)
    assert runs_of(brands, connection) == [run]
