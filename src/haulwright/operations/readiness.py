"""Whether an installation can answer requests: its database is reachable, and has the schema of this code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from haulwright.errors import DatabaseProblem, SchemaMismatch
from haulwright.stores import migrations
from haulwright.stores.connect import require_current

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright


@dataclass(frozen=True, slots=True)
class Readiness:
    """How it stands, without anything that a stranger should not read."""

    database: bool
    """It answers."""
    schema: bool
    """It has all that this code needs."""
    workers_seen: int
    """Lately. None is no reason to refuse requests: they wait in the database."""

    @property
    def ready(self) -> bool:
        """Whether requests can be answered."""
        return self.database and self.schema


def readiness(app: Haulwright) -> Readiness:
    """Ask the database of an app. Anybody may: no principal is needed for it."""
    try:
        store = app.store
        require_current(store.database, (migrations.ENGINE, *app.tables))
        return Readiness(database=True, schema=True, workers_seen=len(store.workers.list()))
    except SchemaMismatch:
        return Readiness(database=True, schema=False, workers_seen=0)
    except DatabaseProblem:
        return Readiness(database=False, schema=False, workers_seen=0)
