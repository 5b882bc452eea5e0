"""Reading jobs: one by id, many by a filter. The only place where a statement is put together from parts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from penstock.clock import Instant
from penstock.engine.ids import is_id
from penstock.engine.job import Job
from penstock.engine.transitions import ACTIVE, State
from penstock.errors import InvalidValue, NotFound
from penstock.stores.connection import Connection, Database, Row

PAGE_LIMIT = 1000

_COMMON = (
    "j.id, j.tenant, j.task, j.queue, j.state, {reason}, -j.rank, j.args, j.attempts, j.max_attempts, j.deferrals, "
    "j.losses, j.fence, j.job_key, j.source, {waiting_on}, j.unique_key, j.unique_scope, j.concurrency_key, "
    "j.correlation_id, j.tags, j.facts, j.requeued_from, {requeued_to}, "
    "(select s.stage from penstock_stages s where s.tenant = j.tenant and s.job_key = j.job_key "
    "order by s.generation desc limit 1), "
    "j.progress, j.run_at, j.deadline_at, j.worker_id, "
    "(select w.name from penstock_workers w where w.id = j.worker_id), j.leased_at, j.heartbeat_at, "
    "{lease_expires_at}, {cancel_reason}, j.error_class, j.error_code, j.error_message, {result}, j.created_at, "
    "j.updated_at, j.started_at, {finished_at}"
)
_ABSENT = {
    "penstock_jobs": {"reason": "text", "requeued_to": "uuid", "result": "text", "finished_at": "bigint"},
    "penstock_history": {"waiting_on": "text", "lease_expires_at": "bigint", "cancel_reason": "text"},
}
_OPTIONAL = ("reason", "waiting_on", "requeued_to", "lease_expires_at", "cancel_reason", "result", "finished_at")


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Which jobs: every field that is set must match."""

    tenant: str | None = None
    state: State | None = None
    queue: str | None = None
    task: str | None = None
    tag: str | None = None
    correlation_id: str | None = None
    job_key: str | None = None
    error_code: str | None = None
    error_class: str | None = None
    waiting_on: str | None = None
    source: str | None = None
    requeued_from: str | None = None
    not_requeued: bool = False
    """Dead letters that nobody requeued yet."""
    finished_before: Instant | None = None
    created_after: Instant | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Jobs, the newest first, and where the next page starts."""

    jobs: list[Job]
    next: str | None


class Listing:
    """Reads jobs wherever they are."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._mark = "?" if database.dialect == "sqlite" else "%s"
        self._place = "instr" if database.dialect == "sqlite" else "strpos"

    def get(self, job_id: str, tenant: str | None = None) -> Job:
        """One job. A foreign one looks exactly like an absent one."""
        job = self.find(job_id, tenant)
        if job is None:
            raise NotFound("job", job_id)
        return job

    def find(self, job_id: str, tenant: str | None = None) -> Job | None:
        """One job, or None."""
        if not is_id(job_id):
            return None
        wanted = _Where(self._mark).add("j.id = {}", job_id).add("j.tenant = {}", tenant)
        rows = self._db.read(lambda connection: self._both(connection, wanted, wanted, 1))
        return _job(rows[0]) if rows else None

    def page(self, wanted: JobFilter, *, after: str | None = None, limit: int = 50) -> Page:
        """Jobs by a filter, by age of their id, a page at a time."""
        if not 1 <= limit <= PAGE_LIMIT:
            raise InvalidValue("limit", limit, f"is not between 1 and {PAGE_LIMIT}")
        if after is not None and not is_id(after):
            raise InvalidValue("after", after, "is not where a page ended", hint="Give the `next` of the page before.")
        hot, cold = self._where(wanted, after, hot=True), self._where(wanted, after, hot=False)
        rows = self._db.read(lambda connection: self._both(connection, hot, cold, limit + 1))
        jobs = [_job(row) for row in rows[:limit]]
        return Page(jobs, jobs[-1].id if len(rows) > limit else None)

    def dead_counts(self, tenant: str | None = None) -> list[tuple[str, str | None, int]]:
        """Dead letters that wait for somebody, by tenant and error code."""
        wanted = _Where(self._mark).text("j.state = 'dead'").text("j.requeued_to is null").add("j.tenant = {}", tenant)
        sql = (
            f"select j.tenant, j.error_code, count(*) from penstock_history j where {wanted.sql} "  # noqa: S608 - _Where
            "group by j.tenant, j.error_code"
        )
        counts = [(t, code, n) for t, code, n in self._db.read(lambda c: c.execute(sql, wanted.values))]
        return sorted(counts, key=lambda row: (-row[2], row[0], row[1] or ""))

    def _both(self, connection: Connection, hot: _Where | None, cold: _Where | None, limit: int) -> list[Row]:
        rows: list[Row] = []
        for table, where in (("penstock_jobs", hot), ("penstock_history", cold)):
            if where is not None:
                sql = (
                    f"select {_columns(table, connection.dialect)} from {table} j where {where.sql} "  # noqa: S608 - _Where
                    f"order by j.id desc limit {limit:d}"
                )
                rows += connection.execute(sql, where.values)
        # A job that ended between the two reads was read twice: it is shown as it was read last.
        once = {row[0]: row for row in rows}
        return [once[job_id] for job_id in sorted(once, reverse=True)[:limit]]

    def _where(self, wanted: JobFilter, after: str | None, *, hot: bool) -> _Where | None:
        """The conditions for one of the two tables; None where no row of it can match."""
        if not _may_match(wanted, hot=hot):
            return None
        where = _Where(self._mark)
        for name in _EQUAL:
            where.add(f"j.{name} = {{}}", getattr(wanted, name))
        where.add(f"{self._place}(j.tags, {{}}) > 0", _in_json(wanted.tag))
        where.add("j.finished_at < {}", wanted.finished_before)
        where.add("j.created_at > {}", wanted.created_after)
        where.add("j.id < {}", after)
        return where.text("j.requeued_to is null") if wanted.not_requeued else where


_EQUAL = (
    "tenant", "state", "queue", "task", "correlation_id", "job_key", "error_code", "error_class", "waiting_on",
    "source", "requeued_from",
)  # fmt: skip


class _Where:
    """Conditions and their values: text comes from this file, values are always parameters."""

    def __init__(self, mark: str) -> None:
        self._mark = mark
        self._parts: list[str] = []
        self.values: list[Any] = []

    def add(self, condition: str, value: Any) -> _Where:
        """A condition on a value; none where there is no value."""
        if value is not None:
            self._parts.append(condition.format(self._mark))
            self.values.append(value)
        return self

    def text(self, condition: str) -> _Where:
        self._parts.append(condition)
        return self

    @property
    def sql(self) -> str:
        return " and ".join(self._parts) or "true"


def _may_match(wanted: JobFilter, *, hot: bool) -> bool:
    """Whether a table of waiting and running jobs, or the one of finished jobs, may have what is wanted."""
    if wanted.requeued_from is not None and not is_id(wanted.requeued_from):
        return False
    if wanted.state is not None and (wanted.state in ACTIVE) is not hot:
        return False
    if hot:
        return not wanted.not_requeued and wanted.finished_before is None
    return wanted.waiting_on is None


def _in_json(tag: str | None) -> str | None:
    """A tag as it stands in the JSON of a row."""
    return None if tag is None else json.dumps(tag, ensure_ascii=False)


def _columns(table: str, dialect: str) -> str:
    absent = _ABSENT[table]
    cast = "null::{}" if dialect == "postgres" else "null"
    return _COMMON.format(**{name: cast.format(absent[name]) if name in absent else f"j.{name}" for name in _OPTIONAL})


def _job(row: Sequence[Any]) -> Job:
    values = dict(zip((field.name for field in fields(Job)), row, strict=True))
    values["state"] = State(values["state"])
    return Job(**values)
