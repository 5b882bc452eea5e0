"""The schema: the engine's tables and those of documents, with the views `artifact_jobs`, `artifact_ops`, `_meta`."""

from __future__ import annotations

import sqlite3

from haulwright.apps.documents.compat.session import PACKAGE, transaction
from haulwright.stores import migrations


def apply_migration(conn: sqlite3.Connection) -> None:
    """Bring the schema up to date. What is there already is left alone; a newer schema than this code's is refused."""
    conn.execute("pragma journal_mode = wal")
    with transaction(conn) as store:
        for chain in (migrations.ENGINE, PACKAGE):
            migrations.migrate(store.database, chain)
