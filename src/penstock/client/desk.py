"""The desk: what one principal may see and do with jobs. A foreign id looks exactly like an absent one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock import events
from penstock.client.timeline import timeline
from penstock.engine.ids import is_id
from penstock.engine.job import DEFAULT_TENANT
from penstock.engine.source import gate_of
from penstock.engine.transitions import State
from penstock.engine.why import Surroundings, Why, why
from penstock.errors import AlreadyRequeued, Conflict, Forbidden, NotFound
from penstock.events import Event
from penstock.stores.job_rows import Requeue
from penstock.stores.listing import JobFilter, Page

if TYPE_CHECKING:
    from penstock.client.principal import Principal
    from penstock.engine.job import Enqueued, Job
    from penstock.stores.effects import EffectRow
    from penstock.stores.store import Store

REQUEUE_PAGE = 200
LIVE_SECONDS = 120.0


class Desk:
    """Jobs as one principal sees them."""

    def __init__(self, store: Store, principal: Principal) -> None:
        self._store = store
        self._who = principal

    def get(self, job_id: str) -> Job:
        """One job."""
        return self._store.listing.get(_known_form(job_id), self._who.tenant)

    def page(self, wanted: JobFilter | None = None, *, after: str | None = None, limit: int = 50) -> Page:
        """Jobs by a filter, the newest first, a page at a time."""
        return self._store.listing.page(self._scoped(wanted or JobFilter()), after=after, limit=limit)

    def timeline(self, job_id: str) -> list[Event]:
        """Everything that happened to a job, attempt by attempt."""
        return timeline(self.get(job_id), self._store.events.of_job(job_id))

    def effects(self, job_id: str) -> list[EffectRow]:
        """What the runs of a job have done through the ledger."""
        job = self.get(job_id)
        return self._store.effects.of_job(job.tenant, job.job_key)

    def why(self, job_id: str) -> Why:
        """Where a job stands, and what to do about it."""
        job = self.get(job_id)
        paused = self._store.queues.paused(job.queue)
        serving = [w for w in self._store.workers.list(within_seconds=LIVE_SECONDS) if job.queue in w.queues]
        knowing = [w for w in serving if job.task in w.tasks]
        at = gate_of(job.waiting_on) if job.waiting_on else None
        source = self._store.sources.standing(at[0]) if at else None
        around = Surroundings(self._store.now(), paused and paused[1], len(serving), len(knowing), source)
        return why(job, around)

    def cancel(self, job_id: str, reason: str = "cancelled on request") -> State:
        """Cancel a job: at once where it waits, by a signal where it runs."""
        return self._store.jobs.cancel(
            _known_form(job_id), tenant=self._who.tenant, reason=reason, actor=self._who.actor
        )

    def retry(self, job_id: str) -> bool:
        """Make a job that waits for its next run due at once; False where it is due already."""
        return self._store.jobs.retry(
            _known_form(job_id), tenant=self._who.tenant, reason=self._who.reason, actor=self._who.actor
        )

    def requeue(self, job_id: str, *, correlation_id: str | None = None, fresh: bool = False) -> Enqueued:
        """Give a dead letter another life. It takes support or an admin, and can be done once."""
        self._require("requeue")
        how = Requeue(self._who.actor, self._who.reason, correlation_id, fresh)
        return self._store.jobs.requeue(_known_form(job_id), how, tenant=self._who.tenant)

    def requeue_all(
        self, wanted: JobFilter | None = None, *, limit: int = 10_000, fresh: bool = False
    ) -> list[Enqueued]:
        """Requeue every dead letter of a filter that nobody requeued yet; conflicts are left where they are."""
        self._require("requeue")
        asked = replace(self._scoped(wanted or JobFilter()), state=State.DEAD, not_requeued=True)
        done: list[Enqueued] = []
        after: str | None = None
        while len(done) < limit:
            page = self._store.listing.page(asked, after=after, limit=min(REQUEUE_PAGE, limit - len(done)))
            for job in page.jobs:
                try:
                    done.append(self.requeue(job.id, fresh=fresh))
                except (AlreadyRequeued, Conflict):
                    continue
            after = page.next
            if after is None:
                return done
        return done

    def _scoped(self, wanted: JobFilter) -> JobFilter:
        return wanted if self._who.tenant is None else replace(wanted, tenant=self._who.tenant)

    def _require(self, verb: str) -> None:
        """Refuse a verb by role, and write the refusal down."""
        try:
            self._who.require(verb, "support", "admin")
        except Forbidden as refusal:
            data = {"verb": verb, "reason": refusal.message}
            told = Event(events.REQUEST_REFUSED, self._who.tenant or DEFAULT_TENANT, actor=self._who.actor, data=data)
            self._store.database.transact(lambda connection: self._store.events.record(connection, [told]))
            raise


def _known_form(job_id: str) -> str:
    """What does not even look like an id names no job; PostgreSQL would not compare it."""
    if not is_id(job_id):
        raise NotFound("job", job_id)
    return job_id
