"""What the tests of applications share: tables that are made once, a worker without threads, and one outside world.

A folder of tests is named after its application; `made_database_url` is each database in turn with the tables of the
engine and of that application in it, and nothing else.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from haulwright.discovery import installed_applications
from haulwright.sandbox import Sandbox, SandboxClock
from haulwright.stores.postgres.connection import PostgresConnection
from haulwright.stores.sqlite.connection import SqliteDatabase
from haulwright.testing.harness import Harness

SEED = 7


@pytest.fixture(autouse=True)
def _quick_fingerprints(monkeypatch: pytest.MonkeyPatch) -> None:
    """What makes a credential hard to guess from its fingerprint would be most of the time of most tests."""
    monkeypatch.setattr("haulwright.sources.source.FINGERPRINT_ROUNDS", 10)


@pytest.fixture
def package(request: pytest.FixtureRequest) -> str:
    """The application that the folder of a test is about."""
    return installed_applications().get(request.path.parent.name).package


@pytest.fixture
def bench(database_url: str, tmp_path: Path) -> Iterator[Harness]:
    """A worker without threads, by a clock that only the test moves."""
    with closing(Harness(database_url, tmp_path)) as bench:
        yield bench


class Time:
    """The time of the outside world: that of whichever bench is in use."""

    bench: Harness | None = None

    def now(self) -> float:
        return self.bench.clock.now() / 1_000_000 if self.bench else 0.0


@pytest.fixture(scope="session")
def outside() -> Iterator[tuple[Sandbox, Time]]:
    """The outside world of this process; what a test did to it is forgotten before the next."""
    time = Time()
    with Sandbox(seed=SEED, clock=SandboxClock(time.now)) as sandbox:
        yield sandbox, time


@pytest.fixture
def sandbox(bench: Harness, outside: tuple[Sandbox, Time]) -> Iterator[Sandbox]:
    """The outside world, by the clock of the bench."""
    sandbox, time = outside
    time.bench = bench
    sandbox.reset()
    sandbox.clock.set(time.now())
    sandbox.apify.longest_wait_seconds = 0
    yield sandbox
    sandbox.faults.clear()


class Statements:
    """What is run on the database of a test, statement by statement; what begins and ends transactions is left out."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def note(self, text: str) -> None:
        """One was run."""
        if not text.lower().lstrip().startswith(("--", "begin", "commit", "pragma", "rollback")):
            self.texts.append(text)

    def of(self, *words: str) -> list[str]:
        """Those in which all of these words stand."""
        return [text for text in self.texts if all(word in text for word in words)]


@pytest.fixture
def statements(bench: Harness, monkeypatch: pytest.MonkeyPatch) -> Statements:
    """From here on, each statement that a connection of this process runs, whoever it is for; on SQLite row by row."""
    noted = Statements()
    execute, connect = PostgresConnection._execute, SqliteDatabase._open

    def run_on_postgres(self: PostgresConnection, statement: str, params: Any) -> Any:
        noted.note(statement)
        return execute(self, statement, params)

    def open_sqlite(self: SqliteDatabase) -> sqlite3.Connection:
        raw = connect(self)
        raw.set_trace_callback(noted.note)
        return raw

    monkeypatch.setattr(PostgresConnection, "_execute", run_on_postgres)
    monkeypatch.setattr(SqliteDatabase, "_open", open_sqlite)
    for store in (bench.store, *(app.store for app in bench._apps)):
        store.close()  # what is open was opened without this
    return noted
