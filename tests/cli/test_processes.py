"""Several workers under one supervisor, as real processes: started, replaced, stopped together."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from haulwright.runtime.identity import started_at
from haulwright.runtime.process import ECHO_SECONDS
from tests.cli.conftest import SHOP
from tests.cli.test_worker import SLOW_APP
from tests.runtime.waiting import eventually


def line_with(stream, *words):
    """The next line on stderr that has all these words; fails where the process ends without it."""
    for line in stream:
        if all(word in line for word in words):
            return line
    raise AssertionError(f"nobody said {words}")


def pids(stream, count):
    return [int(re.search(r"pid=(\d+)", line_with(stream, "started a worker"))[1]) for _ in range(count)]


@pytest.fixture
def supervised(process, sqlite_url):
    """A supervisor that is killed when the test is over, whatever became of it."""
    started = []

    def start(*words, app=SHOP, **how):
        started.append(process("worker", "-A", app, "--database", sqlite_url, "--processes", *words, **how))
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.wait()
        one.stdout.close()
        one.stderr.close()


def test_several_workers_drain_a_queue_and_end_by_themselves(process, haulwright, enqueue, store, database_url):
    for number in range(6):
        enqueue("price", f"sku={number}")

    words = (
        "--processes",
        "2",
        "--until-empty",
        "--name",
        "w",
        "--concurrency",
        "1",
        "--poll-interval",
        "1 s",
        "--json",
    )
    whole = process("worker", "-A", SHOP, "--database", database_url, *words)
    out, _ = whole.communicate(timeout=90)

    assert whole.returncode == 0
    assert json.loads(out) == {"processes": 2, "restarts": 0}
    assert {worker.name for worker in store.workers.list(everyone=True)} == {"w-1", "w-2"}
    assert {job["state"] for job in haulwright("job", "list", "--json").json["jobs"]} == {"succeeded"}


def test_a_worker_that_is_killed_is_replaced_and_the_log_says_so(supervised):
    whole = supervised("1")
    (first,) = pids(whole.stderr, 1)
    line_with(whole.stderr, "worker started")

    os.kill(first, signal.SIGKILL)

    assert "(SIGKILL)" in line_with(whole.stderr, "started again", f"pid={first}", "place=1", "pause_seconds=0.5")
    assert pids(whole.stderr, 1) != [first]


def told_again(whole):
    """Say it again, a moment later: signals that come at once are taken for one."""
    with suppress(subprocess.TimeoutExpired):
        whole.wait(2 * ECHO_SECONDS)
    whole.send_signal(signal.SIGTERM)
    whole.communicate(timeout=90)


def test_a_signal_drains_all_workers_and_a_second_one_hurries(supervised, on_file):
    """The run has a grace of 25 seconds, and nothing ends it."""
    Path("slow_app.py").write_text(SLOW_APP)
    job_id = on_file("run", "-A", "slow_app:app", "slow", "name=begun").out.strip()
    whole = supervised("2", app="slow_app:app")
    for _ in range(2):
        line_with(whole.stderr, "worker started")
    eventually(Path("begun").exists)

    whole.send_signal(signal.SIGTERM)
    line_with(whole.stderr, "told the workers to stop", "workers=2")
    line_with(whole.stderr, "worker stopped")  # the one that had nothing to do
    told_again(whole)

    assert whole.returncode == 0
    job = on_file("job", "show", job_id, "--json").json
    assert (job["state"], job["attempts"]) == ("queued", 0)


def test_an_interrupt_from_the_keyboard_reaches_each_worker_once(supervised, on_file):
    """It goes to the whole group of the terminal. Heard twice, it would take the grace from what runs."""
    Path("slow_app.py").write_text(SLOW_APP)
    job_id = on_file("run", "-A", "slow_app:app", "slow", "name=begun").out.strip()
    whole = supervised("2", app="slow_app:app", start_new_session=True)
    for _ in range(2):
        line_with(whole.stderr, "worker started")
    eventually(Path("begun").exists)

    os.killpg(whole.pid, signal.SIGINT)
    line_with(whole.stderr, "told the workers to stop", "signal=SIGINT")
    line_with(whole.stderr, "worker stopped")
    Path("go").touch()
    whole.communicate(timeout=90)

    assert whole.returncode == 0
    assert on_file("job", "show", job_id, "--json").json["state"] == "succeeded"


@pytest.mark.crash
def test_workers_do_not_outlive_their_supervisor(supervised):
    whole = supervised("2")
    workers = pids(whole.stderr, 2)
    for _ in workers:
        line_with(whole.stderr, "worker started")

    whole.kill()

    eventually(lambda: [started_at(pid) for pid in workers] == [None, None])


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("-A", "nowhere:app"), 2, "There is no module nowhere"),
        (("-A", SHOP, "--database", "postgresql://127.0.0.1:1/none"), 69, "cannot be reached"),
    ],
)
def test_workers_that_cannot_start_end_the_whole_with_their_code(process, words, code, told):
    whole = process("worker", *words, "--processes", "2")
    _, said = whole.communicate(timeout=90)

    assert whole.returncode == code
    assert told in said
    assert "no worker can start" in said


@pytest.mark.parametrize("flag", [["--once"], ["--max-jobs", "3"], ["--dry-run"], ["--exclusive"]])
def test_what_means_one_worker_is_refused_with_several(on_file, flag):
    answer = on_file("worker", "-A", SHOP, "--processes", "2", *flag)

    assert answer.code == 2
    assert f"{flag[0]} does not go with --processes" in answer.err
