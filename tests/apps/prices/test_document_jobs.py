"""Document 003, lines 1 to 100, each executed or compared: states, heartbeats, reclaiming, claims, backoff, keys."""

from __future__ import annotations

import logging
import re

import pytest

from haulwright.apps.prices.compat import STATUSES, DocumentPoint, ScrapeWorker, document_key
from haulwright.apps.prices.keys import dedupe_key
from haulwright.apps.prices.points import Observed, put
from haulwright.apps.prices.retry import COLLECT_RETRY
from haulwright.apps.prices.settings import PriceSettings
from haulwright.engine.ids import new_id
from haulwright.engine.lease import renewal_seconds
from haulwright.settings import Settings
from haulwright.stores.books import book
from tests.apps.prices.scenes import WHO, World, listed, offer

line = pytest.mark.line
PAGE = "applications/prices.md"
POINT = {
    "external_id": None,
    "url": "https://shop.example/items/1?ref=mail#top",
    "title": "  Ardish   CROWN ",
    "price_cents": 4200,
    "date": "2026-09-01",
    "price_type": "sold",
}


@pytest.fixture
def words(prices):
    return ScrapeWorker(prices, "worker-1")


@pytest.fixture
def job_id(world):
    world.source()
    (made,) = world.prices.collect(WHO, world.intake().intake_id)
    return made.id


def row(world, columns="status"):
    """The only job, as the view shows it."""
    values = world.rows(f"select {columns} from scrape_jobs")[0]  # noqa: S608 - as written above
    return values[0] if len(values) == 1 else tuple(values)


@line("9-17", "pending, running, succeeded; or retryable and running again; or failed; and back to pending when stuck")
@line("21-25", "the states are pending, running, retryable, succeeded and failed")
def test_there_are_the_five_states():
    assert set(STATUSES) == {"pending", "running", "retryable", "succeeded", "failed"}


@line("21", "a job is pending at first, and ready to be claimed")
@line("22", "a job that a worker processes is running")
@line("24", "a job that completed is succeeded")
@line("29", "pending to running is one atomic claim: nobody else gets it")
@line("30", "running to succeeded when it completes")
@line("56", "only one worker can claim a job")
@line("63", "several workers never process one job at a time")
def test_from_pending_through_running_to_succeeded(world, words, job_id):
    assert row(world) == "pending"

    assert words.claim_next_pending_job()["id"] == job_id
    assert ScrapeWorker(world.prices, "worker-2").claim_next_pending_job() is None
    assert row(world) == "running"
    assert words.mark_succeeded(job_id)

    assert row(world) == "succeeded"


@line("25", "failed is final")
@line("31", "running to failed by an error for good")
def test_an_error_for_good(world, words, job_id):
    words.claim_next_pending_job()
    words.mark_failed(job_id, "no such page")
    world.bench.advance("25 h")

    assert (row(world), words.claim_next_pending_job()) == ("failed", None)


@line("23", "a job that met a passing error is retryable until its backoff is over")
@line("33", "retryable to running when next_retry_at has passed, looked at by the claim")
@line("71", "next_retry_at says when it is tried again")
@line("72", "it can be claimed only after that")
def test_a_passing_error(world, words, job_id):
    words.claim_next_pending_job()
    words.mark_retryable(job_id, "connection reset")
    assert row(world, "status, next_retry_at is not null") == ("retryable", 1)

    world.bench.advance("59 s")
    assert words.claim_next_pending_job() is None
    world.bench.advance("2 s")

    assert words.claim_next_pending_job()["id"] == job_id
    assert row(world) == "running"


@pytest.mark.parametrize("fault", [{"code": 503}, {"kind": "refuse"}], ids=["server", "connection"])
@line("32", "running to retryable by a passing error: a time-out, a lost connection")
def test_errors_that_pass(world, fault):
    world.page()
    world.sandbox.faults.add(fault.get("kind", "status"), path="/shop/coinhall/page/odd", code=fault.get("code", 500))
    world.collect(world.intake())

    assert row(world) == "retryable"


@line(
    "32",
    "running to retryable by a rate limit",
    differs="it waits as long as the server asks, and burns no attempt",
    page=f"{PAGE}#what-goes-wrong",
)
def test_a_rate_limit_is_a_passing_error(world):
    world.page()
    world.sandbox.faults.add("rate_limit", path="/shop/coinhall/page/odd", retry_after=600)
    world.collect(world.intake())

    assert row(world) == "retryable"


@line("34", "running to pending when there was no heartbeat for JOB_LOCK_TIMEOUT_SECONDS")
@line("43", "a job whose heartbeat stops is stuck")
@line("50", "a job is stuck when its heartbeat is older than 300 seconds")
@line("51", "it is reset to pending, and can be claimed")
def test_a_stuck_job_is_reset(world, words, job_id):
    words.claim_next_pending_job()
    world.bench.advance("299 s")
    assert words.reclaim_stuck_jobs() == 0
    world.bench.advance("2 s")

    assert words.reclaim_stuck_jobs() == 1
    assert row(world) == "pending"
    assert ScrapeWorker(world.prices, "worker-2").claim_next_pending_job()["id"] == job_id


@line("40", "a worker sends a heartbeat every 20 seconds")
def test_a_heartbeat_every_20_seconds(prices):
    assert renewal_seconds(prices.collect_task.options.lease_us) == 20


@line("42", "a heartbeat updates heartbeat_at")
def test_a_heartbeat_moves_its_time(world, words, job_id):
    words.claim_next_pending_job()
    first = row(world, "heartbeat_at")
    world.bench.advance("20 s")

    assert words.heartbeat(job_id)
    assert row(world, "heartbeat_at") > first


@line("49", "stuck jobs are looked for every 60 seconds at least")
def test_stuck_jobs_are_looked_for_once_a_minute():
    assert Settings.load({})["stale_check_interval_seconds"] == 60


@line("50", "JOB_LOCK_TIMEOUT_SECONDS is 300 unless the environment says otherwise")
def test_the_lock_time_out_comes_from_the_environment():
    usual, ours = ({}, {"JOB_LOCK_TIMEOUT_SECONDS": "77"})

    assert PriceSettings.load(Settings.load(usual)).lease_seconds == 300
    assert PriceSettings.load(Settings.load(ours)).lease_seconds == 77


@line("50", "it is the worker's: what a worker claims it holds for so long")
def test_the_lock_time_out_is_the_workers(world, job_id, monkeypatch):
    monkeypatch.setenv("JOB_LOCK_TIMEOUT_SECONDS", "60")
    worker = World.open(world.bench, world.sandbox)
    ScrapeWorker(worker.prices, "worker-1").claim_next_pending_job()
    world.bench.advance("61 s")

    assert (ScrapeWorker(world.prices, "worker-2").reclaim_stuck_jobs(), row(world)) == (1, "pending")
    assert job_id


@line(
    "52",
    "reclaiming counts an attempt",
    differs="attempts are counted once, at the claim; losses have a counter of their own",
    page="explanation/life-of-a-job.md#the-life-of-a-job",
)
def test_reclaiming_counts_an_attempt(world, words, job_id):
    words.claim_next_pending_job()
    before = row(world, "attempts")
    world.bench.advance("301 s")
    words.reclaim_stuck_jobs()

    assert job_id
    assert row(world, "attempts") == before + 1


@line("52", "the log names the worker that held a reclaimed job")
def test_the_log_names_who_held_it(world, words, job_id, caplog):
    words.claim_next_pending_job()
    world.bench.advance("301 s")
    with caplog.at_level(logging.INFO):
        world.bench.drain(limit=0)
    told = [str(event.data) for event in world.app.store.events.latest(name="job.lease_expired")]

    assert job_id
    assert "worker-1" in caplog.text + "".join(told)


@line(
    "29",
    "the claim is a function of the database, claim_next_pending_job",
    differs="a database file has no functions: a method there",
    page="applications/prices.md#from-code",
    on="sqlite",
)
def test_the_claim_is_a_function_of_the_database(world):
    functions = {
        "postgres": "select count(*) from pg_proc where proname = 'claim_next_pending_job'",
        "sqlite": "select count(*) from pragma_function_list where name = 'claim_next_pending_job'",
    }

    assert world.rows(functions[world.bench.store.database.dialect]) != [(0,)]


@line(
    "58",
    "the claim selects FOR UPDATE SKIP LOCKED",
    differs="SQLite has one writer at a time and no row locks; the same claim is atomic there",
    page="decisions/0004-a-claim-is-a-walk-and-an-update.md#4-a-claim-is-a-walk-and-an-update",
    on="sqlite",
)
def test_the_claim_skips_locked_rows(world):
    claims = book("haulwright.stores", world.bench.store.database.dialect, "jobs")

    assert any("skip locked" in " ".join(texts).lower() for name, texts in claims.items() if "claim" in name)


@line("59", "the claim sets status, locked_by, locked_at and heartbeat_at at once")
@line("60", "in one transaction")
def test_what_a_claim_sets(world, words, job_id):
    words.claim_next_pending_job()

    assert job_id
    assert row(world, "status, locked_by, locked_at is not null, heartbeat_at = locked_at") == (
        "running",
        "worker-1",
        1,
        1,
    )


@line("60", "the claim returns the job itself, as scrape_jobs has it")
def test_a_claim_returns_the_job(words, job_id):
    claimed = words.claim_next_pending_job()

    assert claimed["id"] == job_id
    assert {"query_params", "locked_at", "heartbeat_at", "next_retry_at"} <= set(claimed)


@line(
    "61",
    "the claim takes stuck jobs as well",
    differs="only reclaiming takes a job away, so that losses are counted in one place",
    page="requirements.md#claims-and-leases-clm",
)
def test_a_claim_takes_a_stuck_job(world, words, job_id):
    words.claim_next_pending_job()
    world.bench.advance("301 s")

    claimed = ScrapeWorker(world.prices, "worker-2").claim_next_pending_job()

    assert claimed is not None
    assert claimed["id"] == job_id


@line("69", "the wait is base_delay_minutes doubled with each retry")
@line("70", "a wait is at most 24 hours")
def test_the_waits_between_retries():
    minutes = [COLLECT_RETRY.delay_us(attempt, lambda: 0.5) / 60e6 for attempt in (1, 2, 3, 4, 11, 12, 99)]

    assert minutes == [1, 2, 4, 8, 1024, 1440, 1440]


@line("69", "base_delay_minutes can be set")
def test_the_base_of_the_waits_is_a_setting():
    assert [figure for figure in PriceSettings.figures() if "delay" in figure.name or "retry" in figure.name]


@line(
    "80",
    "a point with an external id has the key ext_ and that id",
    differs="type, day and currency are in it too: an asking price and its sale are two; document_key gives theirs",
    page=f"{PAGE}#which-prices-are-the-same",
)
def test_the_key_of_a_point_with_an_id():
    assert dedupe_key(offer(external_id="123456"), "2026-09-01") == "ext_123456"


@line("80", "document_key gives ext_ and the external id")
@line("87", "document_key gives hash_ and the first 16 digits of a SHA-256")
def test_the_keys_of_the_document():
    assert document_key(DocumentPoint(**{**POINT, "external_id": "123456"})) == "ext_123456"
    assert re.fullmatch(r"hash_[0-9a-f]{16}", document_key(DocumentPoint(**POINT)))


@line(
    "87",
    "a point without an id has the key hash_ and 16 digits",
    differs="all 64 digits of it: 16 collide sooner",
    page=f"{PAGE}#which-prices-are-the-same",
)
def test_the_key_of_a_point_without_an_id():
    assert re.fullmatch(r"hash_[0-9a-f]{16}", dedupe_key(offer(external_id=None), "2026-09-01"))


@pytest.mark.parametrize(
    ("change", "same"),
    [
        pytest.param(
            {"url": "https://shop.example/items/1"},
            True,
            marks=line("82", "query and fragment of the URL do not count"),
        ),
        pytest.param({"url": "https://shop.example/items/2"}, False, marks=line("82", "the URL counts")),
        pytest.param({"title": "ardish crown"}, True, marks=line("83", "case and spaces of the title do not count")),
        pytest.param({"title": "ardish penny"}, False, marks=line("83", "the title counts")),
        pytest.param({"price_cents": 4201}, False, marks=line("84", "the price in cents counts")),
        pytest.param({"date": "2026-09-02"}, False, marks=line("85", "the day counts")),
        pytest.param({"price_type": "ask"}, False, marks=line("86", "the kind of price counts: sold, ask or bid")),
    ],
)
def test_what_the_document_makes_its_key_of(change, same):
    assert (document_key(DocumentPoint(**POINT)) == document_key(DocumentPoint(**{**POINT, **change}))) is same


@line(
    "82",
    "all parameters of the URL are removed from ours too",
    differs="only those that say who sent the visitor: shops name their items in the others",
    page=f"{PAGE}#which-prices-are-the-same",
)
def test_the_whole_query_is_removed(world):
    world.page()
    world.answer("odd", *(listed(id=None, url=f"https://shop.example/item?id={number}") for number in (1, 2)))
    intake = world.intake()
    world.collect(intake)

    assert len(world.points(intake)) == 1


@pytest.fixture
def observe(world):
    """Writes what one collection saw, and how many points of the intake there are then, with price and match."""
    intake, source = world.intake(year="1887"), world.source()

    def write(*offers, at=1):
        observed = Observed(intake, source, new_id(), "2026-09-01", at, offers, [])
        world.prices.tables.transact(lambda writing: put(writing, observed))
        return [(one.minor, one.match_strength) for one in world.points(intake)]

    return write


@line("89", "intake, source and key are unique together")
def test_intake_source_and_key_are_unique_together(world, observe):
    observe(offer())
    indexes = {
        "sqlite": "select group_concat(name) from pragma_table_info('prices_points') where pk",
        "postgres": "select string_agg(attname, ',') from pg_index join pg_attribute on attrelid = indrelid and "
        "attnum = any(indkey) where indisprimary and indrelid = 'prices_points'::regclass",
    }
    ((columns,),) = world.rows(indexes[world.bench.store.database.dialect])

    assert set(columns.split(",")) == {"tenant", "intake_id", "source_id", "dedupe_key"}


@line("91-92", "a stronger match replaces the row that is there")
def test_a_stronger_match_replaces(observe):
    observe(offer(title="Ardisch krown 1887", minor=1))

    assert observe(offer(minor=2)) == [(2, 100)]


@line("93", "a weaker match changes nothing")
def test_a_weaker_match_changes_nothing(observe):
    observe(offer(minor=2))

    assert observe(offer(title="Ardisch krown 1887", minor=1), at=2) == [(2, 100)]


@line(
    "93",
    "an equal match changes nothing",
    differs="of two equal matches the newer one stays",
    page=f"{PAGE}#which-prices-are-the-same",
)
def test_an_equal_match_changes_nothing(observe):
    observe(offer(minor=1), at=1)

    assert observe(offer(minor=2), at=2) == [(1, 100)]


@line("85", "a sale that tells no day is one point, however often it is seen")
def test_a_sale_without_a_date_is_one_point(world):
    world.page(cache="0 s")
    intake = world.intake()
    for _ in range(3):
        world.answer("odd", listed(sold_at=None))
        world.collect(intake)
        world.bench.advance("1 day")

    assert len(world.points(intake)) == 1


@line("97-99", "an intake has one valuation, by a constraint of the database")
@line("100", "a new one updates it")
def test_an_intake_has_one_valuation(world):
    world.source()
    intake = world.intake()
    for _ in range(2):
        world.collect(intake)
        world.bench.advance("2 days")
    keys = {
        "sqlite": "select group_concat(name) from pragma_table_info('prices_valuations') where pk",
        "postgres": "select string_agg(attname, ',') from pg_index join pg_attribute on attrelid = indrelid and "
        "attnum = any(indkey) where indisprimary and indrelid = 'prices_valuations'::regclass",
    }

    assert world.rows("select intake_id from valuations") == [(intake.intake_id,)]
    ((columns,),) = world.rows(keys[world.bench.store.database.dialect])
    assert set(columns.split(",")) == {"tenant", "intake_id"}
