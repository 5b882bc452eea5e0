"""The document's worker by hand: twenty jobs, two workers, one killed in the middle; each is processed once."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from haulwright import Haulwright
from haulwright.apps.prices import NewIntake, Prices
from tests.apps.prices.document_loop import CLAIMED
from tests.apps.prices.scenes import TENANT, WHO, json_rules

ROOT = Path(__file__).parents[3]
PATIENCE_SECONDS = 240
NEVER = 1_000
VERIFY = """
SELECT
  status,
  locked_by,
  COUNT(*) as count
FROM scrape_jobs
WHERE status IN ('succeeded', 'failed', 'running')
GROUP BY status, locked_by;
"""


@pytest.fixture
def site(database_url):
    """Twenty jobs, on the clock of everybody."""
    with closing(Haulwright(database_url)) as app:
        prices = Prices(app, private_hosts="127.0.0.1")
        for name in ("coinhall", "muenzkontor"):
            prices.sources.put(TENANT, name, json_rules("http://127.0.0.1:9", name))
        for number in range(10):
            prices.intakes.add(TENANT, NewIntake(title=f"Coin {number}"))
        assert prices.collect_all(WHO) == 20
        yield app


@pytest.fixture
def start(database_url):
    """Starts the document's worker under a name; what is left of it is killed in the end."""
    started = []

    def run(name, most=NEVER, lock_seconds=300):
        environment = os.environ | {
            "HAULWRIGHT_DATABASE_URL": database_url,
            "WORKER_ID": name,
            "JOB_LOCK_TIMEOUT_SECONDS": str(lock_seconds),
        }
        command = [sys.executable, "-m", "tests.apps.prices.document_loop", str(most)]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, text=True))
        return started[-1]

    yield run
    for process in started:
        process.kill()
        process.communicate()


def verified(app):
    """The document's own query, as it stands."""
    rows = app.store.database.read(lambda connection: connection.execute(VERIFY))
    return {(status, locked_by): count for status, locked_by, count in rows}


@pytest.mark.crash
@pytest.mark.proves("TS-04")
def test_two_workers_by_hand_process_each_job_once(site, start):
    workers = [start("worker-1"), start("worker-2")]

    assert [worker.wait(PATIENCE_SECONDS) for worker in workers] == [0, 0]

    counts = verified(site)
    assert {status for status, _ in counts} == {"succeeded"}
    assert sum(counts.values()) == 20
    attempts = "select max(attempts), sum(attempts) from scrape_jobs"
    assert site.store.database.read(lambda connection: connection.execute(attempts)) == [(1, 20)]


@pytest.mark.crash
@pytest.mark.proves("TS-05")
def test_what_a_killed_worker_by_hand_held_is_finished_by_the_next(site, start):
    first = start("worker-1", most=7, lock_seconds=2)
    assert first.stdout.readline().startswith(CLAIMED)
    first.kill()
    first.wait()
    assert verified(site) == {("succeeded", "worker-1"): 7, ("running", "worker-1"): 1}

    assert start("worker-2").wait(PATIENCE_SECONDS) == 0

    assert verified(site) == {("succeeded", "worker-1"): 7, ("succeeded", "worker-2"): 13}
