"""Bulk actions as one principal sees them: one act on all jobs of a filter, as a durable job that can be stopped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from haulwright import events
from haulwright.engine.ids import is_id
from haulwright.engine.names import EVERY_TENANT
from haulwright.engine.payload import read_json
from haulwright.engine.transitions import State
from haulwright.errors import NotFound
from haulwright.events import Event
from haulwright.operations.access import Noun, allowed
from haulwright.operations.bulk_order import ACT_VERBS, BULK_TASK, BulkOrder, BulkProgress, require_act
from haulwright.operations.bulk_run import BULK_QUEUE, bulk_task, end_event, facts
from haulwright.operations.jobs import LIVE_SECONDS
from haulwright.operations.principal import Principal
from haulwright.stores.caller_connection import CallerConnection
from haulwright.stores.job_rows import EnqueuedBy
from haulwright.stores.paging import Page, check_page, read_cursor
from haulwright.stores.store import Store

if TYPE_CHECKING:
    from haulwright.engine.job import Job
    from haulwright.stores.connection import Connection

COUNT_LIMIT: Final = 10_000
"""So far a preview counts."""
SAMPLE: Final = 10
"""So many jobs a preview shows."""
_EMPTY_ORDER: Final = {"act": "cancel", "where": "", "up_to": 0}


@dataclass(frozen=True, slots=True)
class BulkPreview:
    """What a bulk action would take just now. Nothing was changed."""

    order: BulkOrder
    count: int
    more: bool
    """There are more than were counted."""
    sample: list[Job]
    """The newest of them."""
    problem: str | None
    """Why nobody would run it as things stand; None where somebody would."""


@dataclass(frozen=True, slots=True)
class BulkAction:
    """A bulk action: its job, what was ordered, by whom and why, and how far it has come."""

    job: Job
    order: BulkOrder
    actor: str
    reason: str
    progress: BulkProgress


class BulkOperations(Noun):
    """The same act on many jobs. Who may do it to one may have it done to all that a filter finds of their own."""

    @allowed("bulk.preview")
    def preview(
        self, act: str, where: str = "", *, fresh: bool = False, correlation_id: str | None = None
    ) -> BulkPreview:
        """How many jobs an action would take, the newest of them, and whether somebody is there to run it."""
        order = self._order(act, where, fresh=fresh, correlation_id=correlation_id)
        job_filter = order.job_filter(self._tenant)
        ids = self._store.listing.ids(job_filter, limit=COUNT_LIMIT + 1)
        sample = self._store.listing.page(job_filter, limit=SAMPLE).jobs
        return BulkPreview(order, min(len(ids), COUNT_LIMIT), len(ids) > COUNT_LIMIT, sample, self._problem())

    @allowed("bulk.start")
    def start(self, act: str, where: str = "", *, fresh: bool = False, correlation_id: str | None = None) -> BulkAction:
        """Have an act done to all jobs that a filter finds up to now, by a worker, with the rights of who asks.

        It takes the right to that act as well, and leaves the reason and the name of who asks in every event.
        """
        order = self._order(act, where, fresh=fresh, correlation_id=correlation_id)
        who = self._principal
        values: dict[str, Any] = {
            "act": order.act, "where": order.where, "up_to": order.up_to, "role": who.kind, "name": who.name,
            "reason": who.reason, "request_id": events.request_id.get(), "fresh": fresh,
            "correlation_id": correlation_id,
        }  # fmt: skip
        job = bulk_task(self._app).using(tenant=self._tenant or EVERY_TENANT).build_plain(values)
        data = facts(job.id, order, who.reason)
        started = Event(events.BULK_STARTED, job.tenant, job.id, actor=who.actor, data=data)

        def work(connection: Connection) -> None:
            self._store.jobs.enqueue_on(connection, [job], [EnqueuedBy(who.actor, who.reason)])
            self._store.events.record(connection, [started])

        self._store.database.transact(work)
        return self._action(job.id)

    @allowed("bulk.read")
    def page(self, *, after: str | None = None, limit: int = 50) -> Page[BulkAction]:
        """Bulk actions, the newest first, as long as their jobs are kept."""
        before = {} if after is None else {"before": read_cursor(after, int)[0]}
        # By their first events, which have an index by name; of jobs of one task there is none.
        started = self._store.events.latest(
            tenant=self._tenant, name=events.BULK_STARTED, limit=check_page(limit) + 1, **before
        )
        rows = started[-limit:]
        jobs = [self._store.listing.find(event.job_id or "", self._tenant) for event in reversed(rows)]
        cursor = str(rows[0].seq) if len(started) > limit else None
        return Page([action_of(job) for job in jobs if job is not None], cursor)

    @allowed("bulk.read")
    def get(self, job_id: str) -> BulkAction:
        """One bulk action, by the id of its job."""
        return self._action(job_id)

    @allowed("bulk.stop")
    def stop(self, job_id: str, reason: str = "stopped on request") -> BulkAction:
        """Stop an action: no page of jobs begins after this. What was done stays done."""
        self._action(job_id)

        def work(connection: Connection) -> None:
            store = Store(CallerConnection(connection, self._store.database))
            state = store.jobs.cancel(job_id, tenant=self._tenant, reason=reason, actor=self._principal.actor)
            if state is State.CANCELLED:  # no run is there to say how far it came
                action = action_of(store.listing.get(job_id, self._tenant))
                progress = replace(action.progress, ended="stopped")
                stopped = end_event(action.job, action.order, self._principal.actor, reason, progress)
                store.events.record(connection, [stopped])

        self._store.database.transact(work)
        return self._action(job_id)

    def _order(self, act: str, where: str, *, fresh: bool, correlation_id: str | None) -> BulkOrder:
        self._require(ACT_VERBS[require_act(act)])
        return BulkOrder.of(act, where, self._store.now(), fresh=fresh, correlation_id=correlation_id)

    def _action(self, job_id: str) -> BulkAction:
        job = self._store.listing.find(job_id, self._tenant) if is_id(job_id) else None
        if job is None or job.task != BULK_TASK:
            raise NotFound("bulk action", job_id)
        return action_of(job)

    def _problem(self) -> str | None:
        """Why no worker would run an action as things stand."""
        pause = self._store.queues.paused(BULK_QUEUE)
        if pause is not None:
            return f"the queue {BULK_QUEUE!r}, in which it would wait, is paused"
        workers = [row for row in self._store.workers.list(within_seconds=LIVE_SECONDS) if BULK_QUEUE in row.queues]
        if not workers:
            return f"no live worker serves the queue {BULK_QUEUE!r}, in which it would wait"
        if not any(BULK_TASK in row.tasks for row in workers):
            return (
                f"no live worker of the queue {BULK_QUEUE!r} knows the task {BULK_TASK!r}: they are of older versions"
            )
        return None


def action_of(job: Job) -> BulkAction:
    """A bulk action from the row of its job."""
    values: dict[str, Any] = {**_EMPTY_ORDER, **(read_json(job.args, dict) or {})}
    order = BulkOrder(
        values["act"], values["where"], values["up_to"], values.get("fresh", False), values.get("correlation_id")
    )
    principal = Principal(values.get("role", "system"), values.get("name", ""), None)
    return BulkAction(job, order, principal.actor, values.get("reason", ""), BulkProgress.read(job.progress))
