"""Document 000, worker, compile and evidence (lines 1 to 30, 315 to 391, 496 to 689, 1295 to 1398), each compared."""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
import uuid
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from haulwright import Haulwright, Principal
from haulwright.apps.brands.application import Brands
from haulwright.apps.brands.compat import BrandBrain
from haulwright.apps.brands.evidence.status import OUTCOMES
from haulwright.cli.kit.root import root
from haulwright.clock import CLOCK_VARIABLE, TESTING_VARIABLE
from haulwright.engine.ids import new_id
from haulwright.errors import HaulwrightError, InvalidValue, JobFailed, NotFound, ResultTimeout
from tests.apps.brands.scenes import ACME, GLOBEX, POSTS, SIX, VIDEOS, connect, count, rows, runs_of

line = pytest.mark.line
PAGE = "applications/brands.md"
FOLDER = Path(__file__).parent


@pytest.fixture
def status(brands, brand, settle):
    """Compiles these sources, and says what became of each."""

    def compiled(*sources, **how):
        connect(brands, brand, *sources, settings={"cap": 6})
        run = brands.compile(ACME, brand.id, **how)
        settle()
        return brands.compile_run(ACME, run.id)

    return compiled


@line("9", "jobs are rows of the database, with leases")
@line("680", "the queue is durable")
def test_jobs_are_rows(brands, brand):
    compiled = brands.compile(ACME, brand.id)

    assert rows(brands, "select count(*) from brandbrain_job where status = 'pending'") == [(1,)]
    assert compiled.job_id


@line("10", "a command of manage.py runs the worker", missing="Django")
@line("317-323", "brandbrain_worker is a management command", missing="Django")
@line("383-384", "python manage.py brandbrain_worker starts it", missing="Django")
@line("681", "the worker is a management command", missing="Django")
def test_a_command_of_django_runs_the_worker():
    import haulwright.integrations.django  # noqa: F401, PLC0415 - where it would be


@pytest.fixture
def hurried(database_url, sandbox, monkeypatch):
    """Brands by the database's own clock, with runs that take no time."""
    monkeypatch.setenv("APIFY_TOKEN", "token-of-mine")
    monkeypatch.setenv("APIFY_BASE_URL", f"{sandbox.url}/apify")
    monkeypatch.setenv("HAULWRIGHT_BRANDS_POLL_INTERVAL_SECONDS", "0.05")
    sandbox.apify.script(duration_seconds=0, times=None)
    with closing(Haulwright(database_url)) as app:
        yield Brands(app)


def work(database_url, *options, clock=None):
    """The worker of brands as a program of its own, by the database's clock or by that of the test."""
    environ = {**os.environ, "HAULWRIGHT_DATABASE_URL": database_url, "HAULWRIGHT_BRANDS_CRON": "0 0 31 12 *"}
    if clock is not None:
        environ |= {TESTING_VARIABLE: "1", CLOCK_VARIABLE: str(clock)}
    command = [sys.executable, "-m", "haulwright.apps.brands", *options]
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=100, check=False)


@line("10", "a program of its own runs the worker")
@line("339-361", "it claims, executes and waits in a loop")
@line("386-387", "--poll-interval 5 and --stale-check-interval 60 are options of it")
def test_the_worker_is_a_program(brands, brand, database_url, tmp_path):
    connect(brands, brand)
    brands.compile(ACME, brand.id)

    clock = tmp_path / "haulwright-clock"
    ended = work(database_url, "--until-empty", "--poll-interval", "5", "--stale-check-interval", "60", clock=clock)

    assert ended.returncode == 0, ended.stderr
    assert rows(brands, "select status from brandbrain_job") == [("running",)]


@line(
    "390",
    "--dry-run claims without processing",
    differs="it writes nothing at all: a claim would hold the job",
    page="reference/cli.md#haulwright-worker",
)
def test_a_dry_run_claims(brands, brand, database_url, tmp_path):
    compiled = brands.compile(ACME, brand.id)
    work(database_url, "--dry-run", clock=tmp_path / "haulwright-clock")

    assert brands.app.operations().jobs.get(compiled.job_id).attempts == 1


@pytest.mark.parametrize(
    "option",
    [
        pytest.param("--poll-interval", marks=line("326", "there is --poll-interval")),
        pytest.param("--stale-check-interval", marks=line("327", "there is --stale-check-interval")),
        pytest.param("--max-jobs", marks=line("328", "there is --max-jobs")),
        pytest.param("--once", marks=line("329", "there is --once")),
        pytest.param("--dry-run", marks=line("330", "there is --dry-run")),
    ],
)
def test_the_worker_has_the_option(option):
    assert option in CliRunner().invoke(root, ["worker", "--help"]).output


@line("389", "--once processes one compile to its end and exits")
@line("357-358", "once and max_jobs end the loop after so many compiles")
def test_once_does_one_compile(hurried, database_url):
    brand = hurried.add(ACME, "Acme")
    connect(hurried, brand, settings={"cap": 2})
    for _ in range(2):
        hurried.compile(ACME, brand.id)
    ended = work(database_url, "--once")

    assert ended.returncode == 0, ended.stderr
    assert sorted(rows(hurried, "select status from brandbrain_job")) == [("pending",), ("succeeded",)]


@line("388", "--max-jobs 10 ends after ten compiles")
def test_max_jobs_counts_jobs(hurried, database_url):
    for _ in range(3):
        hurried.compile(ACME, hurried.add(ACME, "Acme").id)  # without a source it has failed at once
    work(database_url, "--max-jobs", "2")

    assert sorted(rows(hurried, "select status from brandbrain_job")) == [("failed",), ("failed",), ("pending",)]


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@line("332-334", "SIGINT and SIGTERM stop it in order")
def test_the_worker_stops_in_order(sqlite_url, name):
    environ = {**os.environ, "HAULWRIGHT_DATABASE_URL": sqlite_url}
    command = [sys.executable, "-m", "haulwright.apps.brands"]
    with subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True) as worker:
        assert "started" in worker.stderr.readline()
        worker.send_signal(signal.Signals[name])
        worker.communicate(timeout=100)

    assert worker.returncode == 0


@line("341-346", "stale locks are looked for while it runs, and how many there were is said")
def test_stale_locks_are_released_while_a_worker_runs(brands, brand, bench):
    words = BrandBrain(brands, ACME)
    words.enqueue_compile_job(brand.id, new_id())
    words.claim_next_job()
    bench.advance("601 s")
    bench.drain(limit=0)

    (event,) = brands.app.store.events.latest(name="job.lease_expired")
    assert event.data
    assert rows(brands, "select status from brandbrain_job") == [("pending",)]


@line("503-506", "execute_compile_job takes compile_run_id and force_refresh")
def test_the_signature_of_execute():
    parameters = inspect.signature(BrandBrain.execute_compile_job).parameters

    assert list(parameters)[1:3] == ["compile_run_id", "force_refresh"]
    assert parameters["force_refresh"].default is False


@line("505", "force_refresh may be said only there")
def test_force_refresh_may_be_said_at_execution(brands, brand):
    words = BrandBrain(brands, ACME)
    made = words.enqueue_compile_job(brand.id, new_id())
    try:
        words.execute_compile_job(made.compile_run_id, force_refresh=True, timeout_s=0.2)
    except InvalidValue as refused:
        pytest.fail(str(refused))
    except (JobFailed, ResultTimeout):
        return


@line("511", "a compile that is under way is running")
def test_a_compile_under_way_is_running(brands, brand, bench):
    connect(brands, brand)
    run = brands.compile(ACME, brand.id)
    bench.drain()

    assert brands.compile_run(ACME, run.id).status == "running"


@line("512", "it loads the answers")
@line("518", "it makes a bundle")
@line("519", "it makes a report of features")
@line("520", "without a model it drafts by itself, as the stub does")
@line("521", "it makes a snapshot")
@line("522", "and is marked succeeded")
@line("11", "evidence comes from Apify runs, is stored raw and normalized")
@line("682", "from runs through raw items to normalized ones")
def test_a_compile_makes_a_snapshot(brands, brand, status):
    done = status(SIX[0])
    snapshot = brands.snapshot(ACME, brand.id)

    assert done.status == "succeeded"
    assert "Coffee that is worth the walk." in str(snapshot["sections"])
    assert snapshot["features"]
    assert len(snapshot["bundle"]["digest"]) > 10
    assert (count(brands, "brands_raw_items"), count(brands, "brands_evidence")) == (6, 6)


@line("512", "answers that were changed are used")
def test_answers_can_be_changed(brands, brand, status):
    brands.update(ACME, brand.id, answers={"mission": "Tea that is worth the wait."})
    status(SIX[0])

    assert "Tea that is worth the wait." in str(brands.snapshot(ACME, brand.id)["sections"])


@line("522", "or failed, with its evidence status, its error and its finish")
def test_a_compile_that_dies_after_its_sources_is_recorded(brands, brand, settle, monkeypatch):
    connect(brands, brand, settings={"cap": 2})

    def broken(*_, **__):
        message = "no room"
        raise OSError(message)

    monkeypatch.setattr("haulwright.apps.brands.tasks.compile.features", broken)
    run = brands.compile(ACME, brand.id)
    settle(seconds=60)
    done = brands.compile_run(ACME, run.id)

    assert done.status == "failed"
    assert done.evidence_status is not None
    assert done.error is not None


@line("524-526", "each enabled source is processed, by platform and capability")
@line("513", "only enabled ones")
def test_only_enabled_sources_take_part(brands, brand, settle):
    connect(brands, brand, SIX[0], settings={"cap": 2})
    connect(brands, brand, SIX[2], enabled=False)
    run = brands.compile(ACME, brand.id)
    settle()

    status = brands.compile_run(ACME, run.id).evidence_status
    assert [entry["source"] for name in OUTCOMES for entry in status[name]] == ["instagram.posts"]


@line("514", "a capability that is switched off is not bought")
@line("528-534", "it is skipped with: Capability disabled (feature flag)")
@line("624-629", "a skipped entry has source and reason")
@line("1355-1360", "skipped entries are recorded so")
def test_a_skipped_source(install, sandbox, settle, monkeypatch):
    monkeypatch.setenv("HAULWRIGHT_BRANDS_DISABLED", "linkedin.profile_posts")
    brands = install()
    brand = brands.add(ACME, "Acme")
    connect(brands, brand, SIX[0], ("linkedin", "profile_posts", "jane"), settings={"cap": 2})
    run = brands.compile(ACME, brand.id)
    settle()

    (entry,) = brands.compile_run(ACME, run.id).evidence_status["skipped"]
    assert (entry["source"], entry["reason"]) == ("linkedin.profile_posts", "Capability disabled (feature flag)")
    assert len(sandbox.books.paid_runs()) == 1


@line("515", "what is fresh is reused, what is not is bought")
@line("536-539", "check_source_freshness says which, and why")
def test_freshness_decides(brands, brand, status, bench):
    status(SIX[0])
    (connection,) = brands.connections(ACME, brand.id)
    words = BrandBrain(brands, ACME)
    fresh = words.check_source_freshness(connection.id)
    forced = words.check_source_freshness(connection.id, force_refresh=True)
    bench.advance("25 h")
    stale = words.check_source_freshness(connection.id)

    assert [one.should_refresh for one in (fresh, forced, stale)] == [False, True, True]
    assert all(one.reason for one in (fresh, forced, stale))


REFRESHED = ("source", "reason", "apify_run_id", "apify_run_status", "raw_items_count", "normalized_created")


@line("540-541", "a source that is not fresh is ingested")
@line("516", "a source that is refreshed is run, fetched and normalized")
@line("543-552", "a refreshed entry has source, reason, run, status and counts")
@line("613-622", "as in the schema")
@line("1302-1311", "refreshed entries are recorded so")
def test_a_refreshed_source(status):
    (entry,) = status(SIX[0]).evidence_status["refreshed"]

    assert set(REFRESHED) | {"normalized_updated"} <= set(entry)
    assert (entry["source"], entry["apify_run_status"], entry["raw_items_count"]) == ("instagram.posts", "SUCCEEDED", 6)


@line("608", "apify_run_id is the UUID of our row in a reused entry")
@line("617", "and in a refreshed one")
@line("547", "str of the run's own id")
def test_the_id_of_a_run_is_ours(brands, brand, status):
    (entry,) = status(SIX[0]).evidence_status["refreshed"]
    (connection,) = brands.connections(ACME, brand.id)

    assert entry["apify_run_id"] == runs_of(brands, connection)[0].id


@line("616", "the reason of a stale one is: Cached run is stale (26.1h old, TTL=24h)")
def test_the_reason_of_a_stale_run(brands, brand, status, bench, settle):
    status(SIX[0])
    (connection,) = brands.connections(ACME, brand.id)
    (run,) = runs_of(brands, connection)
    bench.clock.set(run.started_at + int(26.1 * 3_600_000_000))
    again = brands.compile(ACME, brand.id)
    settle()

    (entry,) = brands.compile_run(ACME, again.id).evidence_status["refreshed"]
    assert entry["reason"] == "Cached run is stale (26.1h old, TTL=24h)"


@line("517", "what is reused is normalized if it was not")
@line("561-568", "a reused entry has source, reason, age and run")
@line("603-611", "with the reason: Cached run is fresh (5.2h old, TTL=24h), and counts of 0")
@line("1331-1343", "reused entries are recorded so")
def test_a_reused_source(brands, brand, status, bench, settle):
    status(SIX[0])
    (connection,) = brands.connections(ACME, brand.id)
    bench.clock.set(runs_of(brands, connection)[0].started_at + int(5.2 * 3_600_000_000))
    again = brands.compile(ACME, brand.id)
    settle()

    (entry,) = brands.compile_run(ACME, again.id).evidence_status["reused"]
    assert (entry["source"], entry["run_age_hours"]) == ("instagram.posts", 5.2)
    assert entry["reason"] == "Cached run is fresh (5.2h old, TTL=24h)"
    assert (entry["normalized_created"], entry["normalized_updated"]) == (0, 0)


@line(
    "1344-1349",
    "a reuse without a run is recorded as reused",
    differs="it is recorded as failed: there was nothing to reuse",
    page=f"{PAGE}#the-evidence-status",
)
def test_a_reuse_without_a_run():
    from haulwright.apps.brands.evidence.status import SourceOutcome, evidence_status  # noqa: PLC0415 - here alone

    assert evidence_status([SourceOutcome("instagram.posts", "c", "reused", "fresh")])["reused"]


@line("562", "reuse_cached_run takes the source and the run that the check gave")
def test_reuse_takes_what_the_check_gave(brands, brand, status):
    status(SIX[0])
    (connection,) = brands.connections(ACME, brand.id)
    words = BrandBrain(brands, ACME)
    freshness = words.check_source_freshness(connection.id)
    try:
        reused = words.reuse_cached_run(connection, freshness.cached_run)
    except (HaulwrightError, AttributeError, TypeError) as refused:
        pytest.fail(str(refused))
    assert reused.success


@pytest.fixture
def failed(sandbox, status):
    """The entry of a source that failed, beside one that did not."""
    sandbox.apify.script(actor=VIDEOS, ending="FAILED", message="the profile is private")
    done = status(SIX[0], SIX[2])
    assert done.status == "succeeded"
    return done.evidence_status["failed"][0]


@line("553-558", "a failed entry has source, reason and error")
@line("630-638", "with run and status")
@line("633", "the reason of a source without a run is: No successful run exists for this source")
@line("1317-1324", "failed entries are recorded so")
@line("1367", "the run is recorded")
@line("1369", "the message is recorded")
@line("1372-1385", "the dataset too, as is proposed there")
@line("1368", "dataset_id is recorded after all")
@line("1370", "the class of the error is recorded after all")
def test_a_failed_source(failed):
    assert (failed["source"], failed["reason"]) == (
        "tiktok.profile_videos",
        "No successful run exists for this source",
    )
    assert "the profile is private" in failed["error"]
    assert (failed["apify_run_status"], failed["error_class"]) == ("FAILED", "RunFailed")
    assert failed["apify_run_id"]
    assert failed["dataset_id"]


@line("634", "the error of a time-out begins with: Polling timed out after 300s")
def test_the_error_of_a_time_out(sandbox, status):
    sandbox.apify.script(actor=POSTS, ending="NEVER")
    (entry,) = status(SIX[0], SIX[2]).evidence_status["failed"]

    assert entry["error"].startswith("Polling timed out after 300s")


@line("636", "its status is timed_out in small letters")
def test_the_status_of_a_time_out(sandbox, status):
    sandbox.apify.script(actor=POSTS, ending="NEVER")
    (entry,) = status(SIX[0], SIX[2]).evidence_status["failed"]

    assert entry["apify_run_status"] == "timed_out"


@line("13", "the status has reused, refreshed, skipped and failed")
@line("601-639", "these four lists and no others")
@line("685", "evidence is tracked in them")
def test_the_four_lists(status):
    assert set(status(SIX[0]).evidence_status) == {"reused", "refreshed", "skipped", "failed"}


@line("12", "caps hold in the input of an actor and in the fetch")
@line("683", "both are enforced")
def test_caps_hold_twice(sandbox, status):
    sandbox.apify.script(items=40)
    (entry,) = status(SIX[0]).evidence_status["refreshed"]

    assert (sandbox.books.paid_runs(POSTS)[0].input["resultsLimit"], entry["raw_items_count"]) == (6, 6)


@pytest.mark.parametrize(
    ("file", "tests"),
    [
        pytest.param("test_compat.py", 4, marks=line("652", "four tests of the queue")),
        pytest.param("test_compat.py", 2, marks=line("653", "two tests of leasing")),
        pytest.param("test_compat.py", 2, marks=line("654", "two tests of stale locks")),
        pytest.param("test_refresh.py", 3, marks=line("655", "three tests of ingestion")),
        pytest.param("test_refresh.py", 2, marks=line("656", "two tests of caps")),
        pytest.param("test_compile.py", 2, marks=line("657", "two tests of the compile")),
        pytest.param("test_compile.py", 3, marks=line("658", "three tests of the evidence status")),
        pytest.param("test_isolation.py", 2, marks=line("659", "two tests of brands' separation")),
    ],
)
def test_there_are_tests_of_it(file, tests):
    assert (FOLDER / file).read_text("utf-8").count("\ndef test_") >= tests


@line("661-668", "pytest runs them by their folder")
@line("1395", "all of them at once")
def test_the_tests_are_in_a_folder():
    assert len(list(FOLDER.glob("test_*.py"))) > 5


@line(
    "670-671",
    "a marker db chooses those with a database",
    differs="every test has its databases; -m postgres chooses one of them",
    page="explanation/differences.md#brands",
)
def test_there_is_a_marker_db(request):
    assert [name for name in request.config.getini("markers") if name.startswith("db")]


@line("659", "a brand of another tenant is not to be seen")
@line("686", "brands are kept apart")
def test_brands_are_kept_apart(brands, brand, status):
    done = status(SIX[0])

    for ask in (lambda: brands.get(GLOBEX, brand.id), lambda: brands.compile_run(GLOBEX, done.id)):
        with pytest.raises(NotFound):
            ask()
    assert uuid.UUID(done.id)


@line("687", "in tests it runs on SQLite, without a worker beside it")
def test_it_runs_on_sqlite_without_a_worker(status):
    assert status(SIX[0]).status == "succeeded"


@line("689", "a compile is only asked for: what takes long is left to workers")
def test_asking_leaves_the_work_to_workers(brands, brand, sandbox):
    connect(brands, brand, *SIX)
    brands.compile(Principal.of_tenant(brand.tenant), brand.id)

    assert sandbox.books.requests() == []
    assert rows(brands, "select task, attempts from haulwright_jobs") == [("brands.compile", 0)]
