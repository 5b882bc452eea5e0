"""The options of a task, as they are written in `app.task(...)`, and what the engine makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from haulwright.client.calls import SourceOf, key_of_source
from haulwright.engine.durations import Duration, us
from haulwright.engine.job import DEFAULT_DEADLINE_SECONDS, DEFAULT_LEASE_SECONDS, DEFAULT_QUEUE
from haulwright.engine.names import check_tags
from haulwright.engine.retry import Retry
from haulwright.engine.task import (
    LONGEST_LEASE_SECONDS,
    SHORTEST_LEASE_SECONDS,
    By,
    Concurrency,
    Isolation,
    TaskOptions,
    UniqueBy,
)


class TaskKeywords(TypedDict, total=False):
    """How the jobs of a task behave. A call says otherwise by `using`."""

    name: str | None
    """What its jobs go by in the database; the function's name unless it is given. Keep it when the function moves."""
    queue: str
    """The queue of its jobs: `default`."""
    priority: int
    """From -100 to 100, higher first: 0."""
    source: SourceOf | None
    """The server it asks: its jobs wait, without burning attempts, while that source takes no requests."""
    unique: By | UniqueBy | None
    """One job for the same values while one is active: names of arguments, True for all, or a `UniqueBy`."""
    concurrency: int | Concurrency | None
    """So many runs at once in the whole fleet, or a `Concurrency` for each value of an argument."""
    retry: Retry | int | None
    """A `Retry`, or how many attempts there are in all: 5, with pauses from 30 s up to 1 h."""
    timeout: Duration | None
    """How long one run may take. It ends an `async def` task and one with `isolation="process"`; a plain function with
    a context hears of it at its next call there; one without is refused, for nothing could end it."""
    deadline: Duration | None
    """A job that has not begun by then ends as dead: `7 days`. None is never. Workers look for such jobs before their
    first claim, and then once a minute."""
    lease: Duration
    """How long a worker that fell silent keeps a job: `2 min`. Running jobs are renewed, however long they take."""
    isolation: Isolation
    """`thread`, or `process` for what may hang, crash or eat memory: a child that can be killed."""
    tags: Sequence[str]
    """Words to find its jobs by."""
    event_fields: Sequence[str]
    """Names of arguments, and of fields of the result, that the events of its jobs carry."""
    audit: bool
    """Whether each event of its jobs is written when it happens, `job.queued` and `job.started` among them: False."""


def task_options(  # noqa: PLR0913 - the options of a task, each with a name
    *,
    queue: str = DEFAULT_QUEUE,
    priority: int = 0,
    source: SourceOf | None = None,
    unique: By | UniqueBy | None = None,
    concurrency: int | Concurrency | None = None,
    retry: Retry | int | None = None,
    timeout: Duration | None = None,
    deadline: Duration | None = DEFAULT_DEADLINE_SECONDS,
    lease: Duration = DEFAULT_LEASE_SECONDS,
    isolation: Isolation = "thread",
    tags: Sequence[str] = (),
    event_fields: Sequence[str] = (),
    audit: bool = False,
) -> TaskOptions:
    """What the engine knows of these options; what makes no sense is refused."""
    if isinstance(unique, UniqueBy):
        _ = unique.period_us  # parsed when it is needed, and refused now
    own_source: Any = key_of_source(source)
    return TaskOptions(
        queue=queue,
        priority=priority,
        source=own_source,
        unique=unique if isinstance(unique, UniqueBy) or unique is None else UniqueBy(unique),
        concurrency=Concurrency(concurrency) if isinstance(concurrency, int) else concurrency,
        retry=Retry(retry) if isinstance(retry, int) else retry or Retry(),
        timeout_us=None if timeout is None else us(timeout, what="timeout", minimum=0.001),
        deadline_us=None if deadline is None else us(deadline, what="deadline", minimum=1),
        lease_us=us(lease, what="lease", minimum=SHORTEST_LEASE_SECONDS, maximum=LONGEST_LEASE_SECONDS),
        isolation=isolation,
        tags=check_tags(tags),
        event_fields=tuple(event_fields),
        audit=audit,
    )
