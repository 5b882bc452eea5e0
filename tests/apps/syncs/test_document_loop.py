"""The document's dispatcher and worker cycle, as it writes them, run to their end, also after a kill in the middle."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from haulwright import Haulwright, Principal
from haulwright.apps.syncs.application import Syncs
from haulwright.apps.syncs.connections import NewConnection
from haulwright.sandbox import Sandbox

ROOT = Path(__file__).parents[3]
PATIENCE_SECONDS = 240
JOBS = "/airbyte/v1/jobs"


@pytest.fixture
def airbyte():
    """An Airbyte whose clock runs, and whose syncs take a moment."""
    with Sandbox(seed=7) as sandbox:
        sandbox.airbyte.script(duration_seconds=0.2, rows=10, times=None)
        yield sandbox


@pytest.fixture
def environment(database_url, airbyte):
    """What every process of the document is started with: its own configuration, and short waits."""
    workspace = next(iter(airbyte.airbyte.workspaces))
    return os.environ | {
        "HAULWRIGHT_DATABASE_URL": database_url,
        "AIRBYTE_BASE_URL": f"{airbyte.url}/airbyte/v1",
        "AIRBYTE_API_TOKEN": "token-of-the-document",
        "AIRBYTE_WORKSPACE_ID": workspace,
        "SYNCS_POLL": "1 s",
        "SYNCS_MIN_INTERVAL": "1 s",
        "SYNCS_ACCOUNT_RATE": "1000/s",
        "SYNCS_API_RATE": "1000/s",
        "SYNCS_BASE_DELAY": "1 s",
    }


@pytest.fixture
def site(database_url, airbyte, environment, monkeypatch):
    """Syncs with the document's connection."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with closing(Haulwright(database_url)) as app:
        syncs = Syncs(app)
        airbyte_id = next(each.id for each in airbyte.airbyte.connections.values() if each.status == "active")
        syncs.add(Principal.of_tenant("acme"), NewConnection("conn-123", airbyte_id, "shop-456"))
        yield app


@pytest.fixture
def start(environment):
    """Starts the document's program; what is left of it is killed in the end."""
    started = []

    def run(*words):
        command = [sys.executable, "-m", "tests.apps.syncs.document_loop", *words]
        started.append(subprocess.Popen(command, cwd=ROOT, env=environment))
        return started[-1]

    yield run
    for process in started:
        process.kill()
        process.wait()


def shown(app):
    """The only job, as the document's table shows it."""
    columns = "status, retry_count, correlation_id, records_synced"
    return app.store.database.read(lambda connection: connection.execute(f"select {columns} from ingestion_jobs"))  # noqa: S608 - as written above


@pytest.mark.crash
def test_the_loop_of_the_document_runs_to_its_end(site, start, airbyte):
    assert start("dispatch", "cycle").wait(PATIENCE_SECONDS) == 0

    assert shown(site) == [("success", 0, "req-789", 10)]
    assert len(airbyte.airbyte.jobs()) == 1


@pytest.mark.crash
@pytest.mark.parametrize("began", [True, False], ids=["Airbyte began", "Airbyte did not begin"])
def test_a_loop_that_is_killed_in_the_middle_of_a_trigger_is_finished_by_the_next(site, start, airbyte, began):
    airbyte.faults.add("hang", path=JOBS, method="POST", seconds=600, carried_out=began)
    first = start("dispatch", "cycle")
    airbyte.books.wait_for(lambda books: books.count(path=JOBS, method="POST"), timeout=PATIENCE_SECONDS)
    first.kill()
    first.wait()
    airbyte.faults.clear()

    assert start("cycle").wait(PATIENCE_SECONDS) == 0

    ((status, *_),) = shown(site)
    assert (status, len(airbyte.airbyte.jobs())) == ("success", 1)
