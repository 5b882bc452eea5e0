"""The rows of jobs: how a new one is written, and how a finished one is given another life."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, Protocol

from haulwright import events
from haulwright.clock import SECOND, Instant
from haulwright.engine.ids import new_id
from haulwright.engine.job import Enqueued, NewJob
from haulwright.engine.payload import read_json
from haulwright.events import Event
from haulwright.stores.connection import Parts
from haulwright.stores.payloads import inline


@dataclass(frozen=True, slots=True)
class Requeue:
    """How a dead letter is given another life, by whom and why."""

    actor: str
    reason: str = ""
    correlation_id: str | None = None
    fresh: bool = False
    """A new job key: recorded effects are not reused, so what was done may be done again."""
    max_attempts: int | None = None


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A finished job as a requeue finds it."""

    id: str
    tenant: str
    task: str
    queue: str
    rank: int
    args: str
    max_attempts: int
    job_key: str
    source: str | None
    unique_key: str | None
    unique_scope: str | None
    concurrency_key: str | None
    concurrency_limit: int | None
    correlation_id: str | None
    tags: str
    event_fields: str | None
    headers: str | None
    lease_us: int
    timeout_us: int | None
    deadline_at: int | None
    run_at: int
    state: str
    requeued_to: str | None
    created_at: int
    payload_bytes: int | None
    """How large its arguments are, where they stand beside it."""
    audited: bool

    def successor(self, how: Requeue) -> dict[str, Any]:
        """The row of the new job: the same work, a fresh budget, and the job key unless a fresh one was asked for."""
        new = new_id()
        deadline_us = None if self.deadline_at is None else max(self.deadline_at - self.created_at, SECOND)
        return {
            "id": new,
            "tenant": self.tenant,
            "task": self.task,
            "queue": self.queue,
            "rank": self.rank,
            "run_at": None,
            "delay_us": 0,
            "args": self.args,
            "max_attempts": how.max_attempts or self.max_attempts,
            "job_key": new if how.fresh else self.job_key,
            "source": self.source,
            "unique_key": self.unique_key,
            "unique_scope": self.unique_scope,
            "concurrency_key": self.concurrency_key,
            "concurrency_limit": self.concurrency_limit,
            "correlation_id": how.correlation_id or self.correlation_id,
            "tags": self.tags,
            "event_fields": self.event_fields,
            "headers": self.headers,
            "requeued_from": self.id,
            "lease_us": self.lease_us,
            "timeout_us": self.timeout_us,
            "deadline_us": deadline_us,
            "audited": self.audited,
        }

    def queued(self, successor: str, how: Requeue) -> list[Event]:
        """The first event of its successor, where its task is audited."""
        if not self.audited:
            return []
        return [_queued(self.tenant, successor, self.event_fields, EnqueuedBy(how.actor, how.reason))]


@dataclass(frozen=True, slots=True)
class EnqueuedBy:
    """Who enqueued a job through a door for people, and why."""

    actor: str
    reason: str = ""
    request_id: str = field(default_factory=events.request_id.get)
    """Of the request that it came with: it may be written by the thread of another."""


def queued_events(jobs: Sequence[NewJob], enqueued: Sequence[Enqueued], by: Sequence[EnqueuedBy] = ()) -> list[Event]:
    """The first events of the jobs that were made, of those whose task is audited or that somebody made by hand."""
    return [
        _queued(job.tenant, job.id, job.event_fields, own)
        for job, entry, own in zip(jobs, enqueued, by or repeat(None, len(jobs)), strict=True)
        if entry.created and (job.audited or own is not None)
    ]


def _queued(tenant: str, job_id: str, event_fields: str | None, by: EnqueuedBy | None) -> Event:
    data = {"job_id": job_id, "tenant_id": tenant, **(read_json(event_fields, dict) or {})}
    if by is None:
        return Event(events.JOB_QUEUED, tenant, job_id, data=data)
    facts = {"reason": by.reason, "request_id": by.request_id}
    data |= {name: text for name, text in facts.items() if text}
    return Event(events.JOB_QUEUED, tenant, job_id, actor=by.actor, data=data)


class Fenced(Protocol):
    """A lease, or its key: what a write under it carries."""

    @property
    def id(self) -> str:
        """Whose right it is."""

    @property
    def fence(self) -> int:
        """The number of the right."""

    @property
    def worker_id(self) -> str | None:
        """Who holds it."""


def fenced(leases: Sequence[Fenced]) -> dict[str, list[Any]]:
    """The columns by which each write of a batch is fenced."""
    return {
        "id": [lease.id for lease in leases],
        "fence": [lease.fence for lease in leases],
        "worker_id": [lease.worker_id for lease in leases],
    }


def loaded(jobs: Iterable[NewJob], now: Instant) -> Iterator[Parts]:
    """The rows of jobs whose unique keys nobody else can have, for they have none.

    The jobs of one task mostly differ in their ids and arguments alone: the rest of their rows is one and the same.
    """
    task: str | None = None
    words: tuple[Any, ...] = ()
    common: tuple[Any, ...] = ()
    for job in jobs:
        if job[3:] != words or job.task != task:
            task, words, common = job.task, job[3:], _common_of(job, now)
        yield (job.id, inline(job.args), job.id), common


def _common_of(job: NewJob, now: Instant) -> tuple[Any, ...]:
    run_at = now + job.delay_us if job.run_at is None else job.run_at
    deadline_at = None if job.deadline_us is None else max(run_at, now) + job.deadline_us
    return (
        job.tenant, job.task, job.queue, -job.priority, run_at, job.max_attempts, job.source, job.concurrency_key,
        job.concurrency_limit, job.correlation_id, job.tags, job.event_fields, job.headers, job.lease_us,
        job.timeout_us, deadline_at, now, now,
    )  # fmt: skip


def plain_row_of(job: NewJob) -> dict[str, Any]:
    """What the row of a plain job does not have in common with those of all others."""
    return {
        "id": job.id,
        "tenant": job.tenant,
        "task": job.task,
        "queue": job.queue,
        "rank": -job.priority,
        "delay_us": job.delay_us,
        "args": job.args,
        "max_attempts": job.max_attempts,
        "tags": job.tags,
        "lease_us": job.lease_us,
        "deadline_us": job.deadline_us,
    }


def row_of(job: NewJob) -> dict[str, Any]:
    """The row of a job as the entries of the book take it."""
    unique = job.unique
    return {
        "id": job.id,
        "tenant": job.tenant,
        "task": job.task,
        "queue": job.queue,
        "rank": -job.priority,
        "run_at": job.run_at,
        "delay_us": job.delay_us,
        "args": inline(job.args),
        "max_attempts": job.max_attempts,
        "job_key": job.job_key or job.id,
        "source": job.source,
        "unique_key": unique and unique.key,
        "unique_scope": unique and unique.scope,
        "concurrency_key": job.concurrency_key,
        "concurrency_limit": job.concurrency_limit,
        "correlation_id": job.correlation_id,
        "tags": job.tags,
        "event_fields": job.event_fields,
        "headers": job.headers,
        "requeued_from": None,
        "lease_us": job.lease_us,
        "timeout_us": job.timeout_us,
        "deadline_us": job.deadline_us,
        "audited": job.audited,
    }
