"""Jobs as one principal sees them. A foreign id looks exactly like an absent one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from haulwright.client.handle import Handle
from haulwright.engine.ids import is_id
from haulwright.engine.join import JOIN_GATE
from haulwright.engine.names import OWN_TASKS, check_name
from haulwright.engine.source import gate_of
from haulwright.engine.transitions import State
from haulwright.engine.why import Surroundings, Why, why
from haulwright.errors import NotFound, Refused
from haulwright.events import Event
from haulwright.operations.access import Noun, allowed
from haulwright.operations.arguments import read_arguments
from haulwright.operations.filters import JobQuery
from haulwright.operations.timeline import timeline
from haulwright.stores.job_rows import EnqueuedBy, Requeue
from haulwright.stores.listing import JobFilter, JobPage
from haulwright.stores.paging import PAGE_LIMIT, Page, check_page, read_cursor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from haulwright.engine.durations import Duration
    from haulwright.engine.job import Enqueued, Job, NewJob
    from haulwright.stores.connection import Connection
    from haulwright.stores.store import Store

LIVE_SECONDS = 120.0

WhichJobs = JobFilter | JobQuery | None
"""A filter: made of fields, or read from text by `parse_filter`. None is all."""


class EnqueueOptions(TypedDict, total=False):
    """What one enqueue says otherwise than its task."""

    tenant: str | None
    queue: str | None
    priority: int | None
    delay: Duration | None
    run_at: datetime | None
    deadline: Duration | None
    unique: str | None
    job_key: str | None
    correlation_id: str | None
    tags: Sequence[str]
    headers: Mapping[str, str] | None


@dataclass(frozen=True, slots=True)
class NewCall:
    """One job of several that are enqueued together."""

    task: str
    arguments: Mapping[str, Any]
    options: EnqueueOptions


@dataclass(frozen=True, slots=True)
class Retried:
    """The job that runs again: itself, or the successor of a dead letter."""

    id: str
    requeued_from: str | None
    changed: bool
    """False where it was due already."""


@dataclass(frozen=True, slots=True)
class Relatives:
    """The jobs that one job has to do with, as far as they are still there: the first of each kind."""

    waited_by: list[Job]
    """They go on when it has ended."""
    waits_for: list[Job]
    predecessor: Job | None
    """The dead letter that it goes on from."""
    successor: Job | None


class JobOperations(Noun):
    """Look at jobs, enqueue them, and ask that they run or stop."""

    @allowed("job.read")
    def get(self, job_id: str) -> Job:
        """One job."""
        return self._store.listing.get(require_id(job_id), self._tenant)

    @allowed("job.read")
    def find(self, job_id: str) -> Job | None:
        """One job, or None where there is none, or none any more."""
        return self._store.listing.find(job_id, self._tenant)

    @allowed("job.read")
    def unfinished(self, ids: Sequence[str]) -> set[str]:
        """Those of some jobs that still are to end."""
        return self._store.joins.unfinished(self._tenant, ids)

    @allowed("job.read")
    def page(self, which: WhichJobs = None, *, after: str | None = None, limit: int = 50) -> JobPage:
        """Jobs by a filter, the newest first, a page at a time."""
        return self._store.listing.page(scoped(which, self._tenant, self._store), after=after, limit=limit)

    @allowed("job.read")
    def stuck(self, which: WhichJobs = None, *, after: str | None = None, limit: int = 50) -> JobPage:
        """Running jobs whose lease has run out, the one that ran out first before the others."""
        job_filter = scoped(which, self._tenant, self._store)
        return self._store.listing.stuck(job_filter, before=self._store.now(), after=after, limit=limit)

    @allowed("job.read")
    def timeline(
        self,
        job_id: str,
        *,
        name: str | None = None,
        tenant: str | None = None,
        after: str | None = None,
        limit: int = PAGE_LIMIT,
    ) -> Page[Event]:
        """What happened to a job, attempt by attempt, from its first moment; of each page the events of a name."""
        job = self.get(job_id)
        place = 0 if after is None else read_cursor(after, int)[0]
        rows = self._store.events.of_job(job_id, check_page(limit) + 1, after=place)
        stored, more = rows[:limit], len(rows) > limit
        events_of_page = timeline(job, stored, first=after is None, last=not more)
        matches = [event for event in events_of_page if name in {None, event.name} and tenant in {None, event.tenant}]
        return Page(matches, str(stored[-1].seq) if more else None)

    @allowed("job.read")
    def relatives(self, job_id: str, *, limit: int = 20) -> Relatives:
        """Who waits for a job, for whom it waits, and its lives before and after."""
        job = self.get(job_id)
        parents, children = self._store.joins.relatives(job.id, check_page(limit))
        return Relatives(
            self._still_there(parents),
            self._still_there(children),
            self._other_life(job.requeued_from),
            self._other_life(job.requeued_to),
        )

    def _still_there(self, ids: Sequence[str]) -> list[Job]:
        return [job for job_id in ids if (job := self._store.listing.find(job_id, self._tenant)) is not None]

    def _other_life(self, job_id: str | None) -> Job | None:
        return None if job_id is None else self._store.listing.find(job_id, self._tenant)

    @allowed("job.read")
    def why(self, job_id: str) -> Why:
        """Where a job stands, and what to do about it."""
        job = self.get(job_id)
        pause = self._store.queues.paused(job.queue)
        workers = [row for row in self._store.workers.list(within_seconds=LIVE_SECONDS) if job.queue in row.queues]
        capable = [row for row in workers if job.task in row.tasks]
        gate = gate_of(job.waiting_on) if job.waiting_on else None
        source = self._store.sources.standing(gate[0]) if gate else None
        children = self._store.joins.waited_for(job.id) if job.waiting_on == JOIN_GATE else None
        standing = (self._store.now(), pause and pause[1], len(workers), len(capable), source, children)
        return why(job, Surroundings(*standing))

    @allowed("job.read")
    def wait(self, job_id: str, timeout: float | None = None) -> Job:
        """Wait until a job is over and return it; JobFailed where it did not succeed, ResultTimeout after a time."""
        self.get(job_id)
        handle: Handle[Any] = Handle(self._store, job_id, created=False)
        handle.result(timeout)
        return handle.job()

    @allowed("job.enqueue")
    def arguments(self, task: str, texts: Mapping[str, str]) -> dict[str, Any]:
        """Texts as values for a task: as JSON where that fits its signature, else as text."""
        return read_arguments(self._app.find(task).signature, texts)

    @allowed("job.enqueue")
    def enqueue(self, task: str, arguments: Mapping[str, Any], **options: Unpack[EnqueueOptions]) -> Enqueued:
        """Enqueue a registered task by its name, with JSON values; its first event says who did it and why."""
        job = self.check(NewCall(task, arguments, options))
        enqueued = self._store.grouped_enqueues.enqueue(job, self._by)
        self._app.note_enqueued([job], [enqueued])
        return enqueued

    @allowed("job.enqueue")
    def enqueue_many(self, calls: Sequence[NewCall]) -> list[Enqueued]:
        """Enqueue jobs together, in one transaction: all of them, or none."""
        jobs, by = [self.check(call) for call in calls], [self._by] * len(calls)

        def work(connection: Connection) -> list[Enqueued]:
            return self._store.jobs.enqueue_on(connection, jobs, by)

        enqueued = self._store.database.transact(work, rows=len(jobs))
        self._app.note_enqueued(jobs, enqueued)
        return enqueued

    @property
    def _by(self) -> EnqueuedBy:
        return EnqueuedBy(self._principal.actor, self._principal.reason)

    @allowed("job.enqueue")
    def check(self, call: NewCall) -> NewJob:
        """The job of a call, complete and checked. Nothing is written."""
        if call.task.startswith(OWN_TASKS):
            message = (
                f"The task {call.task!r} is the engine's own, and its jobs act with the rights of who started them."
            )
            raise Refused(message, hint="Ask for what it does: haulwright job, haulwright dead, POST /api/v1/bulk.")
        options = call.options.copy()
        tenant = self._own_tenant("job.enqueue", options.get("tenant"))
        for what, name in (("tenant", tenant), ("queue", options.get("queue"))):
            if name is not None:
                check_name(what, name)  # an empty one, from a variable that was not set, means no default
        options["tenant"] = tenant
        return self._app.find(call.task).using(**options).build_plain(call.arguments)

    @allowed("job.cancel")
    def cancel(self, job_id: str, reason: str = "cancelled on request") -> State:
        """Cancel a job: at once where it waits, by a signal where it runs."""
        return self._store.jobs.cancel(
            require_id(job_id), tenant=self._tenant, reason=reason, actor=self._principal.actor
        )

    @allowed("job.retry")
    def retry(self, job_id: str) -> Retried:
        """Run a job again now: one that waits is due at once; a dead one gets another life, which takes that right."""
        who = self._principal
        if self.get(job_id).state is State.DEAD:
            self._require("dead.requeue")
            successor = self._store.jobs.requeue(job_id, Requeue(who.actor, who.reason), tenant=self._tenant)
            return Retried(successor.id, job_id, changed=True)
        changed = self._store.jobs.retry(job_id, tenant=self._tenant, reason=who.reason, actor=who.actor)
        return Retried(job_id, None, changed)


def scoped(which: WhichJobs, tenant: str | None, store: Store) -> JobFilter:
    """A filter within the rows of a tenant, whatever tenant it named itself; its ages are counted from now."""
    job_filter = which.job_filter(store.now()) if isinstance(which, JobQuery) else which or JobFilter()
    return job_filter if tenant is None else replace(job_filter, tenant=tenant)


def require_id(job_id: str) -> str:
    """What does not even look like an id names no job; PostgreSQL would not compare it."""
    if not is_id(job_id):
        raise NotFound("job", job_id)
    return job_id
