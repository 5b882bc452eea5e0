"""Documents on both databases, by a clock that only the test moves, at a host of files on loopback."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from haulwright import Haulwright
from haulwright.apps.documents import Documents
from haulwright.apps.documents import compat as doc
from haulwright.apps.documents.planning import PlannedArtifact
from haulwright.apps.documents.settings import DocumentSettings
from haulwright.clock import CLOCK_VARIABLE, TESTING_VARIABLE, SettableClock
from haulwright.sandbox import Sandbox
from haulwright.testing.harness import Harness
from tests.apps.documents.plain import START, WORK
from tests.apps.documents.scenes import World


@pytest.fixture(autouse=True)
def _no_wait_for_a_second_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the two looks that must find a lease run out a reconciler waits half a minute of real time."""
    monkeypatch.setattr("haulwright.apps.documents.reconciling.sleep", lambda _seconds: None)


@pytest.fixture
def database_url(made_database_url: str) -> str:
    return made_database_url


@pytest.fixture
def world(bench: Harness, sandbox: Sandbox, tmp_path: Path) -> World:
    return World.open(bench, sandbox, tmp_path / "content")


@pytest.fixture
def steps(bench: Harness, sandbox: Sandbox, tmp_path: Path) -> World:
    """A world in which every document goes step by step, however small it is."""
    return World.open(bench, sandbox, tmp_path / "content", small_bytes=0)


@pytest.fixture
def stored(world: World) -> tuple[PlannedArtifact, Path]:
    """A document that is stored, with its file."""
    planned = world.add("report.txt")
    world.bench.drain()
    (path,) = world.stored()
    return planned, path


@pytest.fixture
def documents(world: World) -> Documents:
    return world.documents


# the vocabulary, on plain connections


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SettableClock:
    """A clock that every process on the plain connections goes by."""
    clock = SettableClock(tmp_path / "clock")
    clock.set(START)
    monkeypatch.setenv(CLOCK_VARIABLE, str(tmp_path / "clock"))
    monkeypatch.setenv(TESTING_VARIABLE, "1")
    return clock


@pytest.fixture
def connect(tmp_path: Path, clock: SettableClock) -> Iterator[Callable[[], sqlite3.Connection]]:
    """Connections to one file, as the document makes them."""
    del clock
    opened: list[sqlite3.Connection] = []

    def connect() -> sqlite3.Connection:
        conn = sqlite3.connect(tmp_path / "manifest.sqlite3")
        conn.row_factory = sqlite3.Row
        opened.append(conn)
        return conn

    yield connect
    for conn in opened:
        conn.close()


@pytest.fixture
def conn(connect: Callable[[], sqlite3.Connection]) -> sqlite3.Connection:
    conn = connect()
    doc.apply_migration(conn)
    return conn


@pytest.fixture
def engine(tmp_path: Path, conn: sqlite3.Connection) -> Iterator[Documents]:
    """Documents of the engine on the same file."""
    del conn
    with closing(Haulwright(f"sqlite:///{tmp_path}/manifest.sqlite3")) as app:
        yield Documents(app, figures=DocumentSettings.load(folder=str(tmp_path / "content")))


@pytest.fixture
def job_id(conn: sqlite3.Connection) -> str:
    return doc.plan_job_if_absent(conn, **WORK)


@pytest.fixture
def leased(conn: sqlite3.Connection, job_id: str) -> dict[str, Any] | None:
    del job_id
    return doc.lease_next_job(conn, owner="worker-1")
