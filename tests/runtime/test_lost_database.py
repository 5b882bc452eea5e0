"""Workers whose database is replaced, deleted or damaged under them: they notice, say so once, and end."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from haulwright import Haulwright
from haulwright.errors import DatabaseLost
from tests.runtime.waiting import eventually
from tests.support import rough_hands
from tests.support.rough_hands import HANDS

PATH = os.pathsep.join(["{}", str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
APP = """
import os, time
from haulwright import Haulwright

app = Haulwright()


@app.task(lease="1 s")
def hold() -> None:
    time.sleep(600)


@app.task()
def add(n: int) -> int:
    return n
"""
PATIENCE_SECONDS = 60


@pytest.fixture
def place(tmp_path):
    """A folder with an app and its database."""
    (tmp_path / "jobs.py").write_text(APP)
    with closing(Haulwright(f"sqlite:///{tmp_path}/haulwright.db")) as app:
        app.store.now()
    return tmp_path


@pytest.fixture
def workers(place):
    """The real command, with its lines in a file."""
    started = []

    def start(*words):
        log = (place / f"log-{len(started)}").open("w+")
        command = [sys.executable, "-m", "haulwright", "worker", "-A", "jobs:app", "--log-format", "json", *words]
        environment = {
            **os.environ,
            "PYTHONPATH": PATH.format(place),
            "HAULWRIGHT_DATABASE_URL": f"sqlite:///{place}/haulwright.db",
            "HAULWRIGHT_POLL_INTERVAL_SECONDS": "0.2",
        }
        process = subprocess.Popen(command, cwd=place, env=environment, stderr=log, stdout=subprocess.DEVNULL)
        started.append((process, log))
        return process, Path(log.name)

    yield start
    for process, log in started:
        process.kill()
        process.wait()
        log.close()


def run(place, *words):
    environment = {**os.environ, "PYTHONPATH": PATH.format(place)}
    command = [sys.executable, "-m", "haulwright", *words, "--database", f"sqlite:///{place}/haulwright.db"]
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)


def lines_of(log):
    return [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]


def losses_in(log):
    return [line for line in lines_of(log) if "the database is lost" in line["message"]]


def has_begun(log):
    return any(line["message"] == "worker started" for line in lines_of(log))


@pytest.mark.parametrize("hand", HANDS)
@pytest.mark.parametrize("busy", [False, True], ids=["idle", "in a run"])
def test_a_worker_ends_with_the_reason_when_its_file_is_taken_away(place, workers, hand, busy):
    if busy:
        assert run(place, "run", "-A", "jobs:app", "hold").returncode == 0
    process, log = workers("--concurrency", "1")
    eventually(lambda: has_begun(log) and (not busy or _is_running(place)))
    do, words = HANDS[hand]

    do(place / "haulwright.db")

    assert process.wait(PATIENCE_SECONDS) == DatabaseLost.exit_code
    (line,) = losses_in(log)
    seen = {words, "was replaced by another file"} if hand == "emptied" else {words}
    # A connection that was being opened at that moment may have written its mark into the empty file.
    assert (line["level"], any(word in line["error"] for word in seen)) == ("critical", True)
    assert "Stop every process" in line["hint"]
    assert "Traceback" not in log.read_text()
    assert f"Error: {line['error']}" in log.read_text()


def test_a_damaged_file_ends_the_worker_in_order(place, workers):
    process, log = workers()
    eventually(lambda: has_begun(log))

    rough_hands.damage(place / "haulwright.db")

    assert process.wait(PATIENCE_SECONDS) == DatabaseLost.exit_code
    (line,) = losses_in(log)
    assert ".recover" in line["hint"] or "written over" in line["error"]
    assert "Traceback" not in log.read_text()


def test_a_supervisor_starts_nobody_against_what_is_in_the_place(place, workers):
    """An empty file would be made a database, and the workers would find nothing to do for ever."""
    process, log = workers("--processes", "2")
    eventually(lambda: [line["message"] for line in lines_of(log)].count("worker started") == 2)

    rough_hands.delete(place / "haulwright.db")

    assert process.wait(PATIENCE_SECONDS) == DatabaseLost.exit_code
    assert not (place / "haulwright.db").exists()
    messages = [line["message"] for line in lines_of(log)]
    assert any("none is started again until a person has looked" in message for message in messages)
    assert messages.count("started a worker") == 2


def test_what_was_acknowledged_before_the_log_was_deleted_is_in_the_file_when_all_have_ended(place, workers):
    """The last one that closes the file copies what its log had, deleted or not."""
    process, log = workers("--queues", "nothing")
    eventually(lambda: has_begun(log))
    for n in range(5):
        assert run(place, "run", "-A", "jobs:app", "add", f"n={n}").returncode == 0
    with closing(sqlite3.connect(f"file:{place}/haulwright.db?immutable=1", uri=True)) as file:
        assert _count(file) < 5  # they are in the log alone

    rough_hands.delete_log(place / "haulwright.db")
    assert process.wait(PATIENCE_SECONDS) == DatabaseLost.exit_code

    with closing(sqlite3.connect(place / "haulwright.db")) as file:
        assert _count(file) == 5


def _count(connection):
    try:
        return connection.execute("select count(*) from haulwright_jobs").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def _is_running(place):
    with closing(sqlite3.connect(place / "haulwright.db")) as file:
        return file.execute("select count(*) from haulwright_jobs where state = 'running'").fetchone()[0] == 1
