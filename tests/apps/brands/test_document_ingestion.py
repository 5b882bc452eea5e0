"""Document 000, ingestion and caps (lines 395 to 494, 571 to 581, 848 to 909), each executed or compared."""

from __future__ import annotations

import inspect
import json

import pytest

from haulwright.apps.brands import compat
from haulwright.apps.brands.compat import BrandBrain
from haulwright.apps.brands.evidence.bundle import BundleCaps, bundle
from haulwright.apps.brands.settings import BrandSettings
from tests.apps.brands.scenes import ACME, POSTS, SIX, connect, rows, runs_of

line = pytest.mark.line


@line("400-406", "ingest_source takes poll_timeout_s, poll_interval_s and apify_client")
def test_the_signature_of_ingest_source():
    assert {"poll_timeout_s", "poll_interval_s", "apify_client"} <= set(
        inspect.signature(BrandBrain.ingest_source).parameters
    )


@line("410-417", "specification, capped input, run, polls, capped fetch, raw items, normalization: in this order")
def test_the_steps_of_an_ingestion(brands, sandbox, bought):
    _, run = bought
    asked = [(one.method, one.path.split("/")[3]) for one in sandbox.books.requests(service="apify")]
    told = [event.name for event in brands.app.store.events.latest() if event.name.startswith("brand.run_")]

    assert asked[0] == ("POST", "actors")
    assert asked.index(("GET", "datasets")) > asked.index(("GET", "actor-runs"))
    assert told == ["brand.run_started", "brand.run_ended", "brand.run_fetched", "brand.run_normalized"]
    assert run.normalized_at >= run.fetched_at >= run.started_at


@line("419", "the result names the connection")
@line("454", "and the run, by the id of our own row")
@line("489-493", "and the counts of what was created and updated, with success")
@line("892", "and how many raw items there were")
@line("907-909", "success is set when it is normalized")
def test_the_result_of_an_ingestion(hurried):
    (connection,) = connect(hurried, hurried.add(ACME, "Acme"), settings={"cap": 3})
    result = BrandBrain(hurried, ACME).ingest_source(connection, poll_interval_s=0.05)

    (run,) = runs_of(hurried, connection)
    assert (result.source_connection_id, result.success, result.apify_run_id) == (connection.id, True, run.id)
    assert (result.raw_items_count, result.normalized_items_created, result.normalized_items_updated) == (3, 3, 0)


@line("421-424", "a capability that is switched off is an error in these words, and costs nothing")
def test_a_disabled_capability(install, sandbox, monkeypatch):
    monkeypatch.setenv("HAULWRIGHT_BRANDS_DISABLED", "instagram.posts")
    brands = install()
    (connection,) = connect(brands, brands.add(ACME, "Acme"))

    result = BrandBrain(brands, ACME).ingest_source(connection.id)

    assert (result.success, result.error) == (False, "Capability instagram.posts is disabled")
    assert sandbox.books.requests() == []


@line("426-430", "an actor that is not known is an error in these words")
def test_an_actor_that_is_not_known(brands, brand):
    (connection,) = connect(brands, brand, SIX[2])
    brands.tables.transact(
        lambda writing: writing._connection.execute("update brands_connections set capability = 'likes'")
    )

    assert BrandBrain(brands, ACME).ingest_source(connection.id).error == "No actor spec for tiktok.likes"


@line("432-434", "the input of the actor has the cap")
@line("577", "the cap is in the input of the actor")
def test_the_cap_is_in_the_input(sandbox, bought):
    assert bought
    assert sandbox.books.paid_runs(POSTS)[0].input["resultsLimit"] == 6


@line("436-441", "ApifyClient is made of token and base_url, and has start_actor_run, poll_run and fetch_dataset_items")
def test_the_client_has_the_documents_names():
    client = compat.ApifyClient

    assert all(hasattr(client, name) for name in ("start_actor_run", "poll_run", "fetch_dataset_items"))


@line("859", "and is what the result names")
@line("443-453", "the run is recorded with actor, input, run, dataset, status, start, connection and brand")
@line("848-858", "as soon as it began")
def test_the_record_of_a_run(brands, brand, sandbox, bench):
    (connection,) = connect(brands, brand)
    brands.compile(ACME, brand.id)
    bench.drain()

    (run,), (paid,) = runs_of(brands, connection), sandbox.books.paid_runs(POSTS)
    assert (run.actor, run.actor_run_id, run.connection_id, run.brand_id) == (POSTS, paid.run, connection.id, brand.id)
    assert json.loads(run.input).items() <= paid.input.items()
    assert run.dataset_id
    assert run.started_at is not None
    assert run.status in {"READY", "RUNNING"}


@line("463-469", "at most the cap is fetched")
@line("578", "the cap limits the fetch of the dataset")
def test_no_more_than_the_cap_is_fetched(brands, brand, sandbox, settle):
    sandbox.apify.script(items=40)
    (connection,) = connect(brands, brand, settings={"cap": 6})
    brands.compile(ACME, brand.id)
    settle()

    (fetched,) = sandbox.books.requests(path="/apify/v2/datasets/*/items")
    assert fetched.query["limit"] == ("6",)
    assert runs_of(brands, connection)[0].raw_item_count == 6


@line("471-485", "raw items are rows with run and index, replaced as a whole in one transaction")
@line("872-886", "delete and create are one")
@line("888-890", "raw_item_count is set with them")
@line("993", "that is atomic")
def test_raw_items_are_rows_with_run_and_index(brands, bought):
    _, run = bought

    assert rows(brands, "select item_index from brands_raw_items order by 1") == [(index,) for index in range(6)]
    assert {str(run_id) for (run_id,) in rows(brands, "select run_id from brands_raw_items")} == {run.id}
    assert run.raw_item_count == 6


@line("487-488", "a run is normalized up to the cap")
@line("904-906", "so it is in the appendix")
@line("579", "normalization reads no more than that")
def test_normalization_reads_no_more_than_it_is_told(brands, bought):
    _, run = bought

    counts = BrandBrain(brands, ACME).normalize_apify_run(run.id, fetch_limit=2)

    assert (counts.created, counts.updated) == (0, 2)


@line("580", "a bundle is capped for each platform and kind")
@line("581", "a bundle is capped as a whole")
def test_a_bundle_is_capped(brands, brand, bought):
    items = brands.evidence(ACME, brand.id, [bought[0].id])

    assert [len(bundle(items, caps).items) for caps in (BundleCaps(per_kind=4), BundleCaps(in_all=5))] == [4, 5]


@line("580-581", "both caps can be set")
def test_the_caps_of_a_bundle_are_settings():
    assert [figure for figure in BrandSettings.figures() if "bundle" in figure.name]
