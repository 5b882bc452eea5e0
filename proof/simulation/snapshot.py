"""The tables between two calls, as plain rows and without the engine's own readers."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from haulwright.engine.job import LeaseKey


class JobRow(NamedTuple):
    """An active job."""

    id: str
    tenant: str
    task: str
    queue: str
    state: str
    rank: int
    run_at: int
    attempts: int
    max_attempts: int
    deferrals: int
    losses: int
    fence: int
    job_key: str
    source: str | None
    waiting_on: str | None
    worker_id: str | None
    lease_expires_at: int | None
    deadline_at: int | None
    cancel_reason: str | None
    progress: str | None
    concurrency_key: str | None
    concurrency_limit: int | None
    requeued_from: str | None

    @property
    def lease(self) -> LeaseKey:
        """The right under which it runs, or waits."""
        return LeaseKey(self.id, self.fence, self.worker_id)

    @property
    def turn(self) -> tuple[int, int, str]:
        """Its place among the jobs of its tenant and queue."""
        return (self.rank, self.run_at, self.id)


class PastRow(NamedTuple):
    """A finished job."""

    id: str
    state: str
    reason: str | None
    attempts: int
    max_attempts: int
    losses: int
    fence: int
    worker_id: str | None
    source: str | None
    result: str | None
    requeued_to: str | None


class SourceRow(NamedTuple):
    """How a source stands."""

    key: str
    enabled: int
    concurrency: int | None
    breaker: str
    breaker_failures: int | None
    tickets: int
    held: int
    paused_until: int
    parked_until: int
    open_until: int
    probe_id: str | None
    probe_fence: int | None
    probe_worker: str | None
    probe_until: int
    failure_streak: int

    @property
    def probe(self) -> tuple[str | None, int | None, str | None]:
        """Who finds out how the server is."""
        return (self.probe_id, self.probe_fence, self.probe_worker)


class EffectRow(NamedTuple):
    """A line of the ledger."""

    tenant: str
    key: str
    job_id: str
    fence: int
    worker_id: str
    state: str
    result: str | None
    job_key: str


class SlotRow(NamedTuple):
    """A slot that was opened."""

    schedule: str
    scheduled_for: int
    disposition: str
    job_id: str | None
    merged_into: int | None
    opened_at: int


class ScheduleState(NamedTuple):
    """A schedule as it was declared, and how far it has come."""

    name: str
    paused_at: int | None
    misfire_grace_us: int | None
    overlap: str
    opened_until: int


class EventRow(NamedTuple):
    """Something that was told."""

    seq: int
    name: str
    job_id: str | None
    fence: int | None
    actor: str | None


@dataclass(frozen=True)
class Snapshot:
    """What the tables say at one moment."""

    jobs: dict[str, JobRow]
    past: dict[str, PastRow]
    effects: dict[tuple[str, str], EffectRow]
    stages: dict[tuple[Any, ...], tuple[Any, ...]]
    """(tenant, job key, generation) to (job, fence, stage)."""
    sink: dict[str, tuple[str, int, int]]
    """Owner to (job, fence, rows): what commits wrote."""
    permits: dict[tuple[str, int], LeaseKey]
    sources: dict[str, SourceRow]
    source_permits: dict[tuple[str, int], LeaseKey]
    joins: frozenset[tuple[str, str]]
    """(child, parent)."""
    slots: dict[tuple[str, int], SlotRow]
    schedules: dict[str, ScheduleState]
    paused: frozenset[str]
    """The queues that are paused."""
    keys: dict[tuple[Any, ...], tuple[str, int | None]]
    """(tenant, kind, task, key) to (job, end)."""

    @classmethod
    def of(cls, connection: Any) -> Snapshot:
        """Look at all tables."""
        return cls(**{name: read(connection) for name, read in READERS.values()})

    def again(self, connection: Any, touched: Collection[str]) -> Snapshot:
        """Look again at the tables that were written to."""
        changed = {}
        for name, read in [READERS[table] for table in touched if table in READERS]:
            rows = read(connection)
            if rows != getattr(self, name):
                changed[name] = rows
        return replace(self, **changed) if changed else self

    def holds(self, lease: LeaseKey) -> bool:
        """Whether a job runs under this right."""
        row = self.jobs.get(lease.id)
        return row is not None and row.state == "running" and row.lease == lease


Reader = tuple[str, Callable[[Any], Any]]


def _by_key(kind: Any, table: str, size: int) -> Callable[[Any], Any]:
    asked = f"select {', '.join(kind._fields)} from {table}"

    def read(connection: Any) -> Any:
        rows = [kind._make(row) for row in connection.execute(asked)]
        return {row[0]: row for row in rows} if size == 1 else {row[:size]: row for row in rows}

    return read


def _pairs(asked: str, size: int, kind: Callable[..., Any] = lambda *values: values) -> Callable[[Any], Any]:
    def read(connection: Any) -> Any:
        rows = connection.execute(asked)
        return {(row[0] if size == 1 else row[:size]): kind(*row[size:]) for row in rows}

    return read


def _set(asked: str) -> Callable[[Any], Any]:
    return lambda connection: frozenset(connection.execute(asked))


READERS: dict[str, Reader] = {
    "haulwright_jobs": ("jobs", _by_key(JobRow, "haulwright_jobs", 1)),
    "haulwright_history": ("past", _by_key(PastRow, "haulwright_history", 1)),
    "haulwright_effects": ("effects", _by_key(EffectRow, "haulwright_effects", 2)),
    "haulwright_stages": (
        "stages",
        _pairs("select tenant, job_key, generation, job_id, fence, stage from haulwright_stages", 3),
    ),
    "proof_sink": ("sink", _pairs("select owner, job_id, fence, count(*) from proof_sink group by 1, 2, 3", 1)),
    "haulwright_permits": (
        "permits",
        _pairs("select key, number, job_id, fence, worker_id from haulwright_permits", 2, LeaseKey),
    ),
    "haulwright_sources": ("sources", _by_key(SourceRow, "haulwright_sources", 1)),
    "haulwright_source_permits": (
        "source_permits",
        _pairs("select source, ticket, holder, fence, worker_id from haulwright_source_permits", 2, LeaseKey),
    ),
    "haulwright_joins": ("joins", _set("select child_id, parent_id from haulwright_joins")),
    "haulwright_slots": ("slots", _by_key(SlotRow, "haulwright_slots", 2)),
    "haulwright_schedules": ("schedules", _by_key(ScheduleState, "haulwright_schedules", 1)),
    "haulwright_queues": (
        "paused",
        lambda connection: frozenset(
            name for (name,) in connection.execute("select name from haulwright_queues where paused_at is not null")
        ),
    ),
    "haulwright_keys": (
        "keys",
        _pairs("select tenant, kind, task, key, job_id, expires_at from haulwright_keys", 4),
    ),
}
