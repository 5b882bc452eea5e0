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


def connection_document(one: SyncConnection) -> dict[str, Any]:
    """A connection."""
    return {
        "tenant_id": one.tenant,
        "connector_id": one.connector_id,
        "airbyte_connection_id": one.airbyte_id,
        "workspace_id": one.workspace_id,
        "external_account_id": one.external_account_id,
        "credential": one.credential,
        "cadence_seconds": None if one.cadence_us is None else one.cadence_us / SECOND,
        "interval_seconds": one.interval_us / SECOND,
        "enabled": one.enabled,
        "due_at": iso(one.due_at),
        "triggered_at": iso(one.triggered_at),
        "synced_at": iso(one.synced_at),
        "last_run_id": None if one.last_run_id is None else str(one.last_run_id),
    }


def connection_row(out: Out, one: SyncConnection, now: Instant) -> tuple[object, ...]:
    """A connection as a line of a table."""
    return (
        one.tenant,
        one.connector_id,
        one.external_account_id,
        spell(one.interval_us / SECOND),
        "yes" if one.enabled else "no",
        out.when(one.due_at, now),
        out.when(one.synced_at, now),
        one.credential,
    )


def job_row(one: dict[str, Any]) -> tuple[object, ...]:
    """A sync as a line of a table."""
    error = " ".join((one["error_message"] or "").split())
    cells = (
        one["job_id"],
        one["connector_id"],
        one["status"],
        one["retry_count"],
        one["run_id"],
        one["records_synced"],
        one["duration_seconds"],
        error[:ERROR_CHARS],
    )
    return tuple("" if cell is None else cell for cell in cells)
