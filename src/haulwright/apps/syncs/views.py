"""How connections and their syncs are shown. Keys are stable: programs rely on them and on their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NotRequired

from typing_extensions import TypedDict

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


class SyncConnectionView(TypedDict):
    """A connection."""

    tenant_id: str
    connector_id: str
    airbyte_connection_id: str
    workspace_id: str
    external_account_id: str
    credential: str
    cadence_seconds: float | None
    """As it was asked for."""
    interval_seconds: float
    """What is in force: the cadence within what the plan allows."""
    enabled: bool
    due_at: str | None
    triggered_at: str | None
    synced_at: str | None
    last_run_id: str | None


class SyncConnectionPageView(TypedDict):
    """Some connections, in the order of their names."""

    connections: list[SyncConnectionView]
    next: str | None


class ConnectionRemovedView(TypedDict):
    """A connection that is gone, with the sync of it that was cancelled."""

    tenant_id: str
    connector_id: str
    cancelled: str | None


class SyncPlanView(TypedDict):
    """The plan of a tenant; after a change, how many connections keep to it from now on."""

    tenant: str
    plan: str
    connections: int | None


class DispatchedView(TypedDict):
    """The job of a sync that somebody asked for."""

    job_id: str
    tenant_id: str
    connector_id: str


class SyncRequeuedView(TypedDict):
    """The job in which a dead letter lives again."""

    job_id: str
    requeued_from: str


class SyncJobView(TypedDict):
    """A sync in the words of the document."""

    job_id: str
    tenant_id: str
    connector_id: str
    external_account_id: str
    status: str
    retry_count: int
    run_id: str | None
    correlation_id: str | None
    error_message: str | None
    error_code: str | None
    next_retry_at: str | None
    records_synced: int | None
    duration_seconds: float | None


class SyncJobsView(TypedDict):
    """The newest syncs of a tenant."""

    jobs: list[SyncJobView]


class StateCountView(TypedDict):
    """How many syncs are in a state."""

    status: str
    jobs: int


class ConnectorStatsView(TypedDict):
    """How the syncs of one connection went."""

    tenant_id: str
    connector_id: str
    succeeded: int
    dead: int
    success_rate: float | None
    mean_duration_seconds: float | None
    records_synced: int


class SyncDeadLettersView(TypedDict):
    """Dead letters of one tenant that wait for somebody, by what went wrong."""

    tenant_id: str
    error_code: str | None
    jobs: int
    oldest_at: str | None


class StuckSyncView(TypedDict):
    """A sync that has run for more than two hours."""

    job_id: str
    tenant_id: str
    connector_id: str
    run_id: str | None
    started_at: str | None


class RetryRateView(TypedDict):
    """Retries by what went wrong."""

    error_code: str | None
    retries: int
    jobs: int
    rate: float | None


class QueuedMinuteView(TypedDict):
    """How many syncs were queued in a minute."""

    minute: str
    queued: int


class SyncStatsView(TypedDict):
    """Syncs counted; what is not told apart by tenant is there for all tenants alone."""

    states: list[StateCountView]
    by_connector: list[ConnectorStatsView]
    dead_letters: list[SyncDeadLettersView]
    stuck: list[StuckSyncView]
    retries: NotRequired[list[RetryRateView]]
    queued: NotRequired[list[QueuedMinuteView]]


def connection_document(connection: SyncConnection) -> SyncConnectionView:
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


def job_row(job: SyncJobView) -> tuple[object, ...]:
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
