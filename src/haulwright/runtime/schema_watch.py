"""Notices that the schema became newer than this code, while a worker runs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from haulwright.errors import SchemaMismatch
from haulwright.stores import migrations

if TYPE_CHECKING:
    from haulwright.stores.connection import Database

LOOK_SECONDS = 2.0
"""Between two looks. What an older worker writes meanwhile is valid: migrations only add (decision 16)."""


class SchemaWatch:
    """Looks before claims, and now and then only: one short read of a small table."""

    def __init__(self, database: Database, packages: Sequence[str]) -> None:
        self._database = database
        self._packages = packages
        self._looked = time.monotonic()
        """It was looked at when the database was opened."""

    def mismatch(self) -> SchemaMismatch | None:
        """Why this code must not claim any more; None where it may."""
        if time.monotonic() - self._looked < LOOK_SECONDS:
            return None
        try:
            for package in self._packages:
                migrations.status(self._database, package)
        except SchemaMismatch as mismatch:
            return mismatch
        self._looked = time.monotonic()
        return None
