"""What the tables say, read as plain rows and without the engine's own readers."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from haulwright.stores.store import Store

_JOB = (
    "id, tenant, task, attempts, max_attempts, deferrals, losses, fence, job_key, unique_key, unique_scope, "
    "requeued_from, source"
)
_EVENT = "seq, job_id, name, fence, attempt, data"
_GATES = (
    "select s.key, s.held, (select count(*) from haulwright_source_permits p where p.source = s.key) "
    "from haulwright_sources s"
)


@dataclass(frozen=True, slots=True)
class JobFact:
    """A job, wherever it is."""

    id: str
    tenant: str
    task: str
    attempts: int
    max_attempts: int
    deferrals: int
    losses: int
    fence: int
    job_key: str
    unique_key: str | None
    unique_scope: str | None
    requeued_from: str | None
    source: str | None
    state: str
    reason: str | None
    run_at: int
    lease_expires_at: int | None
    requeued_to: str | None

    @property
    def is_final(self) -> bool:
        """Whether it left the hot table."""
        return self.state not in {"queued", "running"}


@dataclass(frozen=True, slots=True)
class EventFact:
    """One event of a job."""

    seq: int
    job: str
    name: str
    fence: int | None
    attempt: int | None
    text: str

    @property
    def data(self) -> dict[str, Any]:
        """What it tells beyond that."""
        fields: dict[str, Any] = json.loads(self.text)
        return fields


@dataclass(frozen=True, slots=True)
class Facts:
    """All tables at one moment."""

    now: int
    jobs: list[JobFact]
    effects: list[tuple[str, str, str, str, str, int]] = field(default_factory=list)
    """(tenant, key, job key, name, state, fence)."""
    permits: list[tuple[str, int, str, int]] = field(default_factory=list)
    """(key, number, job, fence)."""
    gates: list[tuple[str, int, int]] = field(default_factory=list)
    """(source, permits that it counts, permits that are there)."""
    joins: list[tuple[str, str]] = field(default_factory=list)
    """(child, parent): who is waited for, and by whom."""
    slots: list[tuple[str, int, str, str | None]] = field(default_factory=list)
    """(schedule, scheduled for, disposition, job)."""
    events: list[EventFact] = field(default_factory=list)
    sink: list[tuple[str, str, int]] = field(default_factory=list)
    """(owner, job, fence): the rows that commits wrote."""

    @classmethod
    def read(cls, store: Store) -> Facts:
        """Look at everything in one transaction."""
        return store.database.transact(lambda connection: _read(connection, store.database.clock.now()))

    def by_id(self) -> dict[str, JobFact]:
        """The jobs by their id."""
        return {job.id: job for job in self.jobs}


def _read(connection: Any, now: int | None) -> Facts:
    def ask(sql: str) -> list[tuple[Any, ...]]:
        return list(connection.execute(sql))

    active = ask(f"select {_JOB}, state, null, run_at, lease_expires_at, null from haulwright_jobs")
    final = ask(f"select {_JOB}, state, reason, run_at, null, requeued_to from haulwright_history")
    events = ask(f"select {_EVENT} from haulwright_events where job_id is not null order by seq")
    return Facts(
        now=_clock(ask, connection.dialect) if now is None else now,
        jobs=[JobFact(*row) for row in [*active, *final]],
        effects=ask("select tenant, key, job_key, name, state, fence from haulwright_effects"),
        permits=ask("select key, number, job_id, fence from haulwright_permits"),
        gates=ask(_GATES),
        joins=ask("select child_id, parent_id from haulwright_joins"),
        slots=ask("select schedule, scheduled_for, disposition, job_id from haulwright_slots"),
        events=[EventFact(*row) for row in events],
        sink=ask("select owner, job_id, fence from proof_sink") if _has_sink(ask, connection.dialect) else [],
    )


def _has_sink(ask: Any, dialect: str) -> bool:
    if dialect == "sqlite":
        return bool(ask("select 1 from sqlite_master where name = 'proof_sink'"))
    return bool(ask("select 1 where to_regclass('proof_sink') is not null"))


def _clock(ask: Any, dialect: str) -> int:
    asked = "select haulwright_now(null)" if dialect == "postgres" else "select unixepoch() * 1000000"
    return int(ask(asked)[0][0])
