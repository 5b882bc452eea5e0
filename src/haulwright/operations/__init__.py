"""Operations: what one principal may see and do. Every door stands on it, and on nothing below it.

One class a noun. Each method asks the table of roles (`access`), keeps to the rows of the principal's tenant, acts,
records who did it and why, and returns frozen values. No text for people, no HTTP, no command line in here.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from haulwright.client.app import Haulwright
    from haulwright.clock import Instant
    from haulwright.operations.backups import BackupOperations
    from haulwright.operations.bulk import BulkOperations
    from haulwright.operations.dead_letters import DeadLetterOperations
    from haulwright.operations.effects import EffectOperations
    from haulwright.operations.events import EventOperations
    from haulwright.operations.health import Health
    from haulwright.operations.jobs import JobOperations
    from haulwright.operations.metrics import MetricOperations
    from haulwright.operations.overview import Overview
    from haulwright.operations.principal import Principal
    from haulwright.operations.queues import QueueOperations
    from haulwright.operations.schedules import ScheduleOperations
    from haulwright.operations.schema import SchemaOperations
    from haulwright.operations.sources import SourceOperations
    from haulwright.operations.tasks import TaskOperations
    from haulwright.operations.tokens import TokenOperations
    from haulwright.operations.workers import WorkerOperations

__all__ = ["Operations"]


class Operations:
    """Everything that one principal may see and do on one app. A noun is imported when it is first used."""

    def __init__(self, app: Haulwright, principal: Principal) -> None:
        self.app = app
        self.principal = principal

    def now(self) -> Instant:
        """The time by which the database decides."""
        return self.app.store.now()

    def open_database(self) -> None:
        """Put the schema in place, as the first use of the app does."""
        _ = self.app.store

    def require_database(self) -> None:
        """Refuse where there is no database with the tables of this app. Nothing is made, migrated or switched.

        A server is never migrated by its first use, and refuses by itself.
        """
        from haulwright.operations.onlooker import current_store  # noqa: PLC0415 - a command pays for the noun it uses
        from haulwright.stores.connect import open_database  # noqa: PLC0415 - as above

        if open_database(self.app.database_url).dialect == "sqlite":
            with current_store(self.app, self.app.tables):
                pass

    def missing_file(self) -> Path | None:
        """The SQLite file that the first use is going to make; None where it is there, or there is none to make."""
        from haulwright.stores.connect import open_database  # noqa: PLC0415 - a command pays for the noun it uses

        path: Path | None = getattr(open_database(self.app.database_url), "path", None)
        return path if path is not None and not path.exists() else None

    @cached_property
    def jobs(self) -> JobOperations:
        """Jobs: get, find, page, stuck, timeline, why, wait, enqueue, cancel, retry."""
        from haulwright.operations.jobs import JobOperations  # noqa: PLC0415 - a command pays for the noun it uses

        return JobOperations(self.app, self.principal)

    @cached_property
    def dead_letters(self) -> DeadLetterOperations:
        """Dead letters: page, ids, counts, groups, requeue, requeue_many."""
        from haulwright.operations.dead_letters import DeadLetterOperations  # noqa: PLC0415 - as above

        return DeadLetterOperations(self.app, self.principal)

    @cached_property
    def bulk(self) -> BulkOperations:
        """Bulk actions, each a durable job: preview, start, page, get, stop."""
        from haulwright.operations.bulk import BulkOperations  # noqa: PLC0415 - as above

        return BulkOperations(self.app, self.principal)

    @cached_property
    def effects(self) -> EffectOperations:
        """Effects: of_job, unresolved, resolve."""
        from haulwright.operations.effects import EffectOperations  # noqa: PLC0415 - as above

        return EffectOperations(self.app, self.principal)

    @cached_property
    def events(self) -> EventOperations:
        """Events: page, follow."""
        from haulwright.operations.events import EventOperations  # noqa: PLC0415 - as above

        return EventOperations(self.app, self.principal)

    @cached_property
    def queues(self) -> QueueOperations:
        """Queues: page, get, pause, resume, drain."""
        from haulwright.operations.queues import QueueOperations  # noqa: PLC0415 - as above

        return QueueOperations(self.app, self.principal)

    @cached_property
    def schedules(self) -> ScheduleOperations:
        """Schedules: page, get, slots, upcoming, trigger, backfill, pause, resume."""
        from haulwright.operations.schedules import ScheduleOperations  # noqa: PLC0415 - as above

        return ScheduleOperations(self.app, self.principal)

    @cached_property
    def sources(self) -> SourceOperations:
        """Sources: page, get, pause, resume, override, reset."""
        from haulwright.operations.sources import SourceOperations  # noqa: PLC0415 - as above

        return SourceOperations(self.app, self.principal)

    @cached_property
    def tasks(self) -> TaskOperations:
        """Tasks that the app has registered: list."""
        from haulwright.operations.tasks import TaskOperations  # noqa: PLC0415 - as above

        return TaskOperations(self.app, self.principal)

    @cached_property
    def workers(self) -> WorkerOperations:
        """Workers: page, would_claim."""
        from haulwright.operations.workers import WorkerOperations  # noqa: PLC0415 - as above

        return WorkerOperations(self.app, self.principal)

    @cached_property
    def overview(self) -> Overview:
        """Everything at once: frame, watch, tally."""
        from haulwright.operations.overview import Overview  # noqa: PLC0415 - as above

        return Overview(self.app, self.principal)

    @cached_property
    def health(self) -> Health:
        """Is all well here: examine, verify; and what is set: settings."""
        from haulwright.operations.health import Health  # noqa: PLC0415 - as above

        return Health(self.app, self.principal)

    @cached_property
    def backups(self) -> BackupOperations:
        """Backups of the database: create."""
        from haulwright.operations.backups import BackupOperations  # noqa: PLC0415 - as above

        return BackupOperations(self.app, self.principal)

    @cached_property
    def metrics(self) -> MetricOperations:
        """Figures for a monitor: read."""
        from haulwright.operations.metrics import MetricOperations  # noqa: PLC0415 - as above

        return MetricOperations(self.app, self.principal)

    @cached_property
    def tokens(self) -> TokenOperations:
        """Tokens of programs that use the HTTP API: create, page, revoke."""
        from haulwright.operations.tokens import TokenOperations  # noqa: PLC0415 - as above

        return TokenOperations(self.app, self.principal)

    @cached_property
    def schema(self) -> SchemaOperations:
        """The schema of the database: status, migrate, script."""
        from haulwright.operations.schema import SchemaOperations  # noqa: PLC0415 - as above

        return SchemaOperations(self.app, self.principal)
