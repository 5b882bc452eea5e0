"""Document 000, the worker (lines 10, 315 to 391, 681, 687 to 689): a program that loops, stops and does the work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

from haulwright import Principal
from haulwright.apps.brands.compat import BrandBrain
from haulwright.cli.kit.root import root
from haulwright.clock import CLOCK_VARIABLE, TESTING_VARIABLE
from haulwright.engine.ids import new_id
from tests.apps.brands.scenes import ACME, SIX, connect, rows

line = pytest.mark.line


@line("10", "a command of manage.py runs the worker", missing="Django")
@line("317-323", "brandbrain_worker is a management command", missing="Django")
@line("383-384", "python manage.py brandbrain_worker starts it", missing="Django")
@line("681", "the worker is a management command", missing="Django")
def test_a_command_of_django_runs_the_worker():
    import haulwright.integrations.django  # noqa: F401, PLC0415 - where it would be


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


@line("687", "in tests it runs on SQLite, without a worker beside it")
def test_it_runs_on_sqlite_without_a_worker(status):
    assert status(SIX[0]).status == "succeeded"


@line("689", "a compile is only asked for: what takes long is left to workers")
def test_asking_leaves_the_work_to_workers(brands, brand, sandbox):
    connect(brands, brand, *SIX)
    brands.compile(Principal.of_tenant(brand.tenant), brand.id)

    assert sandbox.books.requests() == []
    assert rows(brands, "select task, attempts from haulwright_jobs") == [("brands.compile", 0)]
