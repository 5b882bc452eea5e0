"""Runs: what goes on at Airbyte for our jobs. A run is begun once, looked at until it ends, and settled by its job."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from haulwright.clock import Instant
from haulwright.sources.airbyte import SUCCEEDED

if TYPE_CHECKING:
    from haulwright.application import Tables, Writing
    from haulwright.apps.syncs.connections import SyncConnection
    from haulwright.engine.job import Lease
    from haulwright.sources.airbyte import SyncJob
    from haulwright.stores.connection import Row

MOST_WATCHED: Final = 10_000
"""Runs of one workspace that one poll looks after; the rest are looked at when these have ended."""
ADOPTED_PLACE: Final = 9
"""The column of a row that SQLite has as a number."""


@dataclass(frozen=True, slots=True)
class Started:
    """What a trigger led to."""

    run_id: int | None
    """None where Airbyte certainly started nothing."""
    status: str = ""
    adopted: bool = False


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What a sync has done; the events of its job carry it."""

    run_id: str
    records_synced: int
    bytes_synced: int
    duration_seconds: float
    adopted: bool


@dataclass(frozen=True, slots=True)
class SyncRun:
    """One run at Airbyte, as we know it."""

    tenant: str
    job_key: str
    round: int
    job_id: str
    connector_id: str
    workspace_id: str
    credential: str
    run_id: int
    status: str
    adopted: bool
    records: int | None
    bytes: int | None
    duration_seconds: float | None
    started_at: Instant
    ended_at: Instant | None
    settled_at: Instant | None

    @property
    def is_success(self) -> bool:
        """Whether all was synced."""
        return self.status == SUCCEEDED

    @property
    def result(self) -> SyncResult:
        """What its job returns."""
        return SyncResult(
            run_id=str(self.run_id),
            records_synced=self.records or 0,
            bytes_synced=self.bytes or 0,
            duration_seconds=self.duration_seconds or 0.0,
            adopted=self.adopted,
        )


@dataclass(frozen=True, slots=True)
class Watched:
    """A run that a poll looks after."""

    tenant: str
    job_key: str
    round: int
    job_id: str
    run_id: int
    started_at: Instant
    has_ended: bool
    is_awaited: bool
    """Whether its job is still active; a run that nobody waits for is stopped."""


class Runs:
    """The runs of all tenants."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def last(self, tenant: str, job_key: str) -> SyncRun | None:
        """The newest run of a job and of those that it succeeds."""
        rows = self._tables.read("runs.last", tenant=tenant, job_key=job_key)
        return _run(rows[0]) if rows else None

    def watched(self, credential: str, workspace_id: str) -> list[Watched]:
        """The runs of a workspace that nobody has settled, the oldest first."""
        rows = self._tables.read("runs.watched", credential=credential, workspace_id=workspace_id, limit=MOST_WATCHED)
        return [Watched(*row[:-2], *map(bool, row[-2:])) for row in rows]


def begin(writing: Writing, lease: Lease, connection: SyncConnection, number: int, started: Started) -> None:
    """Write down what a trigger started, and that the connection was triggered."""
    key = {"tenant": connection.tenant, "connector_id": connection.connector_id}
    writing.run(
        "runs.begin",
        **key,
        job_key=lease.job_key,
        round=number,
        job_id=lease.id,
        workspace_id=connection.workspace_id,
        credential=connection.credential,
        run_id=started.run_id,
        status=started.status,
        adopted=started.adopted,
    )
    writing.run("connections.triggered", **key, run_id=started.run_id)


def saw(writing: Writing, states: Iterable[tuple[SyncRun | Watched, SyncJob]]) -> None:
    """Write down how runs stand at Airbyte."""
    rows = [
        {
            **_key(run),
            "status": job.status,
            "records": job.records,
            "bytes": job.bytes,
            "duration_seconds": job.duration_seconds,
            "is_over": job.is_terminal,
        }
        for run, job in states
    ]
    writing.each("runs.saw", rows)


def settle(writing: Writing, runs: Sequence[SyncRun | Watched]) -> None:
    """Nobody waits for these runs any more."""
    writing.each("runs.settle", [_key(run) for run in runs])


def _key(run: SyncRun | Watched) -> dict[str, str | int]:
    return {"tenant": run.tenant, "job_key": run.job_key, "round": run.round}


def _run(row: Row) -> SyncRun:
    values: list[Any] = list(row)
    values[ADOPTED_PLACE] = bool(values[ADOPTED_PLACE])
    return SyncRun(*values)
