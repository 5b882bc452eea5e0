"""The demo: what it shows is true, and nothing is left of it."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest

from haulwright.application.scenario import Check, Reached
from haulwright.clock import SECOND
from haulwright.demo import progress
from haulwright.demo.cli import _play
from haulwright.demo.database import place
from haulwright.demo.summary import DemoSummary
from haulwright.demo.waits import Wait, wait_of
from haulwright.discovery import installed_applications
from haulwright.engine.transitions import State
from tests.cli.conftest import REPOSITORY
from tests.cli.terminal import pseudo_terminal
from tests.runtime.waiting import eventually

BAR = re.compile("[━╸╺]")
GOOD, BAD = Check("jobs", "1 of 1", good=True), Check("files", "0 of 1", good=False)


def surroundings(folder):
    """A folder for what the demo writes, and a setting that would stop it if it listened to those of the user."""
    return {"TMPDIR": str(folder), "HAULWRIGHT_CONCURRENCY": "-1"}


def asked(url, sql, *words):
    """What PostgreSQL answers."""
    with psycopg.connect(url) as connection:
        return connection.execute(sql, words).fetchall()


@pytest.mark.crash
@pytest.mark.timeout(400)
def test_five_applications_come_to_their_end_although_a_worker_is_killed_and_can_be_looked_at(
    process, bare, tmp_path, monkeypatch
):
    folder = tmp_path / "scratch"
    folder.mkdir()
    with (
        pseudo_terminal(columns=300) as (terminal, screen, _),
        process("demo", "--keep", "--json", stderr=terminal, extra=surroundings(folder)) as demo,
    ):
        os.close(terminal)
        eventually(lambda: any("Ctrl-C" in line for line in screen.lines), seconds=300)
        told = screen.lines
        (exported,) = [line for line in told if "export " in line]
        monkeypatch.setenv(*shlex.split(exported)[1].split("=", 1))
        looks = told[told.index(exported) + 1 :]  # what was said above may be wrapped
        shown = [shlex.split(line)[1:] for line in looks if re.match(r"\s+\S*haulwright \w+", line)]
        looked = {" ".join(words): bare(*words) for words in shown if words[0] != "top"}
        demo.send_signal(signal.SIGINT)
        account = json.load(demo.stdout)

    assert [one for one in account["checks"] if not one["good"]] == []
    assert account["sound"] is True
    assert demo.returncode == 0
    assert {one["what"].split(":")[0] for one in account["checks"]} == {
        "jobs", "brands", "syncs", "brief", "prices", "documents",
    }  # fmt: skip
    assert len([line for line in told if "kill -9 first" in line]) == 1
    assert len([line for line in told if "third has started in its place" in line]) == 1
    assert sorted(word for line in told for word in re.findall(r"s  (\w+): done$", line)) == sorted(
        {"brands", "syncs", "brief", "prices", "documents"}
    )
    assert [line for line in told if BAR.search(line)] == []
    assert len(looked) >= 8
    assert {words: answer.err for words, answer in looked.items() if answer.code} == {}
    assert list(folder.iterdir()) == []


@pytest.fixture
def scripted():
    """Two scripted acts in a process of its own: what is on the screen at its end, of a terminal or of a pipe."""
    command = [sys.executable, "-m", "tests.cli.scripted_acts"]
    how = {"cwd": REPOSITORY, "timeout": 100}

    def on_terminal():
        with pseudo_terminal() as (terminal, screen, drawing):
            subprocess.run(command, check=True, stderr=terminal, env={**os.environ, "TERM": "xterm-256color"}, **how)
            os.close(terminal)
            drawing.join(60)
            return screen.lines

    def on_pipe():
        return subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True, **how).stderr.splitlines()

    return {"terminal": on_terminal, "pipe": on_pipe}


@pytest.mark.parametrize("where", ["terminal", "pipe"])
def test_what_is_said_while_bars_are_drawn_stays_on_the_screen_and_no_bar_does(scripted, where):
    lines = [re.sub(r"^ *[0-9.]+ s  ", "", line) for line in scripted[where]() if line]

    told = ["two acts begin", "kill -9 first: it held 9 jobs", "first: done", "second: done", "the end"]
    waits = ["second: fetch is tried again, in 8 s"] if where == "pipe" else []
    assert lines == [told[0], *waits, *told[1:]]


@pytest.mark.parametrize(
    ("jobs", "told"),
    [
        ([("queued", 12, 1)], "fetch is tried again, in 12 s"),
        ([("queued", 12, 1), ("queued", 4, 0)], "fetch looks again, in 4 s"),
        ([("queued", 12, 1), ("queued", -1, 0)], "fetch is tried again, in 12 s"),
        ([("queued", 12, 0), ("running", 0, 1)], None),
        ([("queued", 3600, 0)], "fetch looks again"),
        ([], None),
    ],
)
def test_an_act_says_what_it_waits_for_and_how_long(jobs, told):
    rows = [
        SimpleNamespace(
            id="a", task="fetch", state=State(state), run_at=due * SECOND, attempts=attempts, waiting_on=None
        )
        for state, due, attempts in jobs
    ]

    wait = wait_of(rows, now=0)

    assert (wait and wait.in_words()) == told


@pytest.mark.crash
@pytest.mark.postgres
@pytest.mark.timeout(400)
def test_it_plays_on_a_postgresql_and_leaves_nothing_there(process, postgres_url, tmp_path):
    demo = process("demo", "--json", "--database", postgres_url, extra=surroundings(tmp_path))
    out, err = demo.communicate(timeout=300)

    assert demo.returncode == 0, out + err
    assert json.loads(out)["sound"] is True
    assert asked(postgres_url, "select tablename from pg_tables where schemaname = current_schema()") == []


@pytest.mark.postgres
def test_its_place_is_a_schema_of_its_own_that_goes_with_it(bare, postgres_url, tmp_path):
    bare("db", "migrate", *installed_applications().specs, "--database", postgres_url)

    with place(tmp_path, postgres_url) as url:
        ((schema,),) = asked(url, "select current_schema()")
        bare("db", "migrate", "--database", url)

    assert schema.startswith("haulwright_demo_")
    assert asked(postgres_url, "select nspname from pg_namespace where nspname = %s", schema) == []


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("words", "where"),
    [
        (("run", "-A", "tests.cli.shop:app", "price", "sku=A1"), "haulwright_jobs"),
        (("brief", "add", "https://news.example/feed"), "brief_feeds"),
    ],
)
def test_a_database_on_which_somebody_works_is_refused(bare, postgres_url, words, where):
    bare("db", "migrate", "brief", "--database", postgres_url)
    assert bare(*words, "--database", postgres_url).code == 0

    told = bare("demo", "--database", postgres_url)

    assert told.code == 2
    assert f"there are rows in {where}" in told.err
    assert "a database of its own" in told.err


def test_an_sqlite_file_that_is_named_is_not_played_on(bare, sqlite_url):
    told = bare("demo", "--database", sqlite_url)

    assert (told.code, "on an SQLite file of its own" in told.err) == (2, True)


@pytest.mark.crash
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_a_demo_that_is_ended_in_the_middle_leaves_no_worker_behind(process, tmp_path, number):
    with process("demo", extra={"TMPDIR": str(tmp_path)}) as demo:
        told = next(line for line in demo.stderr if "two workers are up" in line)
        demo.send_signal(number)

    eventually(lambda: not any(is_alive(int(pid)) for pid in re.findall(r"process (\d+)", told)))


def is_alive(pid):
    return Path(f"/proc/{pid}/cmdline").exists() and b"haulwright" in Path(f"/proc/{pid}/cmdline").read_bytes()


class ScriptedStage:
    """Workers that start at once, and an act that always has a retry to wait for."""

    def __init__(self):
        self.phase, self.hastened, self.looks = "", [], 0
        self.acts = [SimpleNamespace(name="files", promise="", begin=list, checks=list, look=self.look)]
        self.world = SimpleNamespace(sandbox=SimpleNamespace(url=""), jobs=list)
        self.kill, self.start = lambda _: 1, lambda _: SimpleNamespace(pid=1)

    def wait_for_workers(self):
        pass

    def are_workers_up(self):
        return bool(self.hastened) and self.hastened[-1] == "third to start"

    def look(self):
        self.looks += self.phase != "third to start"
        return Reached(min(self.looks, 4), 4)

    def waits(self):
        return {"files": Wait(f"{'0' * 24}{self.looks:012}", "it is tried again", 26, is_retry=True)}

    def retry_now(self, _job_id):
        self.hastened.append(self.phase)

    def wait(self, what, is_so):
        self.phase = what
        while not is_so():
            pass


def test_a_late_retry_is_made_due_at_once_from_the_first_look_to_the_last(monkeypatch):
    monkeypatch.setattr(progress, "WAITS_EVERY_SECONDS", 0.0)
    stage = ScriptedStage()

    _play(SimpleNamespace(out=SimpleNamespace(note=lambda _: None)), stage)

    assert list(dict.fromkeys(stage.hastened)) == ["the workers to work", "third to start", "the work to be finished"]


def test_one_figure_that_is_off_is_not_sound():
    assert DemoSummary([GOOD, GOOD], 3, 1.0).is_sound
    assert not DemoSummary([GOOD, BAD], 3, 1.0).is_sound
