"""Reconciling after a crash: leases that ran out, operations that nobody will finish, parts that nobody owns."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from time import time
from typing import Final

from haulwright.apps.documents.compat.session import entry, rows, transaction
from haulwright.clock import SECOND
from haulwright.runtime.identity import is_gone, this_process
from haulwright.sources.download.parts import Record, forget, record_path

STAGING_ROOT: Final = Path("runs/content/.staging")
STALE_PART_SECONDS: Final = 3_600.0
STALE_OP_SECONDS: Final = 240.0
"""Twice the usual lease: an operation that is older and whose job is over belongs to nobody."""
REAP_LIMIT: Final = 100
REAP_ROUNDS: Final = 1_000


def reconcile_jobs(conn: sqlite3.Connection, staging_root: str | Path = STAGING_ROOT) -> dict[str, int]:
    """Bring the database and the staging folder to agree, and say how much was found of each kind."""
    return {
        "stale_leases": cleanup_stale_leases(conn),
        "stale_ops": cleanup_stale_ops(conn),
        "stale_files": _remove_stale_parts(conn, Path(staging_root)),
    }


def cleanup_stale_leases(conn: sqlite3.Connection) -> int:
    """Take back leases that ran out, and those of processes of this host that are provably gone."""
    count = 0
    for _ in range(REAP_ROUNDS):
        with transaction(conn) as store:
            dead_workers = store.workers.gone_from(this_process(), is_gone)
            leases = store.recovery.recover(sorted(dead_workers), REAP_LIMIT) + store.recovery.reap(REAP_LIMIT)
        count += len(leases)
        if not leases:
            break
    return count


def cleanup_stale_ops(conn: sqlite3.Connection) -> int:
    """Count the operations that were begun and that no job will finish: `artifact_ops` shows them as abandoned."""
    with transaction(conn) as store:
        before = store.now() / SECOND - STALE_OP_SECONDS
    return len(rows(conn, entry("abandoned"), {"before": before}))


def _remove_stale_parts(conn: sqlite3.Connection, folder: Path) -> int:
    """Remove parts that nothing was written to for an hour, unless they are of a job that waits or runs."""
    if not folder.is_dir():
        return 0
    owners = {name for row in rows(conn, "select id, job_key from haulwright_jobs") for name in row}
    stale = [part for part in folder.rglob("*.part") if _is_stale(part) and not _is_owned(part, owners)]
    for part in stale:
        forget(part)
    return len(stale)


def _is_stale(part: Path) -> bool:
    return part.is_file() and not part.is_symlink() and time() - part.stat().st_mtime >= STALE_PART_SECONDS


def _is_owned(part: Path, owners: set[str]) -> bool:
    """Whether a part names one of these jobs: in its record, or in its own name."""
    record = Record.read(record_path(part))
    if record is not None:
        return record.job_id in owners
    return any(owner in part.name for owner in owners)
