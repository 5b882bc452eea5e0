"""Reading jobs: one by id, many by a filter. The only place where a statement is put together from parts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Literal

from haulwright.clock import Instant
from haulwright.engine.ids import is_id
from haulwright.engine.job import Job
from haulwright.engine.transitions import ACTIVE, RETRYING, State
from haulwright.errors import InvalidValue, NotFound
from haulwright.stores.connection import Connection, Database, Row
from haulwright.stores.paging import PAGE_LIMIT, Page, check_page, cursor_of, no_cursor, page_of, read_cursor
from haulwright.stores.payloads import Payloads

_COMMON = (
    "j.id, j.tenant, j.task, j.queue, j.state, {reason}, -j.rank, "
    "case when j.payload_bytes is null then j.args end, j.attempts, j.max_attempts, j.deferrals, "
    "j.losses, j.fence, j.job_key, j.source, {waiting_on}, j.unique_key, j.unique_scope, j.concurrency_key, "
    "j.correlation_id, j.tags, j.event_fields, j.headers, j.requeued_from, {requeued_to}, "
    "(select s.stage from haulwright_stages s where s.tenant = j.tenant and s.job_key = j.job_key "
    "order by s.generation desc limit 1), "
    "j.progress, j.run_at, {deadline_at}, j.worker_id, "
    "(select w.name from haulwright_workers w where w.id = j.worker_id), j.leased_at, j.heartbeat_at, "
    "{lease_expires_at}, {cancel_reason}, j.error_class, j.error_code, j.error_message, j.error_frames, {result}, "
    "j.created_at, j.updated_at, j.started_at, {finished_at}, j.audited"
)
_ABSENT = {
    "haulwright_jobs": {"reason": "text", "requeued_to": "uuid", "result": "text", "finished_at": "bigint"},
    "haulwright_history": {"waiting_on": "text", "lease_expires_at": "bigint", "cancel_reason": "text"},
}
_WAITED = (
    "coalesce((select sum(p.resumed_at - {later}(p.paused_at, coalesce(j.pauses_until, j.created_at))) "
    "from haulwright_pauses p where p.kind = '{kind}' and p.name = {name} "
    "and p.resumed_at > coalesce(j.pauses_until, j.created_at)), 0)"
)
_ARGS = (
    "case when j.payload_bytes is null then j.args "
    "else (select p.args from haulwright_payloads p where p.job_id = j.id) end"
)
"""The arguments of a job, wherever they stand."""
_HOT, _COLD = "haulwright_jobs j", "haulwright_history j"
PAGE_BYTES = 8 << 20
"""What large arguments of its jobs a page holds at most, but for those of one: then it has fewer jobs."""
_ARGS_PLACE = [field.name for field in fields(Job)].index("args")
_STATES = {str(state): state for state in State}
_OPTIONAL = ("reason", "waiting_on", "requeued_to", "lease_expires_at", "cancel_reason", "result", "finished_at")


@dataclass(frozen=True, slots=True)
class Condition:
    """What one column, one argument, or the text of a job must be, or must not be."""

    name: str
    """A column, `tag`, `args` with a path, or `text`."""
    operator: Literal["in", "<", ">"]
    values: tuple[str | int, ...]
    """One of these; one for a comparison. Without any, something must be there."""
    negated: bool = False
    path: tuple[str, ...] = ()


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
    conditions: tuple[Condition, ...] = ()
    """What is not said by a field: several values, negation, comparisons, arguments, text."""


@dataclass(frozen=True, slots=True)
class JobPage:
    """Jobs, the newest first, and where the next page starts."""

    jobs: list[Job]
    next: str | None


@dataclass(frozen=True, slots=True)
class DeadCount:
    """How many dead letters of one tenant and error code wait for somebody."""

    tenant: str
    error_code: str | None
    count: int


class Listing:
    """Reads jobs wherever they are."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._payloads = Payloads(database)
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
        where = _Where(self._mark).add("j.id = {}", job_id).add("j.tenant = {}", tenant)
        rows = self._db.read(lambda connection: self._both(connection, {_HOT: where, _COLD: where}, 1))
        return self._filled(rows)[0] if rows else None

    def page(self, job_filter: JobFilter, *, after: str | None = None, limit: int = 50) -> JobPage:
        """Jobs by a filter, by age of their id, a page at a time."""
        check_page(limit)
        if after is not None and not is_id(after):
            raise no_cursor(after)
        rows = self._rows(job_filter, after, limit + 1)
        jobs = self._filled(rows[:limit])
        return JobPage(jobs, jobs[-1].id if len(rows) > len(jobs) else None)

    def ids(self, job_filter: JobFilter, *, after: str | None = None, limit: int) -> list[str]:
        """The ids of so many jobs by a filter, the newest first, and nothing else of them: to count, or to act."""
        return [row[0] for row in self._rows(job_filter, after, limit, "j.id")]

    def stuck(self, job_filter: JobFilter, *, before: Instant, after: str | None = None, limit: int = 50) -> JobPage:
        """Running jobs whose lease ran out before a moment, the one that ran out first before the others."""
        check_page(limit)
        where = self._where(replace(job_filter, state=State.RUNNING), None, hot=True)
        if where is None:
            return JobPage([], None)
        where.add("j.lease_expires_at < {}", before)
        if after is not None:
            where.beyond("j.lease_expires_at, j.id", _lease_cursor(after))
        rows = self._db.read(
            lambda connection: self._select(
                connection, "haulwright_jobs j", where, "j.lease_expires_at, j.id", limit + 1
            )
        )
        jobs = self._filled(rows[:limit])
        return JobPage(jobs, cursor_of(jobs[-1].lease_expires_at or 0, jobs[-1].id) if len(rows) > len(jobs) else None)

    def dead_counts(
        self, tenant: str | None = None, *, after: str | None = None, limit: int = PAGE_LIMIT
    ) -> Page[DeadCount]:
        """Dead letters that wait for somebody, by tenant and error code, the most first."""
        where = _Where(self._mark).text("j.state = 'dead'").text("j.requeued_to is null").add("j.tenant = {}", tenant)
        place = _Where(self._mark)
        if after is not None:
            place.beyond("-count(*), j.tenant, coalesce(j.error_code, '')", read_cursor(after, int, str, str))
        sql = (
            f"select j.tenant, j.error_code, count(*) from haulwright_history j where {where.sql} "  # noqa: S608 - _Where
            f"group by j.tenant, j.error_code having {place.sql} "
            f"order by -count(*), j.tenant, coalesce(j.error_code, '') limit {check_page(limit) + 1:d}"
        )
        rows = self._db.read(lambda connection: connection.execute(sql, [*where.values, *place.values]))
        counts = [DeadCount(*row) for row in rows]
        return page_of(counts, limit, lambda row: cursor_of(-row.count, row.tenant, row.error_code or ""))

    def _rows(self, job_filter: JobFilter, after: str | None, limit: int, columns: str = "") -> list[Row]:
        index = self._index_of(job_filter)
        tables = {f"{name} {index}": self._where(job_filter, after, hot=name == _HOT) for name in (_HOT, _COLD)}
        return self._db.read(lambda connection: self._both(connection, tables, limit, columns))

    def _filled(self, rows: Sequence[Row]) -> list[Job]:
        """Jobs with their arguments, as many as these leave room for on a page, and at least one."""
        jobs: list[Job] = []
        room = PAGE_BYTES
        for row in rows:
            if row[_ARGS_PLACE] is not None:
                jobs.append(_job(row))
                continue
            args = self._db.read(partial(self._payloads.get, job_ids=[row[0]]))[row[0]]
            room -= len(args)
            if room < 0 and jobs:
                break
            jobs.append(_job([*row[:_ARGS_PLACE], args, *row[_ARGS_PLACE + 1 :]]))
        return jobs

    def _index_of(self, job_filter: JobFilter) -> str:
        """The index of a rare state, named for SQLite: it would else go through the whole table by its key."""
        if self._db.dialect != "sqlite" or job_filter.state not in _RARE:
            return ""
        _, index = _RARE[job_filter.state]
        is_of_all = job_filter.state is State.DEAD and job_filter.tenant is None
        return f"indexed by {index}{'_newest' if is_of_all else ''}"

    def _both(
        self, connection: Connection, tables: Mapping[str, _Where | None], limit: int, columns: str = ""
    ) -> list[Row]:
        rows: list[Row] = []
        for table, where in tables.items():
            if where is not None:
                rows += self._select(connection, table, where, "j.id desc", limit, columns=columns)
        # A job that ended between the two reads was read twice: it is shown as it was read last.
        once = {row[0]: row for row in rows}
        return [once[job_id] for job_id in sorted(once, reverse=True)[:limit]]

    def _select(  # noqa: PLR0913 - the parts of a statement
        self, connection: Connection, source: str, where: _Where, order: str, limit: int, *, columns: str = ""
    ) -> list[Row]:
        chosen = columns or _columns(source.split(" ", 1)[0], connection.dialect)
        sql = (
            f"select {chosen} from {source} where {where.sql} "  # noqa: S608 - _Where
            f"order by {order} limit {limit:d}"
        )
        return connection.execute(sql, where.values)

    def _where(self, job_filter: JobFilter, after: str | None, *, hot: bool) -> _Where | None:
        """The conditions for one of the two tables; None where no row of it can match."""
        if not _may_match(job_filter, hot=hot):
            return None
        where = _Where(self._mark)
        if job_filter.state in _RARE:
            where.text(_RARE[job_filter.state][0])  # in words: its index is partial
        for name in _EQUAL:
            where.add(f"j.{name} = {{}}", getattr(job_filter, name))
        where.add(f"{self._place}(j.tags, {{}}) > 0", _in_json(job_filter.tag))
        where.add("j.finished_at < {}", job_filter.finished_before)
        where.add("j.created_at > {}", job_filter.created_after)
        where.add("j.id < {}", after)
        table = "haulwright_jobs" if hot else "haulwright_history"
        for condition in job_filter.conditions:
            where.condition(condition, _test(condition, table, self._db.dialect, self._mark))
        return where.text("j.requeued_to is null") if job_filter.not_requeued else where


_UNRUN = ("j.state in ('cancelled', 'skipped')", "haulwright_history_unrun")
_RARE = {
    State.RUNNING: ("j.state = 'running'", "haulwright_jobs_leased"),
    State.DEAD: ("j.state = 'dead'", "haulwright_history_dead"),
    State.CANCELLED: _UNRUN,
    State.SKIPPED: _UNRUN,
}
"""States that few jobs are in, each with the condition of its partial index, as it stands there, and that index."""
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

    def condition(self, condition: Condition, test: tuple[str, list[Any]]) -> None:
        """A composed condition, or its opposite: what is not known counts as not so."""
        sql, values = test
        self._parts.append(f"({sql}) is not true" if condition.negated else f"({sql})")
        self.values += values

    def beyond(self, columns: str, values: Sequence[Any]) -> _Where:
        """What comes after a place in the order of some columns."""
        self._parts.append(f"({columns}) > ({', '.join([self._mark] * len(values))})")
        self.values += values
        return self

    @property
    def sql(self) -> str:
        return " and ".join(self._parts) or "true"


_COMPARED = {
    "id", "tenant", "state", "queue", "task", "correlation_id", "job_key", "error_code", "error_class", "waiting_on",
    "source", "requeued_from", "requeued_to", "reason", "unique_key", "attempts", "losses", "deferrals", "priority",
    "created_at", "started_at", "finished_at", "run_at", "heartbeat_at", "worker_id",
}  # fmt: skip
"""The columns that a condition may name. Nothing else gets into a statement."""
_RETRYING = " or (j.state = 'queued' and j.attempts > 0)"
_ARGUMENT = {
    "sqlite": (
        f"case when json_valid({_ARGS}) then case json_type({_ARGS}, ?) when 'true' then 'true' "
        "when 'false' then 'false' when 'null' then 'null' "
        f"when 'object' then null when 'array' then null else cast(json_extract({_ARGS}, ?) as text) end end"
    ),
    "postgres": (
        f"case json_typeof(haulwright_json({_ARGS}) #> %s::text[]) when 'null' then 'null' when 'object' then null "
        f"when 'array' then null else haulwright_json({_ARGS}) #>> %s::text[] end"
    ),
}
"""The text of an argument by its path, which stands in it twice; null for what is no single value, or no JSON."""


def _test(condition: Condition, table: str, dialect: str, mark: str) -> tuple[str, list[Any]]:
    """What a row of a table must pass, without the negation, and its values."""
    values: list[Any] = [*condition.values]
    place = "instr" if dialect == "sqlite" else "strpos"
    marks = ", ".join([mark] * len(values))
    if condition.name == "text":
        looked_at = ("j.task", "coalesce(j.error_message, '')", _ARGS)
        return " or ".join(f"{place}({text}, {mark}) > 0" for text in looked_at), values * len(looked_at)
    if condition.name == "tag":
        tags = [_in_json(str(value)) for value in values]
        return " or ".join(f"{place}(j.tags, {mark}) > 0" for _ in values), tags
    if condition.name == "args":
        path = _json_path(condition.path) if dialect == "sqlite" else [*condition.path]
        return f"{_ARGUMENT[dialect]} in ({marks})", [path, path, *values]
    if condition.name not in _COMPARED:
        raise InvalidValue("condition", condition.name, "is no column to compare")
    if condition.name in _ABSENT[table]:
        return "false", []
    column = "-j.rank" if condition.name == "priority" else f"j.{condition.name}"
    if not values:
        return f"{column} is not null", []
    test = f"{column} {condition.operator} " + (f"({marks})" if condition.operator == "in" else mark)
    return test + _RETRYING if condition.name == "state" and RETRYING in values else test, values


def _json_path(path: Sequence[str]) -> str:
    """The path of an argument as SQLite writes it; a number is a place in a list."""
    return "$" + "".join(f"[{step}]" if step.isdecimal() else f'."{step}"' for step in path)


def _lease_cursor(after: str) -> tuple[Instant, str]:
    """Where a page of expired leases ended: when the lease ran out, and whose it was."""
    expires_at, job_id = read_cursor(after, int, str)
    if not is_id(job_id):
        raise no_cursor(after)
    return expires_at, job_id


def _may_match(job_filter: JobFilter, *, hot: bool) -> bool:
    """Whether a table of waiting and running jobs, or the one of finished jobs, may have what is wanted."""
    if job_filter.requeued_from is not None and not is_id(job_filter.requeued_from):
        return False
    if job_filter.state is not None and (job_filter.state in ACTIVE) is not hot:
        return False
    states = [
        condition.values for condition in job_filter.conditions if condition.name == "state" and not condition.negated
    ]
    if not all(any((value in ACTIVE or value == RETRYING) is hot for value in values) for values in states):
        return False
    if hot:
        return not job_filter.not_requeued and job_filter.finished_before is None
    return job_filter.waiting_on is None


def _in_json(tag: str | None) -> str | None:
    """A tag as it stands in the JSON of a row."""
    return None if tag is None else json.dumps(tag, ensure_ascii=False)


def _columns(table: str, dialect: str) -> str:
    absent = _ABSENT[table]
    cast = "null::{}" if dialect == "postgres" else "null"
    optional = {name: cast.format(absent[name]) if name in absent else f"j.{name}" for name in _OPTIONAL}
    return _COMMON.format(deadline_at=_deadline(table, dialect), **optional)


def _deadline(table: str, dialect: str) -> str:
    """The deadline of a job: pauses that are over moved that of one that still waits, whoever writes it down."""
    if table == "haulwright_history":
        return "j.deadline_at"
    later = "max" if dialect == "sqlite" else "greatest"
    pauses = [_WAITED.format(later=later, kind=kind, name=f"j.{kind}") for kind in ("queue", "source")]
    return f"cast(j.deadline_at + {' + '.join(pauses)} as bigint)"


def _job(row: Sequence[Any]) -> Job:
    values = dict(zip((field.name for field in fields(Job)), row, strict=True))
    # A word that this version does not know is shown as it stands: it is none of the states, and no verb applies to it.
    values["state"] = _STATES.get(values["state"], values["state"])
    return Job(**values)
