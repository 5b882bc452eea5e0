"""The store: everything that is remembered, behind one door."""

from __future__ import annotations

from collections.abc import Sequence

from haulwright.clock import Clock, Instant
from haulwright.errors import UnreadableRow
from haulwright.stores import migrations
from haulwright.stores.api_tokens import ApiTokens
from haulwright.stores.cache import ResponseCache
from haulwright.stores.clock import DatabaseClock
from haulwright.stores.commit_groups import CommitGroups
from haulwright.stores.connect import open_database, prepare
from haulwright.stores.connection import Database
from haulwright.stores.dead_letters import DeadLetters
from haulwright.stores.effects import Effects
from haulwright.stores.events import Events
from haulwright.stores.grouped_enqueues import GroupedEnqueues
from haulwright.stores.growth import Growth
from haulwright.stores.integrity import Integrity
from haulwright.stores.jobs import Jobs
from haulwright.stores.joins import Joins
from haulwright.stores.leases import Leases
from haulwright.stores.listing import Listing
from haulwright.stores.metrics import MetricCounts
from haulwright.stores.partitions import Partitions
from haulwright.stores.pauses import Pauses
from haulwright.stores.permits import Permits
from haulwright.stores.postgres.leases import PostgresLeases
from haulwright.stores.postgres.partitions import PostgresPartitions
from haulwright.stores.queues import Queues
from haulwright.stores.recovery import Recovery
from haulwright.stores.request_keys import RequestKeys
from haulwright.stores.schedules import Schedules
from haulwright.stores.settlements import Settlements
from haulwright.stores.sources.gate import Gates
from haulwright.stores.sources.limits import Sources
from haulwright.stores.sources.waiters import SourceWaiters
from haulwright.stores.sqlite.leases import SqliteLeases
from haulwright.stores.waiters import Waiters
from haulwright.stores.workers import Workers

PARTITIONS: dict[str, type[Partitions]] = {"postgres": PostgresPartitions, "sqlite": Partitions}
LEASES: dict[str, type[Leases]] = {"postgres": PostgresLeases, "sqlite": SqliteLeases}


class Store:
    """One database with its books, noun by noun."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.events = Events(database)
        self.partitions = PARTITIONS[database.dialect](database, self.events)
        self.waiters = Waiters(database)
        self.pauses = Pauses(database)
        source_waiters = SourceWaiters(database, self.waiters)
        self.sources = Sources(database, self.events, source_waiters, self.pauses)
        self.gates = Gates(database, self.events, self.sources, source_waiters)
        self.joins = Joins(database)
        permits = Permits(database, self.waiters)
        self.settlements = Settlements(database, self.events, permits, self.gates, self.joins)
        self.leases = LEASES[database.dialect](database, self.events, permits, self.gates, self.settlements)
        self.recovery = Recovery(database, self.events, permits, self.gates, self.settlements)
        self.effects = Effects(database, self.events, self.leases)
        self.commits = CommitGroups(database, self.effects, self.leases, self.settlements)
        self.jobs = Jobs(database, self.events, self.settlements, self.effects)
        self.grouped_enqueues = GroupedEnqueues(database, self.jobs)
        self._clock = DatabaseClock(database)
        self.schedules = Schedules(database, self.events, self.jobs, self._clock)
        self.workers = Workers(database, self.events)
        self.queues = Queues(database, self.events, self.pauses)
        self.listing = Listing(database)
        self.dead_letters = DeadLetters(database)
        self.cache = ResponseCache(database)
        self.integrity = Integrity(database)
        self.growth = Growth(database)
        self.api_tokens = ApiTokens(database, self.events)
        self.request_keys = RequestKeys(database)
        self.metrics = MetricCounts(database)

    @classmethod
    def open(
        cls,
        url: str,
        *,
        clock: Clock | None = None,
        pool_size: int | None = None,
        tables: Sequence[str] = (),
        newer_schema: bool = False,
    ) -> Store:
        """The store behind a URL, with its schema in place, and with the tables of these applications.

        `newer_schema` accepts one that has become newer than this code: for who finishes what it holds.
        """
        database = open_database(url, clock=clock, pool_size=pool_size)
        try:
            prepare(database, (migrations.ENGINE, *tables), newer_schema=newer_schema)
        except BaseException:
            database.close()
            raise
        return cls(database)

    def migrate(self) -> int:
        """Bring the engine's schema up to date."""
        return migrations.migrate(self.database)

    def unreadable_rows(self) -> list[UnreadableRow]:
        """The schedules, sources and live workers that this version cannot read, and therefore leaves alone."""
        return [*self.schedules.unreadable(), *self.sources.unreadable(), *self.workers.unreadable()]

    def now(self) -> Instant:
        """The time by which this store decides."""
        return self._clock.now()

    def close(self) -> None:
        """Close what is open."""
        self.database.close()
