"""The calls of a task: the jobs that they make, complete and checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, overload

from haulwright.client.arguments import Signature
from haulwright.client.context import current
from haulwright.client.event_fields import event_fields_of_arguments
from haulwright.client.handle import Handle
from haulwright.clock import Instant
from haulwright.engine.durations import Duration, us
from haulwright.engine.headers import dump_headers, inherit_headers
from haulwright.engine.ids import new_id
from haulwright.engine.job import DEFAULT_TENANT, NewJob, Unique
from haulwright.engine.keys import digest
from haulwright.engine.names import check_key, check_name, check_tags
from haulwright.engine.payload import canonical
from haulwright.engine.task import By, TaskOptions, UniqueBy, check_priority
from haulwright.errors import InvalidPayload, InvalidValue

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright


class HasKey(Protocol):
    """A source, as far as a task knows it."""

    key: str


SourceOf = str | HasKey | Callable[[dict[str, Any]], str | HasKey]
"""The source of a task's jobs: a source, its key, or a function of the arguments that returns one of them."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_MOMENT = datetime(1, 1, 1, tzinfo=UTC)
_LAST_MOMENT = datetime(9000, 1, 1, tzinfo=UTC)
"""Far enough from where the calendar ends: what is reckoned from a moment, such as a deadline, still has a date."""

KEY_SHOWN_CHARS = 200
"""A unique key of several values longer than this is kept as its digest."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DeclaredTask:
    """What a task is made of. A `Task` answers misspelt names, which makes each look-up slower: runs look here."""

    app: Haulwright
    name: str
    function: Callable[..., Any]
    options: TaskOptions
    signature: Signature
    is_async: bool


@dataclass(frozen=True, slots=True)
class CallOptions:
    """What one call says otherwise than its task."""

    tenant: str | None = None
    queue: str | None = None
    priority: int | None = None
    delay: Duration | None = None
    run_at: datetime | None = None
    deadline: Duration | None = None
    timeout: Duration | None = None
    unique: str | None = None
    job_key: str | None = None
    correlation_id: str | None = None
    tags: Sequence[str] = ()
    connection: Any = None
    headers: Mapping[str, str] | None = None


_OPTION_NAMES = {field.name for field in fields(CallOptions)}


class Calls:
    """Calls of one task with the same options."""

    def __init__(self, task: DeclaredTask, options: CallOptions) -> None:
        self.task = task
        self.options = options

    def enqueue(self, job: NewJob) -> Handle[Any]:
        """Write a job, and return its handle."""
        app, connection = self.task.app, self.options.connection
        store = app.store if connection is None else app.store_on(connection)
        jobs = [job]
        enqueued = store.jobs.enqueue(jobs)
        app.note_enqueued(jobs, enqueued)
        (entry,) = enqueued
        beside = store if connection is None else app.store_beside(connection)
        return Handle(beside, entry.id, created=entry.created, values=self.task.signature.result)

    def build(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> NewJob:
        """The job of one call. Nothing is written."""
        try:
            text, plain = self.task.signature.dump(args, kwargs)
        except InvalidPayload as error:
            if misplaced := sorted((kwargs.keys() - self.task.signature.names) & _OPTION_NAMES):
                error.hint += f" An option of a job goes before: .using({misplaced[0]}=...).enqueue(...)."
            raise
        return self._job(text, plain)

    def build_plain(self, values: Mapping[str, Any]) -> NewJob:
        """The same from JSON values."""
        text, plain = self.task.signature.dump_plain(values)
        return self._job(text, plain)

    def _job(self, text: str, plain: dict[str, Any]) -> NewJob:
        """The job of one call: what its task and its options say of all of them, and what its arguments say of it."""
        options, tenant, correlation_id = self.task.options, self.options.tenant, self.options.correlation_id
        running, headers = current.get(), self._common.headers
        if running is None and self._is_uniform:
            return NewJob._make((new_id(), self.task.name, text, *self._common[3:]))
        if running is not None:
            tenant = running.job.tenant if tenant is None else tenant
            if correlation_id is None:
                correlation_id = running.job.correlation_id or running.job.id
            if tenant == running.job.tenant:  # what one tenant wrote does not travel to another
                headers = inherit_headers(running.job.headers, headers)
        source = key_of_source(options.source(plain) if callable(options.source) else options.source)
        limit = options.concurrency
        return self._common._replace(
            id=new_id(),
            args=text,
            tenant=DEFAULT_TENANT if tenant is None else check_name("tenant", tenant),
            unique=_unique(options.unique, self.options.unique, plain),
            concurrency_key=None if limit is None else self.task.name + _suffix(limit.by, plain),
            source=None if source is None else check_name("source", source),
            correlation_id=None if correlation_id is None else check_key("correlation_id", correlation_id),
            event_fields=event_fields_of_arguments(options.event_fields, plain) if options.event_fields else None,
            headers=headers,
        )

    @cached_property
    def _is_uniform(self) -> bool:
        """Whether the jobs of all calls differ in their arguments only."""
        call, options = self.options, self.task.options
        by_arguments = (options.source, options.unique, options.concurrency, options.event_fields)
        by_call = (call.tenant, call.unique, call.correlation_id)
        return not any(by_arguments) and all(value is None for value in by_call)

    @cached_property
    def _common(self) -> NewJob:
        """What the jobs of all calls have in common."""
        call, options = self.options, self.task.options
        return NewJob(
            id="",
            task=self.task.name,
            args="",
            queue=check_name("queue", options.queue if call.queue is None else call.queue),
            priority=check_priority(options.priority if call.priority is None else call.priority),
            delay_us=0 if call.delay is None else us(call.delay, what="delay"),
            run_at=_run_at(call),
            max_attempts=options.retry.attempts,
            lease_us=options.lease_us,
            timeout_us=None if call.timeout is None else us(call.timeout, what="timeout", minimum=0.001),
            deadline_us=options.deadline_us if call.deadline is None else us(call.deadline, what="deadline", minimum=1),
            job_key=None if call.job_key is None else check_key("job_key", call.job_key),
            concurrency_limit=None if options.concurrency is None else options.concurrency.limit,
            tags=canonical(check_tags([*options.tags, *check_tags(call.tags)])),
            headers=dump_headers(call.headers),
            audited=options.audit,
        )


@overload
def key_of_source(source: str | HasKey | None) -> str | None: ...
@overload
def key_of_source(source: SourceOf | None) -> str | Callable[[dict[str, Any]], Any] | None: ...
def key_of_source(source: SourceOf | None) -> str | Callable[[dict[str, Any]], Any] | None:
    """What a job remembers of its source; a function of the arguments is left as it is."""
    return source if source is None or isinstance(source, str) or callable(source) else source.key


def _unique(declared: UniqueBy | None, own_key: str | None, plain: dict[str, Any]) -> Unique | None:
    if own_key is None and declared is None:
        return None
    key = (
        check_key("unique", own_key)
        if own_key is not None
        else _short(_key_value(declared.by if declared else True, plain))
    )
    if declared is None or declared.scope == "while_active":
        return Unique(key)
    if declared.scope == "forever":
        return Unique(key, "forever")
    return Unique(key, "period", declared.period_us)


def _suffix(by: By | None, plain: dict[str, Any]) -> str:
    return "" if by is None else f":{_short(_key_value(by, plain))}"


def _key_value(by: By, plain: dict[str, Any]) -> str:
    """The value of a key: of the arguments that it names, or of all of them."""
    if by is True:
        return canonical(plain)
    if callable(by):
        return check_key("key", by(plain))
    names = [by] if isinstance(by, str) else list(by)
    require_arguments("unique or concurrency", names, list(plain))
    if len(names) == 1 and isinstance(plain[names[0]], str):
        return str(plain[names[0]])
    return canonical([plain[name] for name in names])


def _short(key: str) -> str:
    return key if key and len(key) <= KEY_SHOWN_CHARS else f"sha256:{digest(key)}"


def require_arguments(what: str, by: By | None, arguments: Sequence[str]) -> None:
    """Refuse a key that is made of an argument which the function does not have."""
    if by is None or by is True or callable(by):
        return
    for name in [by] if isinstance(by, str) else by:
        if name not in arguments:
            raise InvalidValue(what, name, "is not an argument of the task", hint=f"It has: {', '.join(arguments)}.")


def _run_at(options: CallOptions) -> Instant | None:
    """The moment at which a call may first run, where it names one."""
    moment = options.run_at
    if moment is None:
        return None
    if options.delay is not None:
        raise InvalidValue("delay", options.delay, "is given beside run_at", hint="Say one of them.")
    if moment.tzinfo is None:
        raise InvalidValue("run_at", moment, "has no time zone", hint="Give it one: datetime.now(UTC) + ...")
    if not _FIRST_MOMENT <= moment < _LAST_MOMENT:
        raise InvalidValue("run_at", moment, f"is not in the years {_FIRST_MOMENT.year} to {_LAST_MOMENT.year - 1}")
    return (moment - _EPOCH) // timedelta(microseconds=1)
