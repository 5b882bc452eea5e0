"""The run of a bulk action: page by page, each in one transaction with how far it has come, under the fence.

So a run that is killed leaves whole pages, and the next one goes on behind the last: no job is acted on twice, and
none is forgotten. Each act is the single operation of whoever ordered it, with its guards and its events.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, assert_never

from haulwright import events
from haulwright.client.context import Context
from haulwright.client.store_view import seen_through
from haulwright.engine.job import DEFAULT_QUEUE
from haulwright.engine.names import EVERY_TENANT
from haulwright.engine.retry import Retry
from haulwright.errors import Cancelled, Conflict, Forbidden, NotFound
from haulwright.events import Event
from haulwright.operations.bulk_order import BULK_TASK, SHOWN_CHARS, Act, BulkOrder, BulkProgress, BulkRefusal
from haulwright.operations.principal import Principal, Role
from haulwright.stores.caller_connection import CallerConnection
from haulwright.stores.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from haulwright.client.app import Haulwright
    from haulwright.client.task import Task
    from haulwright.operations import Operations
    from haulwright.stores.connection import Connection

BULK_QUEUE: Final = DEFAULT_QUEUE
"""The queue that workers serve where nobody says otherwise."""
BULK_PRIORITY: Final = 50
"""Somebody waits for it, and a page is short."""
PAGE_JOBS: Final = 100
"""So many jobs one transaction acts on. It holds their rows, and on SQLite the file, for some tens of milliseconds."""
COUNTED_AT_ONCE: Final = 10_000
MOST_JOBS: Final = 1_000_000
"""So many jobs one action takes; then it ends, and says that there are more."""
RETRY: Final = Retry(10, base="30 s", cap="10 min")


class BulkJob(Protocol):
    """The job of an action: a row, or the lease of a run."""

    @property
    def id(self) -> str:
        """Which one it is."""

    @property
    def tenant(self) -> str:
        """Whose it is."""

    @property
    def fence(self) -> int:
        """The number of its last lease."""


def bulk_task(app: Haulwright) -> Task[..., Any]:
    """The task of bulk actions on an app: every worker has it, and whoever starts an action."""
    task = app.tasks.get(BULK_TASK)
    if task is None:
        decorate = app.task(name=BULK_TASK, queue=BULK_QUEUE, priority=BULK_PRIORITY, retry=RETRY, audit=True)
        task = decorate(BulkRuns(app).run)
    return task


def whose(tenant: str) -> str | None:
    """Whose jobs an action takes: its own row says so, and no argument. None is those of all tenants."""
    return None if tenant == EVERY_TENANT else tenant


class BulkRuns:
    """The bulk actions that run on one app."""

    def __init__(self, app: Haulwright) -> None:
        self._app = app

    def run(  # noqa: PLR0913 - what was ordered, by whom and why
        self,
        ctx: Context,
        *,
        act: Act,
        where: str,
        up_to: int,
        role: Role,
        name: str,
        reason: str = "",
        request_id: str = "",
        fresh: bool = False,
        correlation_id: str | None = None,
    ) -> dict[str, int]:
        """Do the act to every job of the filter, and return how many of each there were."""
        order = BulkOrder(act, where, up_to, fresh, correlation_id)
        token = events.request_id.set(request_id)
        try:
            return BulkRun(self._app, ctx, order, Principal(role, name, whose(ctx.job.tenant), reason)).finish()
        finally:
            events.request_id.reset(token)


@dataclass(frozen=True, slots=True)
class BulkRun:
    """One run of one action."""

    app: Haulwright
    ctx: Context
    order: BulkOrder
    principal: Principal
    """On whose behalf."""

    def finish(self) -> dict[str, int]:
        """Go on where the run before was, to the end."""
        store, job_filter = self.ctx.store, self.order.job_filter(self.principal.tenant)
        progress = BulkProgress.read(store.listing.get(self.ctx.job.id).progress)
        if progress.of is None:
            progress = replace(progress, of=self._count())
        while not progress.ended:
            room = min(PAGE_JOBS, MOST_JOBS - progress.seen)
            ids = store.listing.ids(job_filter, after=progress.after, limit=room + 1)
            page = partial(self._page, progress=progress, ids=ids[:room], more=len(ids) > room)
            progress = store.effects.under(self.ctx.job, "bulk", page)
        if progress.ended == "stopped":
            raise Cancelled(store.listing.get(self.ctx.job.id).cancel_reason or progress.ended)
        return progress.counts()

    def _count(self) -> int:
        job_filter, count, after = self.order.job_filter(self.principal.tenant), 0, None
        while count < MOST_JOBS:
            ids = self.ctx.store.listing.ids(job_filter, after=after, limit=COUNTED_AT_ONCE)
            count += len(ids)
            if len(ids) < COUNTED_AT_ONCE:
                break
            after = ids[-1]
        return min(count, MOST_JOBS)

    def _page(self, connection: Connection, *, progress: BulkProgress, ids: Sequence[str], more: bool) -> BulkProgress:
        """Act on some jobs and write down how far that is, in the transaction that holds the job of the action."""
        job, store = self.ctx.job, Store(CallerConnection(connection, self.ctx.store.database))
        reason, why_stopped = self.principal.reason, store.listing.get(job.id).cancel_reason
        if why_stopped is not None:
            # Whoever asked it to stop held this row: no page begins after that.
            progress, reason = replace(progress, ended="stopped"), why_stopped
        else:
            progress = progress.plus(self._act_on(ids, store), ids[-1] if ids else None)
            if not more or progress.seen >= MOST_JOBS:
                progress = replace(progress, ended="finished", more=more)
        if progress.ended:
            ended = end_event(job, self.order, self.principal.actor, reason, progress)
            store.events.record(connection, [ended])
        store.leases.progress(job, progress.text())
        return progress

    def _act_on(self, ids: Sequence[str], store: Store) -> list[BulkRefusal | None]:
        with seen_through(self.app, store):
            operations = self.app.operations(self.principal)
            # In the order of their ids, as settlements hold several: nobody waits for each other.
            return [_act_on(operations, self.order, job_id) for job_id in sorted(ids)]


def end_event(job: BulkJob, order: BulkOrder, actor: str, reason: str, progress: BulkProgress) -> Event:
    """What is written once when an action ends: how many of each."""
    name = events.BULK_STOPPED if progress.ended == "stopped" else events.BULK_FINISHED
    data = facts(job.id, order, reason) | progress.counts()
    return Event(name, job.tenant, job.id, fence=job.fence, actor=actor, data=data)


def facts(job_id: str, order: BulkOrder, reason: str) -> dict[str, Any]:
    """What every event of an action says of it."""
    return {"job_id": job_id, "act": order.act, "where": order.where, "reason": reason}


def _act_on(operations: Operations, order: BulkOrder, job_id: str) -> BulkRefusal | None:
    """Do the act to one job; one that cannot be is left as it is, and the others go on."""
    try:
        match order.act:
            case "requeue":
                letters = operations.dead_letters
                letters.requeue(job_id, correlation_id=order.correlation_id, fresh=order.fresh)
            case "cancel":
                operations.jobs.cancel(job_id, operations.principal.reason or "cancelled by a bulk action")
            case "retry":
                if not operations.jobs.retry(job_id).changed:
                    return BulkRefusal(job_id, "already_due", "It is due already.")
            case _:
                assert_never(order.act)
    except (NotFound, Conflict, Forbidden) as error:
        return BulkRefusal(job_id, error.code, error.message[:SHOWN_CHARS])
    return None
