"""The world of one seed: a database file, a clock, ids, and what everybody wrote down, all decided by the seed."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from haulwright.clock import Clock, Instant
from haulwright.engine import ids
from haulwright.stores import migrations
from haulwright.stores.sqlite.connection import SqliteDatabase
from haulwright.stores.store import Store
from proof.simulation.faults import FaultyDatabase
from proof.simulation.options import Options
from proof.support.diary import Entry
from proof.support.site import START
from proof.support.workload import SINK

FAST_FOLDER = Path("/dev/shm")  # noqa: S108 - memory that looks like a disk: here nobody pulls the plug
SECOND = 1_000_000


class VirtualClock(Clock):
    """Time that passes when the seed says so."""

    def __init__(self) -> None:
        self.time = START

    def now(self) -> Instant:
        """The time, for everybody."""
        return self.time


class Memory:
    """A diary without a file."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def write(self, event: str, job: str | None = None, fence: int | None = None, **more: Any) -> None:
        """Remember a line."""
        self.entries.append(Entry(event, 0, job, fence, more))

    def of(self, event: str) -> list[Entry]:
        """The lines of one kind."""
        return [entry for entry in self.entries if entry.event == event]


class SeededIds:
    """Ids that grow and that a seed decides."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._count = 0

    def next_id(self) -> str:
        """The next id, in the form of all others."""
        self._count += 1
        return f"{self._count:08x}-0000-7000-8000-{self._rng.getrandbits(48):012x}"


class World:
    """Everything that the actors of one seed share."""

    def __init__(self, options: Options, folder: Path) -> None:
        self.options = options
        self.rng = Random(options.seed * 2 + 1)
        self.clock = VirtualClock()
        self.diary = Memory()
        self.outside = Memory()
        self.seen: Counter[str] = Counter()
        """Rare things that happened."""
        self._path = folder / "haulwright.db"
        shutil.copy(_template(), self._path)
        self._opened: list[SqliteDatabase] = []
        self.store = Store(self._open())
        """Without faults, for those who only watch."""

    def process(self) -> tuple[Store, FaultyDatabase]:
        """The store as a new process sees it, with one connection of its own."""
        database = FaultyDatabase(self._open())
        return Store(database), database

    def close(self) -> None:
        """Close every connection."""
        for database in self._opened:
            database.close()

    def _open(self) -> SqliteDatabase:
        database = SqliteDatabase(self._path, clock=self.clock, pool_size=1)
        self._opened.append(database)
        return database


@contextmanager
def world_of(options: Options) -> Iterator[World]:
    """A world in a folder of its own, with ids by its seed."""
    before = ids._SEQUENCE
    with tempfile.TemporaryDirectory(dir=FAST_FOLDER if FAST_FOLDER.is_dir() else None) as folder:
        world = World(options, Path(folder))
        ids._SEQUENCE = SeededIds(world.rng)  # type: ignore[assignment, misc]
        try:
            yield world
        finally:
            ids._SEQUENCE = before  # type: ignore[misc]
            world.close()


@cache
def _template() -> Path:
    """A database with its schema, to be copied: making one takes longer than a seed."""
    folder = Path(tempfile.mkdtemp(prefix="haulwright-proof-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "template.db"
    database = SqliteDatabase(path, clock=Clock())
    migrations.migrate(database)
    database.transact(lambda connection: connection.execute(SINK))
    database.close()
    return path
