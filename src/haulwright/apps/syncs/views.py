"""How connections and their syncs are shown. Keys are stable: programs rely on them and on their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from haulwright.clock import SECOND
from haulwright.engine.durations import spell
from haulwright.operations.times import iso

if TYPE_CHECKING:
    from haulwright.apps.syncs.connections import SyncConnection
    from haulwright.cli.kit.output import Out
    from haulwright.clock import Instant

ERROR_CHARS = 60
STAT_HEADERS = {
    "states": "Syncs by state",
    "by_connector": "By connection",
    "dead_letters": "Dead letters that wait for somebody",
    "stuck": "Running for more than two hours",
    "retries": "Retries by what went wrong",
    "queued": "Queued per minute",
}


def connection_document(connection: SyncConnection) -> dict[str, Any]:
    """A connection."""
    return {
        "tenant_id": connection.tenant,
        "connector_id": connection.connector_id,
        "airbyte_connection_id": connection.airbyte_id,
        "workspace_id": connection.workspace_id,
        "external_account_id": connection.external_account_id,
        "credential": connection.credential,
        "cadence_seconds": None if connection.cadence_us is None else connection.cadence_us / SECOND,
        "interval_seconds": connection.interval_us / SECOND,
        "enabled": connection.enabled,
        "due_at": iso(connection.due_at),
        "triggered_at": iso(connection.triggered_at),
        "synced_at": iso(connection.synced_at),
        "last_run_id": None if connection.last_run_id is None else str(connection.last_run_id),
    }


def connection_row(out: Out, connection: SyncConnection, now: Instant) -> tuple[object, ...]:
    """A connection as a line of a table."""
    return (
        connection.tenant,
        connection.connector_id,
        connection.external_account_id,
        spell(connection.interval_us / SECOND),
        "yes" if connection.enabled else "no",
        out.when(connection.due_at, now),
        out.when(connection.synced_at, now),
        connection.credential,
    )


def job_row(job: dict[str, Any]) -> tuple[object, ...]:
    """A sync as a line of a table."""
    error = " ".join((job["error_message"] or "").split())
    cells = (
        job["job_id"],
        job["connector_id"],
        job["status"],
        job["retry_count"],
        job["run_id"],
        job["records_synced"],
        job["duration_seconds"],
        error[:ERROR_CHARS],
    )
    return tuple("" if cell is None else cell for cell in cells)
