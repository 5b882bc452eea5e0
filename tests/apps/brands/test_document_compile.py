"""Document 000, compiles and their tests (lines 1 to 30, 496 to 526, 650 to 686, 1395), each executed or compared."""

from __future__ import annotations

import inspect
import uuid
from pathlib import Path

import pytest

from haulwright.apps.brands.compat import BrandBrain
from haulwright.apps.brands.evidence.status import OUTCOMES
from haulwright.engine.ids import new_id
from haulwright.errors import InvalidValue, JobFailed, NotFound, ResultTimeout
from tests.apps.brands.scenes import ACME, GLOBEX, SIX, connect, count, rows

line = pytest.mark.line
FOLDER = Path(__file__).parent


@line("9", "jobs are rows of the database, with leases")
@line("680", "the queue is durable")
def test_jobs_are_rows(brands, brand):
    compiled = brands.compile(ACME, brand.id)

    assert rows(brands, "select count(*) from brandbrain_job where status = 'pending'") == [(1,)]
    assert compiled.job_id


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
