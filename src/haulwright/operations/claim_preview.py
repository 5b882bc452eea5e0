"""What a worker would claim, by the rules of the claim and without writing anything."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from haulwright.engine.lease import Share, fill_up, shares_of
from haulwright.engine.transitions import State
from haulwright.errors import SchemaMismatch
from haulwright.stores import migrations
from haulwright.stores.listing import JobFilter
from haulwright.stores.paging import PAGE_LIMIT

if TYPE_CHECKING:
    from haulwright.engine.job import Job
    from haulwright.stores.store import Store

PAGES = 50
"""How many pages of one tenant's waiting jobs are looked at, the newest first."""


def would_claim(store: Store, queues: Sequence[str], batch: int) -> list[Job]:
    """The jobs that a worker which starts now would claim first, in their order. Gates are not asked."""
    state = migrations.status(store.database)
    if not state.applied:
        return []
    if not state.current:
        message = f"The schema is at version {state.applied}, and this code needs {state.known}."
        raise SchemaMismatch(message, hint="Run: haulwright db migrate")
    now = store.now()
    jobs: list[Job] = []
    for queue in queues:
        if len(jobs) < batch:
            jobs += _from_queue(store, queue, batch - len(jobs), now)
    return jobs


def _from_queue(store: Store, queue: str, batch: int, now: int) -> list[Job]:
    """Share the batch among the tenants that have something due, then fill it up, as the claim does."""
    pairs = [(tenant, -priority) for tenant, priority in store.leases.due_pairs(queue)]
    waiting: dict[tuple[str, int], list[Job]] = defaultdict(list)
    for tenant in dict(pairs):
        for job in _due(store, queue, tenant, now):
            waiting[tenant, -job.priority].append(job)
    tenant_shares = shares_of(pairs, batch)
    jobs = _take(waiting, tenant_shares, batch)
    counts = Counter((job.tenant, -job.priority) for job in jobs)
    if jobs and len(jobs) < batch:
        jobs += _take(waiting, fill_up(pairs, tenant_shares, counts, batch - len(jobs)), batch - len(jobs))
    return sorted(jobs, key=lambda job: (-job.priority, job.run_at, job.id))


def _take(waiting: dict[tuple[str, int], list[Job]], tenant_shares: Sequence[Share], most: int) -> list[Job]:
    jobs: list[Job] = []
    for share in tenant_shares:
        line = waiting[share.tenant, share.rank]
        count = min(share.limit, most - len(jobs), len(line))
        jobs += [line.pop(0) for _ in range(count)]
    return jobs


def _due(store: Store, queue: str, tenant: str, now: int) -> list[Job]:
    """The due jobs of a tenant in a queue, in the order of their claim."""
    job_filter = JobFilter(tenant=tenant, queue=queue, state=State.QUEUED)
    jobs: list[Job] = []
    after: str | None = None
    for _ in range(PAGES):
        page = store.listing.page(job_filter, after=after, limit=PAGE_LIMIT)
        jobs += [job for job in page.jobs if job.run_at <= now]
        after = page.next
        if after is None:
            break
    return sorted(jobs, key=lambda job: (job.run_at, job.id))
