"""Document 001, lines 1 to 141, each executed or compared: who runs jobs, the table of runs, claims, crashes."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from haulwright import Principal
from haulwright.apps.brief.compat import JOBS, MAX_RUNTIME_THRESHOLD, claim_slot, job_runs, max_runtime_threshold
from haulwright.clock import CLOCK_VARIABLE, TESTING_VARIABLE
from haulwright.errors import Retryable
from haulwright.testing.harness import START
from tests.apps.brief.scenes import QUICK, World
from tests.apps.brief.test_run_records import prune
from tests.support.api import serving

line = pytest.mark.line
PAGE = "applications/brief.md"
SLOT = START - timedelta(hours=8)


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
def once(bench, sandbox):
    """The brief by the document's rule: a slot is run at most once."""
    return World.open(bench, sandbox, replace(QUICK, attempts=1))


def cleaned(world, slot=SLOT):
    """A slot of the cleanup that was claimed and has run."""
    claim_slot(world.app, "retention_cleanup", slot)
    world.bench.drain()
    return job_runs(world.app, "retention_cleanup")


def abandoned(world):
    """A run whose worker died in the middle."""
    claim_slot(world.app, "retention_cleanup", SLOT)
    with world.bench.crash("brief.retain", after="claim"):
        world.bench.drain()


@line("21", "a web service stands beside the worker")
def test_there_is_a_web_service(world):
    with serving(world.app) as served:
        answers = [served.client().get(path) for path in (f"{served.address}/healthz", "/brief/feeds")]

    assert [answer.status_code for answer in answers] == [200, 200]


@line("22", "a worker of its own runs the schedules")
def test_there_is_a_worker(world, database_url, tmp_path):
    claim_slot(world.app, "retention_cleanup", SLOT)
    environ = {**os.environ, "HAULWRIGHT_DATABASE_URL": database_url, TESTING_VARIABLE: "1"}
    environ[CLOCK_VARIABLE] = str(tmp_path / "haulwright-clock")
    command = [sys.executable, "-m", "haulwright.apps.brief", "--until-empty"]
    subprocess.run(command, env=environ, capture_output=True, timeout=100, check=True)

    assert [run.status for run in job_runs(world.app, "retention_cleanup")] == ["success"]


@line("24", "only the worker opens slots")
@line("26", "a web process never does")
def test_only_a_worker_opens_slots(scheduled):
    scheduled.bench.advance("15 min")
    scheduled.brief.ingest(Principal.of_tenant("acme"))
    assert scheduled.rows("select count(*) from haulwright_slots") == [(0,)]

    scheduled.bench.drain()

    assert scheduled.rows("select count(*) from haulwright_slots") != [(0,)]


@line(
    "13",
    "one worker process is all there is",
    differs="any number may run: the database decides who opens a slot; --exclusive allows one",
    page=f"{PAGE}#two-services",
)
@line(
    "34",
    "exactly one worker process is active",
    differs="any number may run: the database decides who opens a slot; --exclusive allows one",
    page=f"{PAGE}#two-services",
)
@line(
    "40-44",
    "hosts are not coordinated: a second worker elsewhere is not meant to be",
    differs="any number may run: the database decides who opens a slot; --exclusive allows one",
    page=f"{PAGE}#two-services",
)
def test_a_second_worker_is_refused(world):
    try:
        world.app.run_worker(until_empty=True)
        world.app.run_worker(until_empty=True)
    except Exception as refused:  # noqa: BLE001 - whatever it says
        assert refused  # noqa: PT017 - a refusal is what the document wants
        return
    pytest.fail("two workers ran")


@line("8", "no scheduled execution happens twice")
@line("35", "a slot of a job is claimed at most once")
@line("93-94", "whoever comes second leaves it")
@line("106", "without a race between looking and writing")
@line("227", "there is at most one successful claim for a job and moment")
def test_a_slot_is_claimed_once(world, database_url):
    assert claim_slot(world.app, "retention_cleanup", SLOT) is not None
    assert claim_slot(world.app, "retention_cleanup", SLOT) is None
    world.bench.drain()

    assert ask(database_url, "select count(*) from job_runs") == [(1,)]


@line("36", "runs of one job do not overlap")
@line("187", "max_instances is 1 for each job")
@line("228", "there are no overlapping runs")
def test_runs_of_a_job_do_not_overlap(scheduled):
    scheduled.bench.advance("15 min")
    with scheduled.bench.crash("brief.ingest", after="claim"):
        scheduled.bench.drain()
    running = "select count(*) from job_runs where job_name = 'rss_ingestion' and status = 'running'"
    assert scheduled.rows(running) == [(1,)]
    scheduled.bench.advance("1 s")

    claim_slot(scheduled.app, "rss_ingestion", START)
    scheduled.bench.drain()

    assert {options.max_instances for options in JOBS.values()} == {1}
    assert scheduled.rows(running) == [(1,)]


@line("9", "a crash or restart is safe")
@line("37", "a worker that starts again goes on safely")
@line("229", "a restart is safe")
def test_a_run_whose_worker_died_is_finished_later(world):
    abandoned(world)
    world.bench.advance("31 min")
    world.bench.drain()

    assert [run.status for run in job_runs(world.app)] == ["success"]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("rss_ingestion", marks=line("50", "feeds are read on a schedule")),
        pytest.param("event_clustering", marks=line("51", "events are clustered on a schedule")),
        pytest.param("retention_cleanup", marks=line("52", "old rows are removed on a schedule")),
    ],
)
def test_a_core_job_is_scheduled(world, name):
    assert name in world.app.schedules


@pytest.mark.parametrize(
    ("column", "holds"),
    [
        pytest.param("id", bool, marks=line("64", "job_runs has an id")),
        pytest.param(
            "job_name",
            lambda value: value == "retention_cleanup",
            marks=line("65", "job_name is such as rss_ingestion"),
        ),
        pytest.param(
            "scheduled_for", lambda value: _utc(value) == SLOT, marks=line("66", "scheduled_for is the slot in UTC")
        ),
        pytest.param("started_at", lambda value: _utc(value) == START, marks=line("67", "started_at is in UTC")),
        pytest.param("finished_at", lambda value: _utc(value) == START, marks=line("68", "finished_at is in UTC")),
        pytest.param(
            "worker_instance", lambda value: value == "bench", marks=line("70", "worker_instance names who ran it")
        ),
        pytest.param(
            "error_message", lambda value: value is None, marks=line("71", "error_message is null after a success")
        ),
    ],
)
def test_the_table_of_runs_has_the_column(world, column, holds):
    cleaned(world)

    assert holds(world.rows(f"select {column} from job_runs")[0][0])  # noqa: S608 - as written above


def _utc(value):
    return (datetime.fromisoformat(value).replace(tzinfo=UTC) if isinstance(value, str) else value).astimezone(UTC)


@line("69", "status is running, success, failed or skipped_timeout")
def test_the_four_words(once, monkeypatch):
    seen = [cleaned(once)[0].status]
    claim_slot(once.app, "retention_cleanup", SLOT + timedelta(hours=1))
    with once.bench.crash("brief.retain", after="claim"):
        once.bench.drain()
    seen.append(job_runs(once.app)[0].status)
    once.bench.advance("31 min")
    once.bench.drain()
    seen.append(job_runs(once.app)[0].status)
    monkeypatch.setattr(once.brief.retention, "_batch", _broken)
    seen.append(cleaned(once, SLOT + timedelta(hours=2))[0].status)

    assert seen == ["success", "running", "skipped_timeout", "failed"]


def _broken(*_):
    message = "the disk is full"
    raise Retryable(message)


@line("68", "finished_at is null while a run goes on")
@line("113-114", "after a crash the row stays running")
def test_a_run_that_was_abandoned_stays_running(once):
    abandoned(once)

    (run,) = job_runs(once.app)
    assert (run.status, run.finished_at) == ("running", None)


@line("70", "worker_instance still names who ran it after the worker is long gone")
def test_the_name_of_a_worker_outlives_its_row(world):
    cleaned(world)
    world.bench.advance("8 days")
    prune(world)

    assert world.rows("select count(*) from haulwright_workers") == [(0,)]
    assert [name for (name,) in world.rows("select worker_instance from job_runs")] == ["bench"]


@line("74", "job_name and scheduled_for are unique together, in the database")
def test_job_and_slot_are_unique_together(world):
    cleaned(world)
    copied = "insert into haulwright_slots select * from haulwright_slots"

    with pytest.raises(Exception, match=r"(?i)unique"):
        world.write(copied)


@pytest.mark.parametrize(
    "column",
    [
        pytest.param("status", marks=line("75", "status has an index")),
        pytest.param("started_at", marks=line("76", "started_at has an index")),
    ],
)
def test_the_table_of_runs_has_an_index(world, column):
    wanted = "running" if column == "status" else "2024-01-01"
    plan = {
        "sqlite": f"explain query plan select * from job_runs where {column} = '{wanted}'",  # noqa: S608 - as above
        "postgres": f"explain select * from job_runs where {column} = '{wanted}'",  # noqa: S608 - as above
    }[world.bench.store.database.dialect]

    def explain(connection):
        if world.bench.store.database.dialect == "postgres":
            connection.execute("set local enable_seqscan = off")  # as if the tables were large
        return [str(row[-1]) for row in connection.execute(plan)]

    steps = "\n".join(world.bench.store.database.transact(explain))

    assert "brief_runs_" in steps
    assert "SCAN haulwright_history" not in steps
    assert "Seq Scan on haulwright_history" not in steps


@line("87", "a slot is a moment in UTC that follows from the schedule")
def test_a_slot_follows_from_the_schedule(scheduled):
    scheduled.bench.advance("17 min")
    scheduled.bench.drain()

    slots = {run.job_name: run.scheduled_for for run in job_runs(scheduled.app)}
    assert slots["rss_ingestion"] == START + timedelta(minutes=15)


@line("88-89", "a run past its threshold is skipped_timeout, finished now, before the next slot is opened")
@line("115-116", "at the next scheduled run a stale one is marked, and the slot claimed")
def test_a_stale_run_is_marked_before_the_next_slot(bench, sandbox):
    world = World.open(bench, sandbox, replace(QUICK, attempts=1, retention_cron="0 * * * *"))
    bench.advance("1 h")
    with bench.crash("brief.retain", after="claim"):
        bench.drain()
    bench.advance("1 h")
    bench.drain()

    newest, stale = job_runs(world.app, "retention_cleanup")
    assert (stale.status, stale.finished_at, newest.status) == ("skipped_timeout", bench.now, "success")


@line(
    "90-91",
    "a slot is claimed by an INSERT into job_runs",
    differs="job_runs is a view for reading; claim_slot and schedule trigger insert the slot with its job",
    page="explanation/differences.md#brief",
)
def test_a_slot_is_claimed_by_an_insert(database_url, world):
    assert world
    ask(
        database_url,
        "INSERT INTO job_runs(job_name, scheduled_for, started_at, status, worker_instance) "
        "VALUES ('rss_ingestion', '2024-01-01 01:00:00', '2024-01-01 01:00:00', 'running', 'me')",
    )


@line("95", "a claimed slot is executed")
@line("97-99", "a run that succeeded is success and has its finish")
def test_a_run_that_succeeded(world):
    (run,) = cleaned(world)

    assert (run.status, run.finished_at) == ("success", START)


@line("97-99", "a run of the ingestion is a success only when its feeds were read")
def test_an_ingestion_whose_feeds_all_failed_is_no_success(world):
    world.paper("harbour-times")
    world.sandbox.faults.add("status", path="/feeds/*", code=500, times=None)
    claim_slot(world.app, "rss_ingestion", SLOT)
    for _ in range(4):
        world.bench.drain()
        world.bench.advance("2 h")
    world.bench.drain()

    assert [run.status for run in job_runs(world.app, "rss_ingestion")] == ["failed"]


@line("101-104", "a run that failed is failed, with its error and its finish")
def test_a_run_that_failed(once, monkeypatch):
    monkeypatch.setattr(once.brief.retention, "_batch", _broken)
    (run,) = cleaned(once)

    assert (run.status, run.error_message, run.finished_at) == ("failed", "the disk is full", START)


@line("118-119", "the threshold is twice the longest expected runtime")
@line("121-123", "five minutes make ten")
def test_the_threshold_is_twice_the_expected_runtime():
    assert max_runtime_threshold(5 * 60) == 10 * 60
    assert all(MAX_RUNTIME_THRESHOLD[name] == 2 * options.expected_runtime for name, options in JOBS.items())


@line("118", "it can be set for each job")
def test_the_threshold_of_a_job_is_a_setting():
    from haulwright.apps.brief.settings import BriefSettings  # noqa: PLC0415 - beside its only use

    assert [figure for figure in BriefSettings.figures() if "runtime" in figure.name]


@line("129-133", "a worker that starts finds the runs of its dead predecessor before it schedules")
@line("134-136", "it marks them failed, finished now, with worker_startup_recovery")
@line("140-141", "nobody waits for the next tick")
def test_a_start_finds_what_was_abandoned(once):
    abandoned(once)
    ((worker,),) = once.rows("select worker_id from haulwright_jobs where state = 'running'")
    once.bench.store.recovery.recover([str(worker)])

    (run,) = job_runs(once.app)
    assert (run.status, run.error_message, run.finished_at) == ("failed", "worker_startup_recovery", START)


@line("137", "a recovery leaves an event that names it")
def test_a_recovery_is_told(once):
    abandoned(once)
    ((worker,),) = once.rows("select worker_id from haulwright_jobs where state = 'running'")
    once.bench.store.recovery.recover([str(worker)])

    (event,) = once.app.store.events.latest(name="job.lease_expired")
    assert event.data["detected_by"] == "worker_startup_recovery"


@line("137", "recoveries are measured")
def test_recoveries_are_measured(once):
    abandoned(once)
    ((worker,),) = once.rows("select worker_id from haulwright_jobs where state = 'running'")
    once.bench.store.recovery.recover([str(worker)])
    with serving(once.app) as served:
        text = served.client(None, role="monitor").get(f"{served.address}/metrics").text

    assert "\nhaulwright_startup_recoveries 1" in text
