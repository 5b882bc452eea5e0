"""Fan out and in: a run enqueues jobs once, waits for them without holding a worker, and gets how they ended."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from haulwright.client.handle import Handle
from haulwright.client.steps import Steps, StoreStep
from haulwright.clock import SECOND, Instant
from haulwright.engine.ids import is_id
from haulwright.engine.join import JOIN_GATE, JOIN_LIMIT, backstop_seconds
from haulwright.engine.outcome import Failure
from haulwright.engine.payload import JOIN_RESULTS_LIMIT_BYTES
from haulwright.engine.transitions import State
from haulwright.errors import InvalidValue, JobFailed, Suspended

if TYPE_CHECKING:
    from haulwright.client.arguments import Values
    from haulwright.client.context import Context
    from haulwright.client.task import Call
    from haulwright.client.transaction import Tx
    from haulwright.engine.job import Enqueued, NewJob
    from haulwright.stores.joins import JoinedRow, Standing
    from haulwright.stores.store import Store

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

LOOKS = 10
"""How often a run looks again whose jobs all ended while it was about to wait for them."""
UNKNOWN = "unknown"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ONCE = (
    "Enqueue it once: ctx.enqueue_many(name, [task.call(...)]), or tx.enqueue in a commit, or "
    "task.using(job_key=...).enqueue(...)."
)


@dataclass(frozen=True, slots=True)
class JobOutcome(Generic[R_co]):
    """How a job ended that another one waited for."""

    id: str
    """The job that was waited for."""
    state: State | None
    """None where there is no such job any more: it was pruned, or never was one of this tenant. `queued` or `running`
    only where the join waited until a time, and that came first."""
    result: R_co | None = None
    """What it returned, where it succeeded."""
    reason: str | None = None
    error: Failure | None = None
    """The last error, if there was one."""
    last_id: str = ""
    """The job that it was requeued as and that ended like this; itself where it was not."""

    @property
    def succeeded(self) -> bool:
        """Whether it has a result."""
        return self.state is State.SUCCEEDED

    def value(self) -> R_co:
        """Its result; raises JobFailed where it has none."""
        if not self.succeeded:
            failure = self.error
            fields = None
            if failure is not None:
                fields = {"class": failure.error_class, "code": failure.code, "message": failure.message}
            raise JobFailed(self.last_id or self.id, self.state or UNKNOWN, self.reason, fields)
        return self.result  # type: ignore[return-value] # the task's own return type


def join_steps(
    context: Context, jobs: Iterable[Handle[Any] | str], *, any_tenant: bool = False, until: datetime | None = None
) -> Steps[list[JobOutcome[Any]]]:
    """Return how jobs ended; where some have not, write down who waits for them, and end the run."""
    lease, joins = context.job, context.store.joins
    tenant, wait_seconds = None if any_tenant else lease.tenant, backstop_seconds(lease.deferrals)
    context.signals.check(lease, "join")
    pairs = _checked(context, jobs)
    ids = sorted({job_id for job_id, _ in pairs})
    for _ in range(LOOKS):
        standing: Standing = yield StoreStep(partial(joins.standing, tenant, ids))
        if standing.unfinished and until is not None:
            now: Instant = yield StoreStep(context.store.now)
            wait_seconds = min(wait_seconds, (_instant(until) - now) / SECOND)
        if not standing.unfinished or wait_seconds <= 0:
            last = sorted(set(standing.lives.values()))
            read = partial(joins.outcomes, tenant, last, JOIN_RESULTS_LIMIT_BYTES)
            rows: dict[str, JoinedRow] = yield StoreStep(read)
            return [_outcome(job_id, standing, rows, values) for job_id, values in pairs]
        waits = yield StoreStep(partial(joins.wait, lease, standing.unfinished, any_tenant=any_tenant))
        if waits:
            break
    context.signals.suspended = (wait_seconds, JOIN_GATE)
    raise Suspended


def write_calls(tx: Tx, calls: Sequence[Call[Any]]) -> list[tuple[str, bool]]:
    """Enqueue calls in a transaction: the id of each, and whether it is new."""
    return [(job.id, job.created) for job in tx.store.jobs.enqueue_on(tx.connection, [call.job for call in calls])]


def handles_of(
    store: Store, name: str, calls: Sequence[Call[R]], recorded: Sequence[tuple[str, bool]]
) -> list[Handle[R]]:
    """The handles of calls that were enqueued in this run or in an earlier one."""
    if len(recorded) != len(calls):
        why = f"enqueued {len(recorded)} jobs in an earlier run, and {len(calls)} calls are given now"
        raise InvalidValue("enqueue_many", name, why, hint="Make the calls of arguments and recorded effects alone.")
    return [
        Handle(store, job_id, created=created, values=call.task.signature.result)
        for (job_id, created), call in zip(recorded, calls, strict=True)
    ]


def remember_enqueued(context: Context | None, jobs: Sequence[NewJob], enqueued: Sequence[Enqueued]) -> None:
    """Remember the jobs that a later run would enqueue again: waiting for them would never end."""
    if context is not None and len(context.enqueued_anew) < JOIN_LIMIT:
        pairs = zip(jobs, enqueued, strict=True)
        context.enqueued_anew.update(made.id for job, made in pairs if not _comes_back(job))


def _comes_back(job: NewJob) -> bool:
    """Whether another enqueue of the same call would find this job, also when it has ended."""
    return job.job_key is not None or (job.unique is not None and job.unique.scope != "while_active")


def note_recorded(context: Context, text: str) -> None:
    """What the ledger knows comes back in a later run, and is not enqueued again."""
    if context.enqueued_anew:
        context.enqueued_anew.difference_update(_UUID.findall(text))


def _checked(context: Context, jobs: Iterable[Handle[Any] | str]) -> list[tuple[str, Values | None]]:
    """The ids of the jobs in order, each with the form of its result."""
    if isinstance(jobs, str | Handle):
        raise InvalidValue("join", jobs, "is not a list of jobs", hint="Write: ctx.join([job])")
    pairs: list[tuple[str, Values | None]] = []
    for job in jobs:
        job_id, values = (job.id, job.values) if isinstance(job, Handle) else (str(job), None)
        if not is_id(job_id):
            raise InvalidValue("join", job, "is neither a handle nor the id of a job")
        if job_id == context.job.id:
            raise InvalidValue("join", job_id, "is the job itself, which would wait for ever")
        if job_id in context.enqueued_anew:
            why = "was enqueued by this run, which begins anew when it wakes and would enqueue another one"
            raise InvalidValue("join", job_id, why, hint=_ONCE)
        pairs.append((job_id, values))
    if len(pairs) > JOIN_LIMIT:
        why = f"are more than {JOIN_LIMIT} jobs"
        raise InvalidValue("join", len(pairs), why, hint="Let each of a few jobs join a part of them.")
    return pairs


def _outcome(job_id: str, standing: Standing, rows: dict[str, JoinedRow], values: Values | None) -> JobOutcome[Any]:
    last_id = standing.lives[job_id]
    row = rows.get(last_id)
    if row is None:
        return JobOutcome(job_id, standing.states.get(last_id), last_id=last_id)
    failure = Failure(row.error_class or "", row.error_code or "", row.error_message or "")
    return JobOutcome(
        job_id,
        row.state,
        None if row.result is None or row.state is not State.SUCCEEDED else _load(row.result, values),
        row.reason,
        None if row.error_class is None and row.error_message is None else failure,
        last_id,
    )


def _instant(moment: datetime) -> Instant:
    if moment.tzinfo is None:
        raise InvalidValue("until", moment, "has no time zone")
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _load(text: str, values: Values | None) -> Any:
    return json.loads(text) if values is None else values.load(text)
