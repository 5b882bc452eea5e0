"""The command line as a person uses it: words in, text and an exit code out."""

from __future__ import annotations

import json
import logging
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from haulwright.cli.kit.root import root
from haulwright.clock import CLOCK_VARIABLE, TESTING_VARIABLE, SettableClock
from haulwright.redaction import redact
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from haulwright.stores.store import Store
from tests.cli.shop import app
from tests.stores.scenes import START

SHOP = "tests.cli.shop:app"
REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True)
class Answer:
    """What a command said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        return json.loads(self.err)["error"]


@pytest.fixture(autouse=True)
def quiet_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty folder, no settings from outside, and no log handler left behind."""
    for name in os.environ:
        if name.startswith(("HAULWRIGHT_", "DATABASE_URL", "WORKER_ID")) and name != "HAULWRIGHT_TEST_DATABASE_URL":
            monkeypatch.delenv(name)
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.chdir(place)
    log = logging.getLogger("haulwright")
    before = (log.handlers, log.propagate, log.level)
    yield
    log.handlers, log.propagate = before[:2]
    log.setLevel(before[2])


@pytest.fixture
def bare() -> Callable[..., Answer]:
    """A command without a database named."""

    def run(*words: str, given: str | None = None) -> Answer:
        result = CliRunner().invoke(root, list(words), input=given)
        return Answer(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def walled() -> bool:
    """The database is as `db migrate` leaves it."""
    return True


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest) -> str:
    """Each database in turn, with the tables of the engine in it."""
    return str(request.getfixturevalue(f"made_{request.param}_url"))


@pytest.fixture
def haulwright(bare: Callable[..., Answer], database_url: str) -> Callable[..., Answer]:
    """A command on a database of each kind that has its tables."""
    return lambda *words, **more: bare(*words, "--database", database_url, **more)


@pytest.fixture
def typable_url(database_url: str) -> str:
    """The address of the database as a hint repeats it: to be typed, and without a password."""
    return shlex.quote(redact(database_url))


@pytest.fixture
def on_file(bare: Callable[..., Answer], sqlite_url: str) -> Callable[..., Answer]:
    """A command on an SQLite file that may not exist yet, for what does not depend on the database."""
    return lambda *words, **more: bare(*words, "--database", sqlite_url, **more)


@pytest.fixture
def on_made_file(bare: Callable[..., Answer], made_sqlite_url: str) -> Callable[..., Answer]:
    """The same on a file that has its tables, for commands that only look."""
    return lambda *words, **more: bare(*words, "--database", made_sqlite_url, **more)


@pytest.fixture
def work(haulwright: Callable[..., Answer]) -> Callable[..., Answer]:
    """Run a worker until nothing is due."""
    return lambda *words: haulwright("worker", "-A", SHOP, "--until-empty", "--queues", "default,slow", *words)


@pytest.fixture
def enqueue(haulwright: Callable[..., Answer]) -> Callable[..., str]:
    """Enqueue through the command line, and return the id."""
    return lambda *words: haulwright("run", "-A", SHOP, *words).out.strip()


@pytest.fixture
def dead(enqueue: Callable[..., str], work: Callable[..., Answer]) -> Callable[..., str]:
    """A dead letter, and its id."""

    def make(*words: str) -> str:
        job_id = enqueue("price", "sku=bad", *words)
        work()
        return job_id

    return make


@pytest.fixture
def store(haulwright: object, database_url: str) -> Iterator[Store]:
    """The same database from inside, to look and to break things."""
    del haulwright
    with closing(open_database(database_url)) as database:
        migrations.status(database)
        yield Store(database)


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SettableClock:
    """One clock for all commands of a test: 2024-01-01T00:00:00Z."""
    clock = SettableClock(tmp_path / "clock")
    clock.set(START)
    monkeypatch.setenv(CLOCK_VARIABLE, str(tmp_path / "clock"))
    monkeypatch.setenv(TESTING_VARIABLE, "1")
    return clock


@pytest.fixture
def process() -> Callable[..., subprocess.Popen[str]]:
    """A real `haulwright` process, in the folder of this test."""

    def start(*words: str, **changes: Any) -> subprocess.Popen[str]:
        how: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **changes}
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), **how.pop("extra", {})}
        return subprocess.Popen([sys.executable, "-m", "haulwright", *words], env=environment, **how)

    return start


@pytest.fixture(autouse=True)
def closed_shop() -> Iterator[None]:
    """The app of the tests is one for the whole process: no test leaves it open."""
    yield
    app.close()
