"""Canaries in every credential, and a real worker whose every call fails: none of them is heard anywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from base64 import b64encode
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner

from haulwright import Haulwright
from haulwright.cli.kit.root import root
from haulwright.engine.transitions import State
from haulwright.sandbox import Sandbox
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from tests.sources.canaries import CANARIES, ENDINGS, HEARD, KINDS, NOBODY, OUTSIDE_VARIABLE, fault, place

REPOSITORY = Path(__file__).parents[2]
WORKER = [sys.executable, "-m", "haulwright", "worker", "-A", "tests.sources.leaky:app", "--until-empty", "-v"]


@pytest.fixture
def hostile():
    """A world that lets every request fail in the way that its path names."""
    with Sandbox(seed=7) as sandbox:
        for kind, ending in product(KINDS, HEARD):
            sandbox.faults.add(path=f"{place(kind, ending)}/*", times=None, **fault(kind, ending))
        yield sandbox


@pytest.fixture
def address(database_url):
    """The database, with a password in its address where there can be one."""
    return database_url.replace("://haulwright@", f"://haulwright:{CANARIES['database']}@")


@pytest.fixture
def desk(address):
    """The same database for those who only ask; no credential is known here, so nothing would be masked."""
    with closing(open_database(address)) as database:
        migrations.migrate(database)
    with closing(Haulwright(address)) as app:
        yield app


@pytest.fixture
def jobs(desk):
    """A job for each credential and each way to fail, and one that looks at everything."""

    def fail(kind: str, ending: str) -> None:
        raise AssertionError((kind, ending))

    def describe() -> list[str]:
        raise AssertionError

    task = desk.task(name="fail", retry=1)(fail)
    calls = [task.call(kind, ending) for kind, ending in product(KINDS, ENDINGS)]
    return [*desk.enqueue_many(calls), desk.task(name="describe")(describe).enqueue()]


@pytest.fixture
def haulwright(address):
    """A command line, in this process."""

    def run(*words: str) -> str:
        result = CliRunner().invoke(root, [*words, "--database", address])
        assert result.exit_code in {0, 1}, result.output
        return result.output

    return run


def run_worker(address: str, hostile: Sandbox, *words: str) -> str:
    """Run a worker until nothing is due, and return all that it said."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        "HAULWRIGHT_DATABASE_URL": address,
        OUTSIDE_VARIABLE: hostile.url,
    }
    done = subprocess.run([*WORKER, *words], env=environment, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout + done.stderr


def written(app: Haulwright) -> str:
    """Every row of every table of a database."""
    listing = {
        "sqlite": "select name from sqlite_master where type = 'table'",
        "postgres": "select table_name from information_schema.tables where table_schema = current_schema()",
    }
    return app.store.database.read(
        lambda connection: "\n".join(
            str(connection.execute(f"select * from {table}"))  # noqa: S608 - names of our own
            for (table,) in connection.execute(listing[connection.dialect])
        )
    )


def heard(text: str) -> list[str]:
    """The canaries in a text, plain or packed for basic authentication."""
    packed = b64encode(f"user:{CANARIES['basic']}".encode()).decode()
    return [kind for kind, canary in {**CANARIES, "packed": packed}.items() if canary in text]


@pytest.mark.proves("SC-01")
def test_no_canary_is_heard_however_a_call_fails(desk, address, hostile, jobs, haulwright):
    said = run_worker(address, hostile, "--log-format", "json" if "sqlite" in address else "text")
    shown = [haulwright("job", "show", job.id, "--json") for job in jobs[::3]]
    reasons = [haulwright("job", "why", job.id) for job in jobs[::5]]
    told = [haulwright(*words) for words in looks()]

    texts = {"lines": said, "rows": written(desk), "jobs": shown, "reasons": reasons, "commands": told}
    assert {place: heard(str(text)) for place, text in texts.items()} == {place: [] for place in texts}
    called = {tuple(entry.path.split("/")[2:4]) for entry in hostile.books.requests(path="/ending/*")}
    assert len(called) > 0.9 * len(KINDS) * len(HEARD)
    assert_told_all_the_same(jobs)


def looks() -> list[list[str]]:
    """What people look at when things fail."""
    sources = [["source", "show", f"{kind}@401", "--json"] for kind in KINDS]
    lists = [[noun, "list", "--json"] for noun in ("job", "dead", "source", "event")]
    return [*sources, *lists, ["settings", "--json"], ["doctor", "--json"], ["workers", "--json"]]


def assert_told_all_the_same(jobs) -> None:
    """The jobs ended as they should, and those that failed say with what."""
    dead = [job.job() for job in jobs if job.state() is State.DEAD]
    codes = {json.loads(row.args)["ending"]: row.error_code for row in dead if json.loads(row.args)["kind"] == "apify"}
    assert codes["401"] == codes["403"] == "apify_auth_failed"
    assert (codes["404"], codes["500"], codes[NOBODY]) == ("apify_not_found", "apify_unavailable", "not_sent")
    assert codes["hangs"] == codes["lost"] == "outcome_unknown"
    assert jobs[-1].state() is State.SUCCEEDED


def test_a_database_that_cannot_be_reached_is_named_without_its_password():
    address = f"postgresql://haulwright:{CANARIES['database']}@127.0.0.1:1/haulwright"

    answer = CliRunner().invoke(root, ["job", "list", "--database", address])

    assert answer.exit_code == 69
    assert heard(answer.output + str(answer.exception)) == []
