"""The world of one seed: a database, a clock, ids, and what everybody wrote down, all decided by the seed."""

from __future__ import annotations

import atexit
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from haulwright.clock import Clock, Instant
from haulwright.engine import ids
from haulwright.engine.job import Lease, LeaseKey
from haulwright.stores import migrations
from haulwright.stores.commit_groups import CommitGroups
from haulwright.stores.connection import Connection
from haulwright.stores.effects import Effects
from haulwright.stores.sqlite.connection import SqliteConnection, SqliteDatabase, _begun
from haulwright.stores.store import Store
from proof.simulation.faults import FaultyDatabase
from proof.simulation.options import Fault, Options, Theme
from proof.simulation.riding import RidingWatch
from proof.support.diary import Entry
from proof.support.site import START
from proof.support.workload import QUEUES, SINK

T = TypeVar("T")

SECOND = 1_000_000
LONG_COMMIT_SECONDS = 60.0
LONG_COMMITS_EVERY = 5
"""In one seed of so many all commits take long."""
_TABLES = (
    "select name from sqlite_master where type = 'table' and (name = 'sqlite_sequence' or name not like 'sqlite%')"
)
_PRAGMAS = "pragma foreign_keys = on; pragma temp_store = memory; pragma synchronous = off;"
Tables = dict[str, list[tuple[Any, ...]]]
"""All rows, by table."""


class VirtualClock(Clock):
    """Time that passes when the seed says so."""

    def __init__(self) -> None:
        self.time = START

    def now(self) -> Instant:
        """The time, for everybody."""
        return self.time


class StopWatch:
    """How long a commit takes on the monotonic clock: no time at all, or so long that it renews its own lease."""

    def __init__(self, seed: int) -> None:
        self._step = LONG_COMMIT_SECONDS if seed % LONG_COMMITS_EVERY == 0 else 0.0
        self._time = 0.0

    def __call__(self) -> float:
        """The time, which passes with every look at it."""
        self._time += self._step
        return self._time


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


class MemoryDatabase(SqliteDatabase):
    """The real one on one connection to a file in memory.

    One call of the store is made at a time, and a process that dies loses its transaction and nothing else: so the
    connections of all processes may be the same, and no disk is needed. A test runs seeds on a real file, with a
    connection for each process, and sees the same histories.
    """

    def __init__(self, clock: Clock) -> None:
        super().__init__(Path("memory"), clock=clock, pool_size=1)
        self._connection = SqliteConnection(sqlite3.connect(":memory:", isolation_level=None, cached_statements=512))
        self._connection.raw.executescript(_PRAGMAS)

    def transact(self, work: Callable[[Connection], T], *, rows: int = 1) -> T:  # noqa: ARG002 - nobody to give way to
        """Run work in one immediate transaction."""
        self._connection.raw.execute("begin immediate")
        return _begun(self._connection, work)

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run work that reads."""
        return work(self._connection)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


@dataclass
class Backup:
    """The database at a moment, and how much everybody had written down by then."""

    tables: Tables
    diary: int
    outside: int
    purged: int


@dataclass
class World:
    """Everything that the actors of one seed share."""

    options: Options
    database: SqliteDatabase
    rng: Random
    file: Path | None = None
    """The file that each process opens for itself; None where all share one connection."""
    clock: VirtualClock = field(default_factory=VirtualClock)
    diary: Memory = field(default_factory=Memory)
    outside: Memory = field(default_factory=Memory)
    seen: Counter[str] = field(default_factory=Counter)
    """Rare things that happened."""
    wrong: list[str] = field(default_factory=list)
    """What an actor saw that must not be."""
    touched: set[str] = field(default_factory=set)
    """The tables that were written to since the judge last looked."""
    purged: list[Tables] = field(default_factory=list)
    """What retention removed."""
    arguments: dict[str, str] = field(default_factory=dict)
    """What each job was enqueued with."""
    claimed: set[LeaseKey] = field(default_factory=set)
    """Every lease that anybody got."""
    settled: set[LeaseKey] = field(default_factory=set)
    """Every lease that its worker ended."""
    spanned: set[str] = field(default_factory=set)
    """Jobs whose run may have lasted while the database was put back: what it did before may be forgotten."""
    grants: dict[str, list[int]] = field(default_factory=dict)
    """When those who were let through by a source begin."""
    next_due: int = 0
    """While all is made good: when the next job that waits is due."""
    next_lease_end: int = 0
    """And when the next lease runs out."""
    server_is_down: bool = False
    is_draining: bool = False
    """The faults are over, and everything is to be made good."""

    def __post_init__(self) -> None:
        self.company = Random(f"company in {self.options.seed}")
        """Decides about commits that share a transaction, and nothing else."""
        self._opened: list[SqliteDatabase] = []
        self.server_is_down = self.options.seed % 4 > 1
        self.store = Store(self.database)
        """Without faults, for those who only watch."""

    def process(self) -> tuple[Store, FaultyDatabase]:
        """The store as a new process sees it."""
        inner = self.database
        if self.file is not None:
            inner = SqliteDatabase(self.file, clock=self.clock, pool_size=1)
            self._opened.append(inner)
        database = FaultyDatabase(inner, self.touched)
        return Store(database), database

    @property
    def has_sources(self) -> bool:
        """Whether other people's servers take part."""
        return Theme.SOURCES in self.options.themes

    @property
    def queues(self) -> tuple[str, ...]:
        """The queues that workers serve."""
        return QUEUES if Theme.JOINS in self.options.themes else QUEUES[:1]

    def note_claim(self, lease: Lease) -> None:
        """A worker got a lease; nobody may ever get the same one twice, and its arguments are those of the enqueue."""
        if lease.key in self.claimed:
            self.wrong.append(f"I5: {lease.key} runs twice")
        self.claimed.add(lease.key)
        if self.arguments.get(lease.id, lease.args) != lease.args:
            self.wrong.append(f"I24: job {lease.id} was given {lease.args}")

    def believe_wrongly(self, lease: Lease) -> None:
        """A worker takes the end of a job for its own, and it was not."""
        if Fault.PUT_BACK not in self.options.rates:
            self.wrong.append(f"I6: {lease.key} was not settled by its worker, which was told so")

    def unfinished(self, jobs: list[str]) -> set[str]:
        """Those of these jobs that have not ended."""
        active = self.database.read(lambda connection: connection.execute("select id from haulwright_jobs"))
        return {job for (job,) in active} & set(jobs)

    def close(self) -> None:
        """Close the connections of the processes."""
        for database in self._opened:
            database.close()

    def back_up(self) -> Backup:
        """Remember the database as it is."""
        marks = (len(self.diary.entries), len(self.outside.entries), len(self.purged))
        return Backup(self.database.read(_dump), *marks)

    def restore(self, backup: Backup) -> None:
        """Put the database back. What was acknowledged since then is not promised any more, only possible."""
        self.database.transact(lambda connection: _load(connection, backup.tables))
        running = "select id from haulwright_jobs where state = 'running'"
        self.spanned |= {job for (job,) in self.database.read(lambda connection: connection.execute(running))}
        later = self.diary.entries[backup.diary :]
        intents = [entry for entry in later if entry.event == "enqueue.intent"]
        self.diary.entries = self.diary.entries[: backup.diary] + intents
        self.outside.entries = self.outside.entries[: backup.outside]
        del self.purged[backup.purged :]
        self.grants.clear()
        self.claimed.clear()
        self.settled.clear()


@contextmanager
def world_of(options: Options, *, on_disk: bool = False) -> Iterator[World]:
    """A world with ids by its seed: in memory, or in a file that each process opens for itself."""
    before, clock = ids._SEQUENCE, VirtualClock()
    monotonic = Effects._monotonic, CommitGroups._monotonic
    rng = Random(options.seed * 2 + 1)
    folder = Path(tempfile.mkdtemp(prefix="haulwright-proof-")) if on_disk else None
    database = _empty() if folder is None else _prepared(SqliteDatabase(folder / "haulwright.db", clock=clock))
    database.clock = clock
    world = World(options, database, rng, folder and folder / "haulwright.db", clock)
    ids._SEQUENCE = SeededIds(rng)  # type: ignore[assignment, misc]
    Effects._monotonic = staticmethod(StopWatch(options.seed))
    CommitGroups._monotonic = staticmethod(RidingWatch(options.seed))
    try:
        yield world
    finally:
        ids._SEQUENCE = before  # type: ignore[misc]
        Effects._monotonic, CommitGroups._monotonic = map(staticmethod, monotonic)
        world.close()
        if folder is not None:
            database.close()
            shutil.rmtree(folder)


def _empty() -> SqliteDatabase:
    """The one database in memory as it was made. Its statements stay prepared: that takes longer than a history."""
    database, tables = _template()
    database.transact(lambda connection: _load(connection, tables))
    return database


@cache
def _template() -> tuple[SqliteDatabase, Tables]:
    database = _prepared(MemoryDatabase(Clock()))
    atexit.register(database.close)
    return database, database.read(_dump)


def _prepared(database: SqliteDatabase) -> SqliteDatabase:
    migrations.migrate(database)
    database.transact(lambda connection: connection.execute(SINK))
    return database


def _dump(connection: Connection) -> Tables:
    names = [name for (name,) in connection.execute(_TABLES)]
    return {name: connection.execute(f"select * from {name}") for name in names}


def _load(connection: Connection, tables: Tables) -> None:
    """Make the rows of all tables those that were remembered."""
    connection.execute("insert or ignore into haulwright_meta (key, value) values ('retention', '')")
    for name, rows in tables.items():
        if name != "haulwright_meta":
            _replace(connection, name, rows)
    _replace(connection, "haulwright_meta", tables["haulwright_meta"])


def _replace(connection: Connection, name: str, rows: list[tuple[Any, ...]]) -> None:
    connection.execute(f"delete from {name}")
    for row in rows:
        connection.execute(f"insert into {name} values ({', '.join('?' * len(row))})", row)
