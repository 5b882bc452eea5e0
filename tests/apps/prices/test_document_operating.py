"""Document 003, lines 102 to 249, each executed or compared: workers side by side, governed sources, operators."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from haulwright import Haulwright
from haulwright.apps.prices.compat import ScrapeWorker
from haulwright.apps.prices.query import cache_key
from haulwright.clock import CLOCK_VARIABLE, TESTING_VARIABLE
from haulwright.settings import Settings
from tests.apps.prices.scenes import TENANT, WHO

line = pytest.mark.line
PAGE = "applications/prices.md"
REPOSITORY = Path(__file__).parents[3]
IN_SQL = {"differs": "SQLite has no intervals: datetime('now', '-5 minutes')", "page": f"{PAGE}#in-sql", "on": "sqlite"}


def ask(database_url, statement):
    """What a person at the database's own prompt gets."""
    opened = sqlite3.connect if database_url.startswith("sqlite") else psycopg.connect
    with closing(opened(database_url.removeprefix("sqlite:///"))) as connection:
        try:
            cursor = connection.execute(statement)
            return [tuple(row) for row in cursor.fetchall()] if cursor.description else []
        except (sqlite3.Error, psycopg.Error) as refused:
            return pytest.fail(str(refused))


@pytest.fixture
def collected(world):
    """An intake that was collected once."""
    world.source()
    intake = world.intake()
    world.collect(intake)
    return intake


@pytest.fixture
def held(world):
    """A job that a worker claimed, and has been silent about since 2020."""
    world.bench.freeze(datetime(2020, 1, 1, tzinfo=UTC))
    world.source()
    (made,) = world.prices.collect(WHO, world.intake().intake_id)
    ScrapeWorker(world.prices, "worker-1").claim_next_pending_job()
    return made.id


@line("108", "the migrations make every table: heartbeats and recovery are in them")
def test_the_migrations_make_what_the_document_names(database_url):
    for name in ("scrape_jobs", "coin_intakes", "sources", "price_points", "valuations"):
        assert ask(database_url, f"select count(*) from {name}") == [(0,)]  # noqa: S608 - as written above


@line(
    "112-123",
    "an INSERT into scrape_jobs makes twenty jobs",
    differs="scrape_jobs is a view for reading; price collect makes jobs, one for an intake and source",
    page=f"{PAGE}#in-sql",
)
def test_jobs_are_made_by_an_insert(collected, database_url):
    assert collected
    many = {
        "sqlite": "(with recursive n(i) as (select 1 union all select i + 1 from n where i < 20) select i from n)",
        "postgres": "generate_series(1, 20)",
    }["sqlite" if database_url.startswith("sqlite") else "postgres"]
    statement = """INSERT INTO scrape_jobs (intake_id, source_id, query_params, status)
        SELECT (SELECT id FROM coin_intakes LIMIT 1),
               (SELECT id FROM sources WHERE enabled = true LIMIT 1), '{}', 'pending' FROM """
    ask(database_url, statement + many)


@line("128", "docker-compose starts a worker", missing="deployment files")
def test_compose_starts_a_worker():
    assert list(REPOSITORY.glob("*compose*.y*ml")) or list(REPOSITORY.glob("*/*compose*.y*ml"))


@line("127", "WORKER_ID names a worker")
@line("131-132", "a worker is started as a program of its own")
def test_a_worker_is_started_with_its_name(world, database_url, tmp_path):
    world.source()
    world.prices.collect(WHO, world.intake().intake_id)
    environ = {**os.environ, "HAULWRIGHT_DATABASE_URL": database_url, "WORKER_ID": "worker-2"}
    environ |= {CLOCK_VARIABLE: str(tmp_path / "haulwright-clock"), TESTING_VARIABLE: "1"}
    environ["HAULWRIGHT_PRICES_PRIVATE_HOSTS"] = "127.0.0.1"
    command = [sys.executable, "-m", "haulwright.apps.prices", "--until-empty"]
    subprocess.run(command, env=environ, capture_output=True, timeout=100, check=True)

    assert world.rows("select status, locked_by from scrape_jobs") == [("succeeded", "worker-2")]


@line("137-145", "the query for what each worker processed runs as it is written")
def test_the_query_by_worker(held, database_url):
    assert held
    assert ask(
        database_url,
        """SELECT status, locked_by, COUNT(*) as count FROM scrape_jobs
           WHERE status IN ('succeeded', 'failed', 'running') GROUP BY status, locked_by""",
    ) == [("running", "worker-1", 1)]


@line("147-156", "the query for duplicate points runs as it is written, and finds none")
def test_the_query_for_duplicates(world, collected, database_url):
    assert world.points(collected)
    assert (
        ask(
            database_url,
            """SELECT intake_id, source_id, dedupe_key, COUNT(*) as count FROM price_points
               GROUP BY intake_id, source_id, dedupe_key HAVING COUNT(*) > 1""",
        )
        == []
    )


@line("168-178", "the query for stuck jobs runs as it is written", **IN_SQL)
def test_the_query_for_stuck_jobs(held, database_url):
    stuck = ask(
        database_url,
        """SELECT id, status, locked_by, heartbeat_at, NOW() - heartbeat_at as time_since_heartbeat FROM scrape_jobs
           WHERE status = 'running' AND heartbeat_at < NOW() - INTERVAL '5 minutes'""",
    )

    assert [(str(row[0]), *row[1:3]) for row in stuck] == [(held, "running", "worker-1")]


@line("184", "each source has a bucket of tokens of its own")
@line("186", "over the rate a job waits")
def test_each_source_has_its_own_rate(world):
    for name in ("one", "two"):
        world.page(name, rate="1/min")
        world.answer(name, times=None)
    jobs = [job for title in ("Ardish crown", "Ardish penny") for job in world.collect(world.intake(title))]

    states = sorted((world.bench.store.listing.get(job.id).waiting_on or "done") for job in jobs)

    assert states[:2] == ["done", "done"]
    assert all(state.startswith("source:price-") for state in states[2:])


@line("185", "rate_limit_per_minute is in sources")
def test_the_rate_of_a_source_is_shown(world, database_url):
    world.source(rate="45/min")

    assert ask(database_url, "select name, rate_limit_per_minute from sources") == [("coinhall", 45.0)]


@line(
    "185",
    "it is configured there",
    differs="sources is a view for reading; price source and source set configure it, for all workers at once",
    page=f"{PAGE}#in-sql",
)
def test_the_rate_of_a_source_is_configured_in_sources(world, database_url):
    world.source()
    ask(database_url, "update sources set rate_limit_per_minute = 10")


def failing(world, times):
    """A source that failed so often in a row."""
    world.page()
    world.sandbox.faults.add("status", path="/shop/coinhall/page/odd", code=503, times=times)
    for number in range(times):
        world.collect(world.intake(f"Ardish crown {number}"))
    return world.prices.sources.health(TENANT)[0]


@line("190", "failure_streak counts failures in a row")
def test_failures_in_a_row_are_counted(world, database_url):
    failing(world, 3)

    assert ask(database_url, "select failure_streak from sources") == [(3,)]


@line("191", "five failures in a row pause a source")
@line("192", "paused_until is five minutes later")
@line("193", "a source is looked at before each collection")
def test_five_failures_pause_a_source_for_five_minutes(world):
    health = failing(world, 5)
    asked = len(world.sandbox.books.requests(path="/shop/*"))
    (waiting,) = world.collect(world.intake("another"))

    assert health["failure_streak"] == 5
    assert health["paused_until"].startswith("2026-09-01 12:05")
    assert waiting.waiting_on.startswith("source:price-odd@acme")
    assert len(world.sandbox.books.requests(path="/shop/*")) == asked


@line(
    "197",
    "answers are kept in a SQLite file of their own, in a Docker volume",
    differs="they are in the database of everything else",
    page="explanation/differences.md#prices",
)
def test_answers_are_in_a_file_of_their_own(world, collected, tmp_path):
    assert collected
    files = {path.name for path in tmp_path.rglob("*.db") if path.name != "haulwright.db"}
    assert world
    assert files


@pytest.mark.parametrize("field", ["year", "mintmark", "denomination", "series", "title"])
@line("198", "the key of an answer has source_id, year, mintmark, denomination, series and title")
def test_the_key_of_an_answer(world, field):
    known = {"title": "Ardish crown", "year": "1887", "mintmark": "L", "denomination": "crown", "series": "one"}
    one, other = world.intake(**known), world.intake(**{**known, field: "other"})

    assert cache_key(one, "a", {}, 1) != cache_key(other, "a", {}, 1)
    assert cache_key(one, "a", {}, 1) != cache_key(one, "b", {}, 1)


@line("199", "CACHE_TTL_SECONDS is 3600 unless the environment says otherwise")
@line("200", "CACHE_ENABLED=false keeps nothing")
def test_how_long_an_answer_is_kept_comes_from_the_environment():
    said = Settings.load({"CACHE_TTL_SECONDS": "60", "CACHE_ENABLED": "false"})

    assert (Settings.load({})["cache_ttl_seconds"], Settings.load({})["cache_enabled"]) == (3600, True)
    assert (said["cache_ttl_seconds"], said["cache_enabled"]) == (60, False)


@pytest.mark.parametrize(
    ("variable", "value", "requests"), [("CACHE_ENABLED", "false", 2), ("CACHE_TTL_SECONDS", "6000", 1)]
)
@line("199", "an answer is not asked for twice while it is kept")
@line("200", "without a cache it is")
def test_a_kept_answer_is_not_asked_for_twice(world, monkeypatch, variable, value, requests):
    monkeypatch.setenv(variable, value)
    world.source()
    intake = world.intake()
    for _ in range(2):
        world.collect(intake)
        world.bench.advance("65 min")

    assert len(world.sandbox.books.requests(path="/shop/*")) == requests


@line("206-219", "the query for recent jobs runs as it is written")
def test_the_query_for_recent_jobs(held, database_url):
    rows = ask(
        database_url,
        """SELECT id, status, locked_by, heartbeat_at, created_at, completed_at, error_message
           FROM scrape_jobs ORDER BY created_at DESC LIMIT 20""",
    )

    assert [(str(row[0]), *row[1:3], row[5]) for row in rows] == [(held, "running", "worker-1", None)]


@line("115-121", "a job has intake_id, source_id, query_params and status")
@line("214-215", "and completed_at and error_message when it is over")
@pytest.mark.proves("JOB-19")
def test_a_job_shows_what_it_is_about_and_how_it_ended(world):
    world.source()
    intake = world.intake()
    world.prices.collect(WHO, intake.intake_id, query_params={"title": "Ardish penny"})
    words = ScrapeWorker(world.prices, "worker-1")
    words.mark_failed(words.claim_next_pending_job()["id"], "no such page")

    columns = "intake_id, source_id, cast(query_params as text), status, error_message, completed_at"
    ((intake_id, source_id, query, *ended, completed_at),) = world.rows(f"select {columns} from scrape_jobs")  # noqa: S608
    assert (intake_id, source_id) == (intake.intake_id, "price-coinhall@acme")
    assert json.loads(query) == {"title": "Ardish penny"}
    assert ended == ["failed", "no such page"]
    assert str(completed_at).startswith("2026-09-01 12:00")


@line("223-234", "the query for the health of sources runs as it is written")
def test_the_query_for_sources(world, database_url):
    failing(world, 1)
    rows = ask(
        database_url,
        """SELECT name, enabled, failure_streak, last_success_at, last_failure_at, paused_until
           FROM sources ORDER BY name""",
    )

    assert [(row[0], bool(row[1]), row[2], row[3]) for row in rows] == [("odd", True, 1, None)]
    assert str(rows[0][4]).startswith("2026-09-01")


@line("238-249", "the query for jobs without a recent heartbeat runs as it is written", **IN_SQL)
def test_the_query_for_silent_jobs(held, database_url):
    silent = ask(
        database_url,
        """SELECT id, status, locked_by, heartbeat_at, NOW() - heartbeat_at as time_since_heartbeat FROM scrape_jobs
           WHERE status = 'running'
           AND (heartbeat_at IS NULL OR heartbeat_at < NOW() - INTERVAL '5 minutes')""",
    )

    assert [str(row[0]) for row in silent] == [held]


@line("104", "an application has a worker that several processes may run at once")
def test_an_application_has_an_app_for_its_worker():
    from haulwright.apps.prices.worker import app  # noqa: PLC0415 - it reads the environment of this test

    assert isinstance(app, Haulwright)
