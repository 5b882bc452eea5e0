"""Document 000, ingestion and caps (lines 395 to 494, 571 to 581, 699 to 1008), each executed or compared."""

from __future__ import annotations

import inspect
import json
import logging
from contextlib import closing

import pytest

from haulwright import Haulwright
from haulwright.apps.brands import compat
from haulwright.apps.brands.application import Brands
from haulwright.apps.brands.compat import BrandBrain
from haulwright.apps.brands.evidence.bundle import BundleCaps, bundle
from haulwright.apps.brands.settings import BrandSettings
from haulwright.settings import Settings
from haulwright.sources.apify import SUCCEEDED, TERMINAL, ActorRun, ApifyError, ApifyTimeoutError
from haulwright.sources.apify import errors as apify_errors
from tests.apps.brands.scenes import ACME, POSTS, SIX, connect, count, rows, runs_of
from tests.apps.brands.test_bad_items import give, post

line = pytest.mark.line
PAGE = "applications/brands.md"
POLLS = "/apify/v2/actor-runs/*"


@pytest.fixture
def bought(brands, brand, settle):
    """A source that was compiled once, with its run."""
    (connection,) = connect(brands, brand, settings={"cap": 6})
    brands.compile(ACME, brand.id)
    settle()
    return connection, runs_of(brands, connection)[0]


@pytest.fixture
def hurried(database_url, sandbox, monkeypatch):
    """Brands by the database's own clock, with runs that take no time."""
    monkeypatch.setenv("APIFY_TOKEN", "token-of-mine")
    monkeypatch.setenv("APIFY_BASE_URL", f"{sandbox.url}/apify")
    sandbox.apify.script(duration_seconds=0, times=None)
    with closing(Haulwright(database_url)) as app:
        yield Brands(app, figures=BrandSettings.load(poll_interval_seconds=0.05))


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


@line(
    "704-709",
    "a poll takes 180 seconds at 3 by default",
    differs="300 at 5, as the ingestion has it, in one setting",
    page=f"{PAGE}#settings",
)
def test_the_defaults_of_a_poll():
    figures = BrandSettings.load(Settings.load({}))

    assert (figures.poll_timeout_seconds, figures.poll_interval_seconds) == (180, 3)


@line("785-789", "an ingestion polls for 300 seconds at 5")
def test_the_figures_of_a_poll():
    figures = BrandSettings.load(Settings.load({}))

    assert (figures.poll_timeout_seconds, figures.poll_interval_seconds) == (300, 5)


@line("785-789", "these are DEFAULT_POLL_TIMEOUT_S and DEFAULT_POLL_INTERVAL_S")
def test_the_names_of_these_figures():
    assert (compat.DEFAULT_POLL_TIMEOUT_S, compat.DEFAULT_POLL_INTERVAL_S) == (300, 5)


@line("456-461", "a run is polled until it is over")
@line("729-730", "in a loop")
@line("793-799", "by the ingestion")
@line("725", "a run is polled at /v2/actor-runs/ and its id")
def test_the_address_of_a_poll(sandbox, bought):
    _, run = bought

    assert sandbox.books.count(path=f"/apify/v2/actor-runs/{run.actor_run_id}", method="GET") > 0


@line("726", "the time-out goes by a monotonic clock")
@line("830", "clocks that are set do not change it")
def test_a_clock_that_is_set_ends_no_run(brands, brand, sandbox, bench):
    sandbox.apify.script(ending="NEVER")
    connect(brands, brand)
    brands.compile(ACME, brand.id)
    bench.drain()
    bench.advance("5 s")
    bench.drain()
    before = sandbox.clock.now()
    bench.advance("10 min")  # our clock is set; only seconds have passed, as Apify's shows
    sandbox.clock.set(before + 5)
    bench.drain()

    assert "ABORTED" not in [one.status(sandbox.clock.now()) for one in sandbox.apify.runs()]


@pytest.fixture
def endless(brands, brand, sandbox, settle):
    """A run that never ends, until we gave it up."""
    sandbox.apify.script(ending="NEVER")
    (connection,) = connect(brands, brand)
    compiled = brands.compile(ACME, brand.id)
    settle()
    return runs_of(brands, connection)[0], brands.compile_run(ACME, compiled.id)


@line("731-734", "a poll that takes too long says: Polling timed out after 300s")
@line("800-807", "the run is TIMED_OUT, finished, with that error")
@line("833", "it is saved before the step returns")
@line("836", "and the ingestion has failed")
def test_a_run_that_takes_too_long(endless):
    run, compiled = endless
    (failed,) = compiled.evidence_status["failed"]

    assert (run.status.upper(), run.finished_at is not None) == ("TIMED_OUT", True)
    assert run.error.startswith("Polling timed out after 300s")
    assert failed["error"].startswith("Polling timed out")


@line("722", "its error is an ApifyTimeoutError")
@line("732", "and is raised as one")
def test_the_class_of_a_time_out(endless):
    assert endless[0].error_class == "ApifyTimeoutError"


@line("800-807", "it is so while Apify answers nothing but errors")
def test_a_run_that_takes_too_long_while_apify_is_down(brands, brand, sandbox, bench):
    (connection,) = connect(brands, brand)
    brands.compile(ACME, brand.id)
    bench.drain()
    sandbox.faults.add("status", path=POLLS, code=500, times=None)
    for _ in range(40):
        bench.advance("30 s")
        bench.drain()

    (run,) = runs_of(brands, connection)
    assert (run.finished_at is not None, run.error is not None) == (True, True)


@line("737", "one request takes 30 seconds at most")
@line("831", "so that no single request hangs")
def test_the_limit_of_one_request():
    assert BrandSettings.load(Settings.load({})).request_seconds == 30


@line("723", "errors of Apify are ApifyErrors")
@line("738-746", "they have status code and body")
def test_errors_of_apify():
    error = apify_errors.refusal("GET run", 500, b"no room")

    assert isinstance(error, ApifyError)
    assert (error.status_code, error.body) == (500, "no room")
    assert issubclass(ApifyTimeoutError, ApifyError)


@pytest.mark.parametrize("name", ["actId", "actorId"])
@line("748-750", "either spelling of the actor's id is understood")
def test_both_spellings_of_an_actor(name):
    document = {
        "id": "r1",
        name: "a1",
        "status": "RUNNING",
        "defaultDatasetId": "d1",
        "startedAt": "2024-01-01T00:00:00Z",
    }

    assert ActorRun.parse(document).actor_id == "a1"


@line("773-775", "SUCCEEDED, FAILED, TIMED-OUT and ABORTED are the ends of a run")
@line("753-759", "a run that is over is polled no more")
@line("832", "the ends are known by name")
def test_the_ends_of_a_run():
    assert set(TERMINAL) == {"SUCCEEDED", "FAILED", "TIMED-OUT", "ABORTED"}


@line("777-779", "only SUCCEEDED is a success")
def test_only_one_end_is_a_success():
    assert SUCCEEDED == "SUCCEEDED"


PATIENT = {
    "differs": "it is asked again until its time is over: a paid run is not given up for one lost answer",
    "page": "explanation/differences.md#brands",
}


@line("837", "a network error while polling makes the run FAILED", **PATIENT)
@line("838", "an answer other than 200 makes the run FAILED", **PATIENT)
@line("814-826", "an ApifyError while polling ends the ingestion", **PATIENT)
def test_one_bad_answer_ends_a_run(brands, brand, sandbox, settle):
    sandbox.faults.add("status", path=POLLS, code=502, times=1)
    (connection,) = connect(brands, brand)
    brands.compile(ACME, brand.id)
    settle()

    assert runs_of(brands, connection)[0].status == "FAILED"


@line("839", "a run that somebody aborted is known as ABORTED")
def test_a_run_that_was_aborted(brands, brand, sandbox, settle):
    sandbox.apify.script(ending="ABORTED")
    (connection,) = connect(brands, brand)
    compiled = brands.compile(ACME, brand.id)
    settle()

    assert runs_of(brands, connection)[0].status == "ABORTED"
    assert brands.compile_run(ACME, compiled.id).evidence_status["failed"][0]["apify_run_status"] == "ABORTED"


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("Polling run", marks=line("727", "a poll is logged")),
        pytest.param("Run completed", marks=line("754-758", "the end of a run is logged")),
        pytest.param("still in progress", marks=line("761-766", "a run that goes on is logged for debugging")),
        pytest.param("Started Apify run", marks=line("861-866", "the start of a run is logged")),
        pytest.param("raw items", marks=line("894-898", "what was stored is logged")),
        pytest.param("created=", marks=line("911-916", "what was normalized is logged")),
    ],
)
def test_a_run_is_logged(brands, brand, settle, caplog, words):
    with caplog.at_level(logging.DEBUG):
        connect(brands, brand, settings={"cap": 2})
        brands.compile(ACME, brand.id)
        settle()

    assert words in caplog.text


@line("808-812", "a time-out is logged")
def test_a_time_out_is_logged(brands, brand, sandbox, settle, caplog):
    sandbox.apify.script(ending="NEVER")
    connect(brands, brand)
    with caplog.at_level(logging.WARNING):
        brands.compile(ACME, brand.id)
        settle()

    assert "timed out" in caplog.text


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
