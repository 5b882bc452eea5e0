"""Dead letters as one principal sees them: list, count, requeue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from haulwright.engine.transitions import State
from haulwright.errors import Conflict, HaulwrightError, NotFound
from haulwright.operations.access import Noun, allowed
from haulwright.operations.jobs import WhichJobs, require_id, scoped
from haulwright.stores.job_rows import Requeue
from haulwright.stores.listing import DeadCount, JobFilter, JobPage
from haulwright.stores.paging import PAGE_LIMIT, Page

if TYPE_CHECKING:
    from haulwright.engine.job import Enqueued
    from haulwright.stores.dead_letters import DeadGroup

BULK_LIMIT = 10_000
"""How many dead letters one bulk verb takes."""


@dataclass(frozen=True, slots=True)
class DeadLetterIds:
    """Which dead letters a filter finds, the newest first."""

    ids: list[str]
    more: bool
    """There are more than one bulk verb takes."""


@dataclass(frozen=True, slots=True)
class Requeued:
    """A dead letter that got another life."""

    id: str
    """The new job."""
    requeued_from: str


@dataclass(frozen=True, slots=True)
class RequeueRefused:
    """A dead letter that stays as it is, and why."""

    id: str
    error: HaulwrightError


class DeadLetterOperations(Noun):
    """Jobs that ended in `dead`, and the way back for them."""

    @allowed("dead.read")
    def page(
        self, which: WhichJobs = None, *, requeued: bool = False, after: str | None = None, limit: int = 50
    ) -> JobPage:
        """Dead letters by a filter, the newest first; those that somebody requeued only where that is asked for."""
        return self._store.listing.page(self._letters(which, requeued=requeued), after=after, limit=limit)

    @allowed("dead.read")
    def ids(self, which: WhichJobs = None, *, limit: int = BULK_LIMIT) -> DeadLetterIds:
        """The ids of all dead letters of a filter that nobody requeued yet: what a bulk verb would take."""
        ids: list[str] = []
        after: str | None = None
        while len(ids) < limit:
            page = self.page(which, after=after, limit=min(PAGE_LIMIT, limit - len(ids)))
            ids += [job.id for job in page.jobs]
            after = page.next
            if after is None:
                return DeadLetterIds(ids, more=False)
        return DeadLetterIds(ids, more=True)

    @allowed("dead.read")
    def counts(self, tenant: str | None = None, *, after: str | None = None, limit: int = 50) -> Page[DeadCount]:
        """Dead letters that wait for somebody, by tenant and error code, the most first."""
        return self._store.listing.dead_counts(self._tenant or tenant, after=after, limit=limit)

    @allowed("dead.read")
    def groups(self, tenant: str | None = None, *, limit: int = 50) -> list[DeadGroup]:
        """The newest dead letters that wait for somebody by task and error, the most first."""
        return self._store.dead_letters.groups(self._tenant or tenant, limit=limit)

    @allowed("dead.requeue")
    def requeue(self, job_id: str, *, correlation_id: str | None = None, fresh: bool = False) -> Enqueued:
        """Give a dead letter another life. It can be done once."""
        how = Requeue(self._principal.actor, self._principal.reason, correlation_id, fresh)
        return self._store.jobs.requeue(require_id(job_id), how, tenant=self._tenant)

    @allowed("dead.requeue")
    def requeue_preview(self, which: WhichJobs = None, *, limit: int = BULK_LIMIT) -> DeadLetterIds:
        """What a bulk requeue would take, for who may do it."""
        return self.ids(which, limit=limit)

    @allowed("dead.requeue")
    def requeue_many(
        self, job_ids: Iterable[str], *, correlation_id: str | None = None, fresh: bool = False
    ) -> Iterator[Requeued | RequeueRefused]:
        """Requeue dead letters one by one, as far as the caller goes on. A refused one does not stop the others."""
        return (self._try_requeue(job_id, correlation_id, fresh=fresh) for job_id in job_ids)

    def _try_requeue(self, job_id: str, correlation_id: str | None, *, fresh: bool) -> Requeued | RequeueRefused:
        try:
            return Requeued(self.requeue(job_id, correlation_id=correlation_id, fresh=fresh).id, job_id)
        except (NotFound, Conflict) as error:
            return RequeueRefused(job_id, error)

    def _letters(self, which: WhichJobs, *, requeued: bool) -> JobFilter:
        return replace(scoped(which, self._tenant, self._store), state=State.DEAD, not_requeued=not requeued)
