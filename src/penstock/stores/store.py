"""The store: everything that is remembered, behind one door."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from penstock.clock import Clock, Instant
from penstock.stores import migrations
from penstock.stores.cache import Cache
from penstock.stores.connection import Database
from penstock.stores.effects import Effects
from penstock.stores.events import Events
from penstock.stores.jobs import Jobs
from penstock.stores.leases import Leases
from penstock.stores.listing import Listing
from penstock.stores.opening import open_database, prepare
from penstock.stores.queues import Queues
from penstock.stores.schedules import Schedules
from penstock.stores.sources import Sources
from penstock.stores.workers import Workers

T = TypeVar("T")


class Store:
    """One database with its books, noun by noun."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.events = Events(database)
        self.sources = Sources(database, self.events)
        self.leases = Leases(database, self.events, self.sources)
        self.effects = Effects(database, self.events, self.leases)
        self.jobs = Jobs(database, self.events, self.leases, self.effects)
        self.schedules = Schedules(database, self.events, self.jobs)
        self.workers = Workers(database, self.events)
        self.queues = Queues(database, self.events)
        self.listing = Listing(database)
        self.cache = Cache(database)

    @classmethod
    def open(
        cls, url: str, *, clock: Clock | None = None, pool_size: int | None = None, tables: Sequence[str] = ()
    ) -> Store:
        """The store behind a URL, with its schema in place, and with the tables of these applications."""
        database = open_database(url, clock=clock, pool_size=pool_size)
        try:
            prepare(database, (migrations.ENGINE, *tables))
        except BaseException:
            database.close()
            raise
        return cls(database)

    def migrate(self) -> int:
        """Bring the engine's schema up to date."""
        return migrations.migrate(self.database)

    def now(self) -> Instant:
        """The time by which this store decides."""
        return self.schedules.now()

    def close(self) -> None:
        """Close what is open."""
        self.database.close()
