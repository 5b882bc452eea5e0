"""Document 000, items of evidence (lines 918 to 1008): known by their keys, and written once whatever breaks off."""

from __future__ import annotations

import pytest

from haulwright.apps.brands.compat import BrandBrain
from tests.apps.brands.scenes import ACME, POSTS, SIX, connect, count, rows, runs_of
from tests.apps.brands.test_bad_items import give, post

line = pytest.mark.line
PAGE = "applications/brands.md"


@line("918-925", "a normalization that fails makes the ingestion fail")
def test_a_normalization_that_fails(brands, brand, sandbox, settle):
    give(sandbox, post(1), {"caption": "no id"}, {"caption": "nor here"})
    connect(brands, brand)
    compiled = brands.compile(ACME, brand.id)
    settle()

    (failed,) = brands.compile_run(ACME, compiled.id).evidence_status["failed"]
    assert failed["source"] == "instagram.posts"
    assert failed["error"]


@pytest.fixture
def bought_twice(brands, brand, settle, bench):
    """Buys a source twice, ten days apart, and says which runs that were."""

    def buy(source):
        (connection,) = connect(brands, brand, source)
        for _ in range(2):
            brands.compile(ACME, brand.id)
            settle()
            bench.advance("10 days")
        return runs_of(brands, connection)

    return buy


@pytest.mark.parametrize(
    ("source", "column"),
    [
        pytest.param(SIX[0], "external_id", marks=line("939-940", "what is no page is one by its external_id")),
        pytest.param(SIX[5], "canonical_url", marks=line("941", "a page is one by its canonical_url")),
        pytest.param(SIX[5], "canonical_url", marks=line("955-963", "a page is looked for by its address")),
        pytest.param(SIX[0], "external_id", marks=line("964-971", "anything else by its id")),
    ],
)
def test_what_an_item_is_known_by(brands, bought_twice, source, column):
    newer, older = bought_twice(source)

    names = [name for (name,) in rows(brands, f"select {column} from brands_evidence")]  # noqa: S608 - as written above
    assert len(names) == len(set(names)) == older.normalized_created + newer.normalized_created
    assert newer.normalized_created + newer.normalized_updated == newer.raw_item_count


@line("943-945", "an update merges the references to raw items and refreshes the rest")
@line("1007", "a reference that is there is not added twice")
@line("931-954", "an upsert is one transaction")
@line("979-989", "an upsert says whether it created or updated")
@line("994", "normalization is an upsert by explicit keys")
def test_an_update_merges_references(brands, bought_twice):
    newer, _ = bought_twice(SIX[0])
    BrandBrain(brands, ACME).normalize_apify_run(newer.id, newer.cap)
    both = rows(brands, "select evidence_id from brands_evidence_refs group by evidence_id having count(*) = 2")

    assert len(both) == newer.normalized_updated > 0


@line("972-977", "an item without an id that is no page is rejected")
@line("995", "before anything is written of it")
def test_an_item_without_an_id(brands, brand, sandbox, settle):
    give(sandbox, post(1), post(2), post(3), {"caption": "no id"})
    connect(brands, brand)
    brands.compile(ACME, brand.id)
    settle()

    assert rows(brands, "select reason from brands_quarantine") == [("missing_external_id",)]
    assert count(brands, "brands_evidence") == 3


@line(
    "975",
    "as a ValueError that ends the normalization",
    differs="the item is put aside with its reason, and the good ones are kept",
    page=f"{PAGE}#what-a-compile-does",
)
def test_an_item_without_an_id_ends_the_normalization(brands, brand, sandbox, settle):
    give(sandbox, post(1), post(2), post(3), {"caption": "no id"})
    connect(brands, brand)
    brands.compile(ACME, brand.id)
    settle()

    assert count(brands, "brands_evidence") == 0


@line("1008", "two unique indexes keep it so in the database, one by external id, one by address")
@line("1005-1006", "nothing is written twice on a retry")
def test_the_database_keeps_items_unique(brands, bought):
    assert bought
    indexes = {
        "sqlite": "select name from sqlite_master where sql like 'create unique%'",
        "postgres": "select indexname from pg_indexes where indexdef like 'CREATE UNIQUE%'",
    }
    names = {name for (name,) in rows(brands, indexes[brands.app.store.database.dialect])}

    assert {"brands_evidence_external_id", "brands_evidence_web_canonical_url"} <= names


@line(
    "1008",
    "they are called uniq_nei_external_id and uniq_nei_web_canonical_url",
    differs="they have names of ours, so that they can be made beside a team's own",
    page="decisions/0022-views-under-a-prefix-of-our-own.md",
)
def test_the_names_of_the_unique_indexes(brands):
    indexes = {
        "sqlite": "select name from sqlite_master where type = 'index'",
        "postgres": "select indexname from pg_indexes where schemaname = current_schema()",
    }

    assert ("uniq_nei_external_id",) in rows(brands, indexes[brands.app.store.database.dialect])


ORPHANS = {
    "differs": "the run is found by its marker and gone on with: it is paid for once",
    "page": f"{PAGE}#what-a-compile-does",
}


@line("1001", "a crash after the run began buys another and leaves an orphan", **ORPHANS)
def test_a_crash_after_the_start_buys_another_run(brands, brand, sandbox, bench, settle):
    connect(brands, brand, settings={"cap": 2})
    brands.compile(ACME, brand.id)
    with bench.crash(brands.refresh_task, after="start"):
        settle()

    assert len(sandbox.books.paid_runs(POSTS)) == 2


@line("1002", "a crash between raw items and normalization does so too", **ORPHANS)
def test_a_crash_before_the_normalization_buys_another_run(brands, brand, sandbox, bench, settle):
    (connection,) = connect(brands, brand, settings={"cap": 2})
    compiled = brands.compile(ACME, brand.id)
    bench.drain()
    (run,), (source,) = runs_of(brands, connection), brands.status(ACME, compiled.id).sources
    with bench.crash(brands.refresh_task, before=f"normalize:{run.id}:{source.job_id}"):
        settle()

    assert len(sandbox.books.paid_runs(POSTS)) == 2


@line("1003", "normalizing again does no harm")
def test_normalizing_again_does_no_harm(brands, bought):
    _, run = bought
    before = rows(brands, "select id, body from brands_evidence order by id")

    counts = BrandBrain(brands, ACME).normalize_apify_run(run.id, run.cap)

    assert (counts.created, counts.updated) == (0, 6)
    assert rows(brands, "select id, body from brands_evidence order by id") == before
