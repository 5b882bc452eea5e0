"""Document 000, jobs, queue and stale locks (lines 31 to 379, 585 to 595, 1012 to 1293), each executed or compared."""

from __future__ import annotations

import inspect
import json
import logging
import re
import sqlite3
import uuid
from contextlib import closing
from datetime import UTC, datetime

import psycopg
import pytest

from haulwright import Haulwright
from haulwright.apps.brands import compat
from haulwright.apps.brands.application import Brands
from haulwright.apps.brands.compat import NO_JOB, TAKEN, BrandBrain
from haulwright.apps.brands.retry import COMPILE_RETRY
from haulwright.apps.brands.settings import BrandSettings
from haulwright.engine.ids import new_id
from haulwright.errors import Conflict, HaulwrightError
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from haulwright.testing.harness import START
from tests.apps.brands.scenes import ACME, PACKAGE, SIX, connect, rows

line = pytest.mark.line
PAGE = "applications/brands.md"


@pytest.fixture
def words(brands):
    return BrandBrain(brands, ACME)


@pytest.fixture
def made(words, brand):
    """A compile that was asked for."""
    return words.enqueue_compile_job(brand.id, new_id())


def row(brands, columns="status"):
    """The only job, as the view shows it."""
    values = rows(brands, f"select {columns} from brandbrain_job")[0]  # noqa: S608 - as written above
    return values[0] if len(values) == 1 else tuple(values)


def moment(value):
    return value if value is None or isinstance(value, datetime) else datetime.fromisoformat(value).replace(tzinfo=UTC)


@line("36-46", "BrandBrainJobStatus names pending, running, succeeded and failed")
def test_the_class_of_states():
    statuses = compat.BrandBrainJobStatus

    assert (statuses.PENDING, statuses.RUNNING, statuses.SUCCEEDED, statuses.FAILED) == (
        "pending", "running", "succeeded", "failed",
    )  # fmt: skip


@line("40", "a job goes from pending through running to succeeded or failed")
@line("71-76", "these four are all there are")
def test_the_four_states():
    assert set(compat.STATUSES) == {"pending", "running", "succeeded", "failed"}


@line("49", "BrandBrainJob is a Django model", missing="Django")
def test_the_model_of_django():
    import haulwright.integrations.django  # noqa: F401, PLC0415 - where it would be


@pytest.mark.parametrize(
    ("column", "holds"),
    [
        pytest.param("id", lambda value: uuid.UUID(str(value)), marks=line("78", "id is a UUID")),
        pytest.param("brand_id", bool, marks=line("79-83", "a job has its brand")),
        pytest.param("compile_run_id", bool, marks=line("84-90", "a job has its compile run")),
        pytest.param(
            "job_type", lambda value: value == "compile", marks=line("67-69", "the only type of job is compile")
        ),
        pytest.param("job_type", lambda value: value == "compile", marks=line("91", "job_type is compile by default")),
        pytest.param("status", lambda value: value == "pending", marks=line("92-97", "status is pending at first")),
        pytest.param("attempts", lambda value: value == 0, marks=line("100", "attempts are 0 at first")),
        pytest.param("max_attempts", lambda value: value == 3, marks=line("101", "max_attempts is 3")),
        pytest.param("last_error", lambda value: value is None, marks=line("102", "last_error is null at first")),
        pytest.param("locked_at", lambda value: value is None, marks=line("105", "locked_at is null at first")),
        pytest.param("locked_by", lambda value: value is None, marks=line("106", "locked_by is null at first")),
        pytest.param(
            "available_at", lambda value: moment(value) == START, marks=line("109", "available_at is now at first")
        ),
        pytest.param("created_at", lambda value: moment(value) == START, marks=line("115", "created_at is set")),
        pytest.param("updated_at", lambda value: moment(value) == START, marks=line("116", "updated_at is set")),
        pytest.param("finished_at", lambda value: value is None, marks=line("117", "finished_at is null at first")),
    ],
)
@pytest.mark.usefixtures("made")
def test_the_view_has_the_column(brands, column, holds):
    assert holds(row(brands, column))


@line("79-83", "a job goes with its brand")
@pytest.mark.usefixtures("made")
def test_a_job_goes_with_its_brand(brands, brand, settle):
    brands.remove(ACME, brand.id)
    settle()

    assert rows(brands, "select id from brandbrain_job") == []


@line("84-90", "a job may be without a compile run")
def test_a_job_without_a_compile_run(words, brand):
    try:
        words.enqueue_compile_job(brand.id, None)
    except HaulwrightError as refused:
        pytest.fail(str(refused))


@line("112", "params_json has force_refresh, prompt_version and model")
@line("165-169", "enqueue stores them so")
def test_the_parameters_of_a_job(words, brands, brand):
    words.enqueue_compile_job(brand.id, new_id(), force_refresh=True, prompt_version="v1", model="gpt-4")
    params = row(brands, "params_json")

    assert (params if isinstance(params, dict) else json.loads(params)) == {
        "force_refresh": True,
        "prompt_version": "v1",
        "model": "gpt-4",
    }


@line("121", "the table is called brandbrain_job")
def test_the_table_has_its_name(brands):
    assert rows(brands, "select count(*) from brandbrain_job") == [(0,)]


@line("121", "it is made beside a table of that name that the team has")
def test_a_database_that_has_the_table_is_migrated(tmp_path, postgres_url):
    for url, connect_to in ((f"sqlite:///{tmp_path}/theirs.db", sqlite3.connect), (postgres_url, psycopg.connect)):
        with closing(connect_to(url.removeprefix("sqlite:///"))) as connection:
            connection.execute("create table brandbrain_job (id text)")
            connection.commit()
        try:
            with closing(open_database(url)) as database:
                migrations.migrate(database)
                migrations.migrate(database, PACKAGE)
        except (HaulwrightError, sqlite3.Error, psycopg.Error) as refused:
            pytest.fail(str(refused))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            "idx_job_status_available",
            marks=line(
                "122-127",
                "an index serves the next available job, by status and available_at",
                differs="a view has none; the engine's own index of due jobs serves it",
                page="decisions/0004-a-claim-is-a-walk-and-an-update.md",
            ),
        ),
        pytest.param(
            "idx_job_brand_created",
            marks=line(
                "128-132",
                "an index serves the history of a brand",
                differs="a view has none; compile runs have one by brand",
                page="explanation/differences.md#brands",
            ),
        ),
    ],
)
def test_the_table_has_the_index(brands, name):
    listed = {
        "sqlite": "select name from sqlite_master where type = 'index'",
        "postgres": "select indexname from pg_indexes",
    }

    assert name in {index for (index,) in rows(brands, listed[brands.app.store.database.dialect])}


@line("145-151", "enqueue_compile_job takes brand, compile run and three options by keyword")
def test_the_signature_of_enqueue():
    parameters = inspect.signature(BrandBrain.enqueue_compile_job).parameters

    assert {name: parameters[name].default for name in ("force_refresh", "prompt_version")} == {
        "force_refresh": False,
        "prompt_version": "v1",
    }
    assert parameters["model"].kind is inspect.Parameter.KEYWORD_ONLY


@line("151", "the model is gpt-4 by default")
def test_the_default_of_the_model():
    assert inspect.signature(BrandBrain.enqueue_compile_job).parameters["model"].default == "gpt-4"


@line("152", "enqueue returns an EnqueueResult")
@line("156-164", "enqueue creates a pending job")
@line("179-182", "with job_id and compile_run_id")
@line("589", "a job that is created is pending")
def test_enqueue_creates_a_pending_job(words, brands, brand):
    run_id = new_id()
    result = words.enqueue_compile_job(brand.id, run_id)

    assert isinstance(result, compat.EnqueueResult)
    assert (str(row(brands, "id")), row(brands), result.compile_run_id) == (result.job_id, "pending", run_id)


@line("172-177", "enqueue logs job, brand and compile run")
def test_enqueue_is_logged(words, brand, caplog):
    with caplog.at_level(logging.INFO):
        result = words.enqueue_compile_job(brand.id, new_id())

    assert result.job_id in caplog.text


@line("188-191", "claim_next_job takes worker_id and job_type")
@line("1017-1020", "so it does in the appendix")
def test_the_signature_of_claim():
    parameters = inspect.signature(BrandBrain.claim_next_job).parameters

    assert (parameters["worker_id"].default, parameters["job_type"].default) == (None, "compile")


@line("206-207", "a worker without a name is its host and eight hexadecimal digits")
@line("1035-1036", "so it is in the appendix")
@pytest.mark.usefixtures("made")
def test_the_name_of_a_worker(words, brands):
    words.claim_next_job()

    assert re.fullmatch(r".+-[0-9a-f]{8}", row(brands, "locked_by"))


@line("196", "the next job is pending and available now")
@line("1024-1051", "so it is in the appendix")
@line("212-223", "by available_at, then by created_at")
def test_the_order_of_claims(words, brand, bench):
    first, second, third = (words.enqueue_compile_job(brand.id, new_id()).job_id for _ in range(3))
    words.claim_next_job()
    words.fail_job(first, "later")

    order = [words.claim_next_job().job.id for _ in range(2)]
    bench.advance("60 s")

    assert (order, words.claim_next_job().job.id) == ([second, third], first)


@line("212-223", "a compile that is due is found, whatever else is due")
def test_a_compile_is_found_among_the_jobs_of_sources(words, brands, brand, bench):
    connect(brands, brand, *(("instagram", "posts", f"acme{number}") for number in range(25)))
    brands.compile(ACME, brand.id)
    bench.drain(limit=1)
    due = words.enqueue_compile_job(brand.id, new_id())

    claimed = words.claim_next_job()

    assert claimed.claimed, claimed.reason
    assert claimed.job.id == due.job_id


@line("225-230", "without a job the reason is: No available jobs")
@line("1054-1059", "so it is in the appendix")
def test_a_claim_without_a_job(words):
    claimed = words.claim_next_job()

    assert (claimed.job, claimed.claimed, claimed.reason) == (None, False, "No available jobs")
    assert NO_JOB == "No available jobs"


@line("57", "a claim sets running, locked_at and locked_by")
@line("197-198", "it updates one job to running, and returns it")
@line("200-202", "on SQLite too, by one transaction")
@line("1061-1071", "so it is in the appendix")
@line("232-242", "in one atomic update that counts the attempt")
@line("590", "pending to running when a worker claims it")
@line("1174", "locked_at is set by the claim")
@line("1175", "attempts grow with it")
@pytest.mark.usefixtures("made")
def test_what_a_claim_sets(words, brands):
    assert words.claim_next_job(worker_id="worker-1").claimed

    status, attempts, locked_by, locked_at = row(brands, "status, attempts, locked_by, locked_at")
    assert (status, attempts, locked_by, moment(locked_at)) == ("running", 1, "worker-1", START)


@line("58", "nobody claims a job twice")
@line("244-250", "who comes second hears: Job claimed by another worker")
@line("1073-1079", "so it is in the appendix")
@line("1173", "of two who saw the same job one gets it")
@line("1182", "one update succeeds, the other does not")
@line("1191-1192", "a running job is claimed by nobody else")
@pytest.mark.usefixtures("made")
def test_two_who_race_for_a_job(words, brands):
    other = BrandBrain(brands, ACME)
    brands.app.store.leases.claim_of_task = lambda *_: None  # as for whoever finds the row locked
    beaten = other.claim_next_job("second")
    del brands.app.store.leases.claim_of_task
    first, second = words.claim_next_job("first"), other.claim_next_job("second")

    assert (first.claimed, second.claimed, beaten.claimed) == (True, False, False)
    assert beaten.reason == TAKEN == "Job claimed by another worker"


@line("252-258", "the claim returns the job with its fields")
def test_a_claim_returns_the_job(words, made, brand):
    job = words.claim_next_job("worker-1").job

    assert (job.id, job.compile_run_id, job.brand_id) == (made.job_id, made.compile_run_id, brand.id)
    assert (job.status, job.locked_by, job.params_json["force_refresh"]) == ("running", "worker-1", False)


@line("1084-1091", "the claim logs job, brand, attempt of how many, and worker")
def test_a_claim_is_logged(words, made, caplog):
    with caplog.at_level(logging.INFO):
        words.claim_next_job("worker-1")

    assert made.job_id in caplog.text


@line("264-281", "to fail a job that is not there answers False")
@line("1221-1225", "and changes nothing")
def test_a_job_that_is_not_there_cannot_fail(words):
    assert words.fail_job(new_id(), "boom") is False


@line("61-64", "a job has three attempts, waits between them, and keeps its last error")
@line("1247-1258", "so it is in the appendix")
@line("1210-1213", "and in its words")
@line("1285", "attempts are counted by the claim")
@line("268-271", "with attempts left a failed job is pending again, later, with its error")
@line("297-310", "its lock is cleared")
@line("592", "running to pending by fail_job with attempts left")
@line("1289", "after the first try 60 seconds")
@line("1290", "after the second 120 seconds")
@line("1283", "the wait is 30 seconds times two to the power of the attempts")
def test_a_failed_job_waits(words, brands, made, bench):
    waits = []
    for _ in range(2):
        words.claim_next_job()
        assert words.fail_job(made.job_id, "boom") is True
        status, last_error, locked_at, locked_by, available_at = row(
            brands, "status, last_error, locked_at, locked_by, available_at"
        )
        assert (status, last_error, locked_at, locked_by) == ("pending", "boom", None, None)
        waits.append((moment(available_at) - bench.now).total_seconds())
        bench.advance(waits[-1])

    assert waits == [60, 120]


@line("273-274", "without attempts left it has failed")
@line("1229-1245", "so it is in the appendix")
@line("1215-1217", "and in its words")
@line("285-295", "with its finish, its error and no lock")
@line("593", "running to failed by fail_job at the last attempt")
@line("1291-1293", "the third failure is final")
@line("684", "three attempts with exponential backoff")
def test_the_third_failure_is_final(words, brands, made, bench):
    for _ in range(3):
        words.claim_next_job()
        words.fail_job(made.job_id, "boom")
        bench.advance("3 min")

    status, last_error, attempts, finished_at, locked_by = row(
        brands, "status, last_error, attempts, finished_at, locked_by"
    )
    assert (status, last_error, attempts, locked_by) == ("failed", "boom", 3, None)
    assert finished_at is not None


@line("1239-1244", "a final failure is logged")
@line("1260-1267", "a retry is logged with its error")
def test_a_failure_is_logged(words, made, caplog):
    words.claim_next_job()
    with caplog.at_level(logging.INFO):
        words.fail_job(made.job_id, "boom")

    assert made.job_id in caplog.text


@line("1103-1104", "DEFAULT_STALE_LOCK_MINUTES is 10")
@line("1187", "a lock is stale after ten minutes")
def test_the_threshold_of_a_stale_lock(words, made, bench):
    words.claim_next_job()
    bench.advance("599 s")
    assert words.release_stale_jobs() == 0
    bench.advance("2 s")

    assert made
    assert (compat.DEFAULT_STALE_LOCK_MINUTES, words.release_stale_jobs()) == (10, 1)


@line("1106-1111", "BACKOFF_BASE_SECONDS is 30 and BACKOFF_MULTIPLIER is 2")
@line("1271-1279", "they are constants of the queue")
def test_the_names_of_the_backoff():
    assert (compat.BACKOFF_BASE_SECONDS, compat.BACKOFF_MULTIPLIER) == (30, 2)


@line("1106-1111", "the backoff is 30 seconds, doubling")
def test_the_figures_of_the_backoff():
    assert (COMPILE_RETRY.base_us / 1e6, COMPILE_RETRY.factor) == (30, 2)


@line("1114-1124", "release_stale_jobs makes a stale job pending, available now")
@line("59", "a stale lock is found by its age")
@line("594", "running to pending by release_stale_jobs")
@line("1127-1137", "every stale job is looked at")
@line("1152-1161", "its lock is cleared")
@line("1169", "it returns how many there were")
@line("1181", "the job of a worker that crashed is pending after ten minutes")
@pytest.mark.usefixtures("made")
def test_a_stale_job_is_released(words, brands, bench):
    words.claim_next_job()
    bench.advance("601 s")

    assert words.release_stale_jobs() == 1
    status, locked_by, available_at = row(brands, "status, locked_by, available_at")
    assert (status, locked_by, moment(available_at)) == ("pending", None, bench.now)


@line(
    "1114-1116",
    "another threshold can be given",
    differs="a lock is as old as its lease allows, which a living worker renews",
    page="how-to/choose-a-lease.md#choose-a-lease",
)
def test_another_threshold(words):
    try:
        words.release_stale_jobs(stale_threshold_minutes=5)
    except HaulwrightError as refused:
        pytest.fail(str(refused))


@line("1138-1147", "a stale job without attempts left has failed")
@line("595", "running to failed by release_stale_jobs at the last attempt")
@line("1184", "no job is stuck for ever: after three it has failed")
@line("1195-1197", "no job is lost")
@pytest.mark.usefixtures("made")
def test_a_stale_job_fails_in_the_end(words, brands, bench):
    for _ in range(3):
        assert words.claim_next_job().claimed
        bench.advance("601 s")
        words.release_stale_jobs()
        bench.advance("10 min")

    assert row(brands, "status, finished_at is not null") == ("failed", 1)


@pytest.fixture
def lost(words, made, bench):
    """Loses the lock of a job so often, and gives the job."""

    def lose(times):
        for _ in range(times):
            words.claim_next_job()
            bench.advance("601 s")
            words.release_stale_jobs()
            bench.advance("10 min")
        return words.get_job(made.job_id)

    return lose


@pytest.mark.parametrize(
    ("losses", "text"),
    [
        pytest.param(
            3,
            "Stale lock after 3 attempts",
            marks=line("1142", "its last error is: Stale lock after 3 attempts"),
        ),
        pytest.param(
            1,
            "Released from stale lock",
            marks=line("1156", "the last error of a released job is: Released from stale lock"),
        ),
    ],
)
def test_the_last_error_of_a_stale_job(lost, losses, text):
    assert lost(losses).last_error == text


@line("1156", "the table has the same words")
def test_the_last_error_of_a_stale_job_in_the_view(brands, lost):
    lost(1)

    assert row(brands, "last_error") == "Released from stale lock"


@line(
    "1183",
    "a job that takes longer than ten minutes may run twice",
    differs="a living worker renews its lease, and one that lost it can change nothing",
    page="decisions/0003-a-fence-beside-the-attempts.md",
)
@line(
    "1188-1193",
    "its first worker may finish what was given to another",
    differs="a living worker renews its lease, and one that lost it can change nothing",
    page="decisions/0003-a-fence-beside-the-attempts.md",
)
def test_a_worker_that_lost_its_job_can_finish_it(words, made, bench):
    words.claim_next_job("first")
    bench.advance("601 s")
    words.release_stale_jobs()

    assert words.complete_job(made.job_id)


@pytest.fixture
def hurried(database_url, sandbox, monkeypatch):
    """Brands by the database's own clock, with runs that take no time."""
    monkeypatch.setenv("APIFY_TOKEN", "token-of-mine")
    monkeypatch.setenv("APIFY_BASE_URL", f"{sandbox.url}/apify")
    sandbox.apify.script(duration_seconds=0, times=None)
    with closing(Haulwright(database_url)) as app:
        yield Brands(app, figures=BrandSettings.load(poll_interval_seconds=0.05))


@line("363-378", "a claimed job is executed by execute_compile_job and then completed")
@line("376", "complete_job ends a job that was executed")
@line("591", "running to succeeded by complete_job")
def test_a_claimed_job_is_executed_and_completed(hurried):
    words, brand = BrandBrain(hurried, ACME), hurried.add(ACME, "Acme")
    connect(hurried, brand, SIX[0], settings={"cap": 2})
    words.enqueue_compile_job(brand.id, new_id(), model=None)
    job = words.claim_next_job().job

    words.execute_compile_job(compile_run_id=job.compile_run_id, force_refresh=job.params_json["force_refresh"])

    assert words.complete_job(job.id)
    assert row(hurried) == "succeeded"
    assert hurried.compile_run(ACME, job.compile_run_id).evidence_status["refreshed"]


@line("376", "a compile that is completed has its evidence and its snapshot: without them it is refused")
def test_what_is_completed_has_a_snapshot(words, made):
    words.claim_next_job()

    with pytest.raises(Conflict, match="no snapshot"):
        words.complete_job(made.job_id)


@line("1148-1151", "a job that failed by a stale lock is logged")
@line("1162-1166", "a job that was released is logged, with who had locked it")
def test_a_release_is_logged(words, made, bench, caplog):
    with caplog.at_level(logging.INFO, "haulwright.brands"):
        for _ in range(3):
            words.claim_next_job()
            bench.advance("601 s")
            words.release_stale_jobs()
            bench.advance("1 h")

    released, *_, failed = [record.getMessage() for record in caplog.records if "stale" in record.getMessage()]
    assert released.startswith(f"Released stale job {made.job_id} for retry (was locked by ")
    assert failed == f"Job {made.job_id} failed due to stale lock after max attempts"
