"""What the command line says to somebody who is new to it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from haulwright.cli.kit.root import COMMANDS, GROUPS
from haulwright.engine.ids import new_id
from tests.cli.conftest import REPOSITORY, SHOP
from tests.cli.terminal import pseudo_terminal
from tests.runtime.waiting import eventually

TALKING_APP = """
import logging, sys, time
from pathlib import Path
from haulwright import Context, Haulwright

app = Haulwright()

@app.task
def talk(name: str) -> None:
    logging.getLogger("shop").info("asking for %s with token=hunter2", name)
    logging.getLogger("httpx").info("HTTP Request: GET https://shop.example")
    print("begun", file=Path("begun").open("w"))

@app.task
async def atalk(name: str) -> None:
    logging.info("awaiting %s", name)

@app.task
def wait(ctx: Context) -> None:
    Path("begun").touch()
    while True:
        time.sleep(0.01)
        ctx.progress(1, 2)
"""
MISSPELT = "HAULWRIGHT_DATABSE_URL"


@pytest.fixture
def talking(on_file):
    """An app whose tasks log, with a job of each that ends."""
    Path("talking.py").write_text(TALKING_APP)
    return [on_file("run", "-A", "talking:app", task, "name=A1").out.strip() for task in ("talk", "atalk")]


def worker(process, sqlite_url, *words, **how):
    return process("worker", "-A", "talking:app", "--database", sqlite_url, *words, **how)


def test_what_a_task_logs_reaches_the_workers_log_with_its_job(process, talking, sqlite_url):
    _, err = worker(process, sqlite_url, "--until-empty", "--log-format", "json").communicate(timeout=60)

    lines = {line["message"]: line for line in map(json.loads, err.splitlines())}
    asked = lines["asking for A1 with token=***"]
    assert (asked["job"], asked["task"], asked["level"], asked["logger"]) == (talking[0], "talk", "info", "shop")
    assert lines["awaiting A1"]["job"] == talking[1]
    assert not any("HTTP Request" in message for message in lines)


def test_an_app_that_sets_up_logging_itself_is_left_alone(process, talking, sqlite_url):
    del talking
    path = Path("talking.py")
    path.write_text(f"import logging\nlogging.basicConfig(level=20, format='OWN %(message)s')\n{path.read_text()}")

    _, err = worker(process, sqlite_url, "--until-empty").communicate(timeout=60)

    assert "OWN asking for A1" in err
    assert err.count("asking for A1") == 1


def test_the_first_interrupt_is_answered(process, on_file, sqlite_url):
    Path("talking.py").write_text(TALKING_APP)
    on_file("run", "-A", "talking:app", "wait")
    with worker(process, sqlite_url, "--grace", "1 h") as running:
        eventually(Path("begun").exists, seconds=60)
        running.send_signal(signal.SIGINT)
        line = next(line for line in running.stderr if "stopping" in line)
        running.kill()

    assert "a second signal gives it back at once  runs=1 grace_seconds=3600" in line


def test_lines_on_a_terminal_are_short_and_in_colour_unless_somebody_wants_none(talking, sqlite_url):
    command = [sys.executable, "-m", "haulwright", "worker", "-A", "talking:app", "--database", sqlite_url]
    with pseudo_terminal(columns=200) as (terminal, screen, drawing):
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "NO_COLOR": "1"}
        subprocess.run([*command, "--until-empty"], stderr=terminal, env=environment, check=True, timeout=60)
        os.close(terminal)
        drawing.join(60)

    assert any(re.match(rf"[0-9:]{{8}} job succeeded  talk {talking[0][-12:]}  ", line) for line in screen.lines)
    assert any(f"on {sqlite_url}  queues: default  tasks: atalk, talk, wait" in line for line in screen.lines)


def test_a_misspelt_variable_is_told_by_worker_doctor_and_settings(process, talking, sqlite_url, bare, monkeypatch):
    del talking
    monkeypatch.setenv(MISSPELT, "postgresql://db/jobs")
    _, err = worker(process, sqlite_url, "--until-empty").communicate(timeout=60)

    told = [err, bare("doctor", "--database", sqlite_url).out, bare("settings").err]
    for text in told:
        assert f"{MISSPELT}, which is no setting" in text
        assert "Did you mean 'HAULWRIGHT_DATABASE_URL'?" in text


@pytest.mark.parametrize("name", ["HAULWRIGHT_APP", "HAULWRIGHT_BRIEF_FEED_RATE", "HAULWRIGHT_TESTING", "OTHER"])
def test_a_variable_that_is_spelt_right_is_not_told(bare, monkeypatch, name):
    monkeypatch.setenv(name, "1/s")

    assert "no setting" not in bare("settings").err


def test_a_job_is_named_by_the_end_of_its_id_or_as_the_last_one(haulwright, enqueue):
    first, second = enqueue("price", "sku=A1"), enqueue("price", "sku=A2")

    for name, job_id in ((first[-6:], first), (second[-12:].upper(), second), ("last", second), (first, first)):
        assert haulwright("job", "show", name, "--json").json["id"] == job_id
        assert haulwright("job", "why", name, "--json").json["id"] == job_id
    assert haulwright("event", "list", "--job", "last", "--json").code == 0
    assert haulwright("job", "cancel", first[-6:]).code == 0
    assert haulwright("job", "show", first, "--json").json["state"] == "cancelled"


def test_an_end_that_fits_several_ids_or_none_is_refused(haulwright, enqueue, store):
    del store
    ids = [enqueue("price", "sku=A1") for _ in range(2)]
    absent = next(tail for tail in ("0000", "1111", "2222") if not any(job_id.endswith(tail) for job_id in ids))

    missing, odd = haulwright("job", "show", absent), haulwright("job", "show", "newest")

    assert (missing.code, odd.code) == (3, 3)
    assert f"whose id ends with {absent}, among the newest" in missing.err
    assert "at least 4 letters of its end, or last" in odd.err


def test_an_end_that_fits_two_ids_asks_for_more_of_it(haulwright, store, monkeypatch):
    ids = [f"{new_id()[:-6]}abcdef" for _ in range(2)]
    monkeypatch.setattr("haulwright.client.calls.new_id", iter(ids).__next__)
    for _ in ids:
        haulwright("run", "-A", SHOP, "price", "sku=A1")
    del store

    told = haulwright("job", "show", "abcdef")

    assert (told.code, "The ids of 2 jobs end with abcdef." in told.err) == (2, True)


def test_jobs_that_wait_for_a_retry_are_listed_by_the_word_that_the_list_shows(haulwright, enqueue, work):
    retried, waiting = enqueue("fetch", "url=x"), None
    work()
    waiting = enqueue("fetch", "url=y")

    (listed,) = haulwright("job", "list", "--state", "retrying", "--json").json["jobs"]

    assert listed["id"] == retried != waiting
    assert "retrying" in haulwright("job", "list", "--state", "retrying").out


def test_no_job_is_the_last_one_of_an_empty_database(haulwright):
    assert "There is no job yet." in haulwright("job", "show", "last").err


def test_every_command_is_in_one_group_of_the_help(bare):
    grouped = [name for names in GROUPS.values() for name in names]
    help_text = bare("--help").out

    assert sorted(grouped) == sorted(COMMANDS)
    titles = ["Run:", "Look:", "Repair:", "Applications:", "Set-up:"]
    assert [line for line in help_text.splitlines() if line in titles] == titles


@pytest.mark.parametrize("group", ["dead", "job", "schedule", "source", "sync", "price"])
def test_short_helps_are_whole_sentences(bare, group):
    assert "..." not in bare(group, "--help").out.partition("Commands:")[2]


def test_settings_are_in_words_and_leave_room_for_their_meaning(bare, monkeypatch):
    monkeypatch.setenv("HAULWRIGHT_DATABASE_URL", f"sqlite:////srv/{'long/' * 30}shop.db")
    lines = bare("settings").out.splitlines()

    (kept,) = [line for line in lines if line.startswith("keep_succeeded_seconds")]
    (database,) = [line for line in lines if line.startswith("database_url")]
    assert " 30 days " in kept
    assert "…" in database
    assert database.endswith("where the jobs are")


@pytest.mark.postgres
def test_a_server_that_answers_is_not_asked_whether_it_runs(bare, postgres_url):
    base, _, query = postgres_url.partition("?")
    told = bare("job", "list", "--database", f"{base.rpartition('/')[0]}/no_such_database?{query}")
    down = bare("job", "list", "--database", "postgresql://127.0.0.1:1/jobs")

    assert 'database "no_such_database" does not exist.' in told.err
    assert "Is it running" not in told.err
    assert "createdb" in told.err
    assert re.search(r"\. *\n? *Is it running, and are host and port right\?", down.err)
