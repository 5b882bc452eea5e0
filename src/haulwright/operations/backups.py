"""Backups: a copy of the database at one moment, made while others work, and looked through before it has its name."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from haulwright.operations.access import allowed
from haulwright.operations.onlooker import Onlooker, current_store
from haulwright.stores.backup import BackupFile, Progress, require_target

if TYPE_CHECKING:
    from haulwright.stores.connection import Database
    from haulwright.stores.postgres.connection import PostgresDatabase


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was made."""

    file: BackupFile
    seconds: float


def _silent(_done: int, _total: int) -> None:
    """Nobody asked."""


class BackupOperations(Onlooker):
    """Make backups."""

    @allowed("backup.create")
    def create(self, target: Path, *, force: bool = False, progress: Progress = _silent) -> Backup:
        """Copy the database into a file of this host, which only its owner may read. Nothing else is changed."""
        began = time.monotonic()
        require_target(target, force=force)
        with current_store(self._app) as store:
            file = _back_up(store.database, target, force=force, progress=progress)
        return Backup(file, time.monotonic() - began)


def _back_up(database: Database, target: Path, *, force: bool, progress: Progress) -> BackupFile:
    from haulwright.stores.sqlite.connection import SqliteDatabase  # noqa: PLC0415 - one of the two is needed

    if isinstance(database, SqliteDatabase):
        from haulwright.stores.sqlite.backup import back_up_file  # noqa: PLC0415 - as above

        return back_up_file(database, target, force=force, progress=progress)
    from haulwright.stores.postgres.backup import back_up_schema  # noqa: PLC0415 - as above

    return back_up_schema(cast("PostgresDatabase", database), target, force=force, progress=progress)
