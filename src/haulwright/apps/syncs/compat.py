"""The words of the document, as thin calls into the engine: nobody claims, leases or settles here.

The document's session is an app with syncs on it, or a connection of the caller's beside such an app: what is
dispatched on it commits or rolls back with the caller's rows.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from haulwright import Haulwright, Job, Principal, State
from haulwright.apps.syncs.application import QUEUE, Syncs
from haulwright.apps.syncs.settings import SyncSettings
from haulwright.apps.syncs.views import SyncJobView
from haulwright.engine.durations import seconds
from haulwright.errors import Refused
from haulwright.stores.listing import JobFilter
from haulwright.stores.paging import PAGE_LIMIT

QUEUED: Final = "queued"
RUNNING: Final = "running"
FAILED: Final = "failed"
"""Waiting for a retry: the document's word for what is not lost yet."""
DEAD_LETTER: Final = "dead_letter"
SUCCESS: Final = "success"
CANCELLED: Final = "cancelled"
SKIPPED: Final = "skipped"
"""The document has no word for these two."""

_FINISHED: Final = {
    State.SUCCEEDED: SUCCESS,
    State.DEAD: DEAD_LETTER,
    State.CANCELLED: CANCELLED,
    State.SKIPPED: SKIPPED,
}
CYCLE_PAGES: Final = 100

BASE_DELAY_SECONDS: Final = seconds(SyncSettings().base_delay, what="base_delay")
MAX_DELAY_SECONDS: Final = seconds(SyncSettings().max_delay, what="max_delay")
JITTER: Final = SyncSettings().jitter
MAX_RETRIES: Final = SyncSettings().max_retries
MIN_INTERVAL_SECONDS: Final = SyncSettings().min_interval_seconds
"""These five as the document has them; what is in force is what the settings say."""


def status(state: State, attempts: int, *, under_way: bool = False) -> str:
    """The document's word for a job; `under_way` says that its run goes on at Airbyte while the job waits."""
    if state in _FINISHED:
        return _FINISHED[state]
    if state is State.RUNNING or under_way:
        return RUNNING
    return FAILED if attempts > 0 else QUEUED


def retry_count(state: State, attempts: int) -> int:
    """How often the job was tried again; a job that waits has all of its attempts behind it."""
    return attempts if state is State.QUEUED else max(attempts - 1, 0)


@dataclass(frozen=True, slots=True)
class IngestionJob:
    """A job as the document shows it."""

    job_id: str
    tenant_id: str
    connector_id: str
    external_account_id: str
    status: str
    retry_count: int
    run_id: str | None
    correlation_id: str | None
    error_message: str | None
    error_code: str | None
    next_retry_at: datetime | None = None
    """When it is tried again; None where it does not wait for that."""


class JobDispatcher:
    """The dispatcher of one tenant, who is known from a verified token and from nowhere else."""

    def __init__(self, connection: Any, tenant_id: str, *, app: Haulwright | None = None) -> None:
        self._syncs, self._connection = _opened(connection, app)
        self._tenant = Principal.of_tenant(tenant_id)

    def dispatch(
        self, connector_id: str, external_account_id: str | None = None, correlation_id: str | None = None
    ) -> IngestionJob:
        """Enqueue a sync; `ActiveJobExists` where one is not finished, `TooSoon` where the plan says so."""
        job_id = self._syncs.dispatch(
            self._tenant,
            connector_id,
            external_account_id=external_account_id,
            correlation_id=correlation_id,
            connection=self._connection,
        )
        if self._connection is None:
            return self._job(job_id)
        account = self._syncs.connections.get(self._tenant.name, connector_id).external_account_id
        return IngestionJob(
            job_id, self._tenant.name, connector_id, account, QUEUED, 0, None, correlation_id, None, None
        )

    def get_queued_jobs(self) -> list[IngestionJob]:
        """The tenant's syncs that have not begun, the newest first."""
        documents = self._syncs.stats.jobs(self._tenant.name, status=QUEUED, limit=PAGE_LIMIT)
        return [_shown(document) for document in documents]

    def get_job(self, job_id: str) -> IngestionJob:
        """One sync of the tenant. That of another looks exactly like an absent one."""
        return self._job(job_id)

    def requeue_from_dlq(
        self, job_id: str, correlation_id: str | None = None, *, principal: Principal | None = None
    ) -> IngestionJob:
        """Give a dead letter another life as a new job. It takes support, which names itself as `principal`."""
        who = principal or self._tenant
        self._job(job_id)  # the letter of another tenant does not exist here, whoever asks
        successor = self._syncs.requeue(who, job_id, correlation_id=correlation_id)
        return self._job(successor.id)

    def _job(self, job_id: str) -> IngestionJob:
        return _shown(self._syncs.stats.job(self._tenant.name, job_id))


async def run_worker_cycle(connection: Any, *, app: Haulwright | None = None) -> dict[str, int]:
    """Run the syncs that are due, once, under the engine's leases: how many were new, and how many retries."""
    syncs, _ = _opened(connection, app)
    before = await asyncio.to_thread(_due, syncs)
    await asyncio.to_thread(syncs.app.run_worker, queues=(QUEUE,), until_empty=True)
    after = {job.id: job.fence for job in await asyncio.to_thread(_again, syncs, list(before))}
    ran = [job for job_id, job in before.items() if after.get(job_id, 0) > job.fence]
    retried = sum(job.attempts > 0 for job in ran)
    return {"queued_processed": len(ran) - retried, "retry_processed": retried}


def _due(syncs: Syncs) -> dict[str, Job]:
    """The syncs that a worker would claim now."""
    store, now = syncs.app.store, syncs.app.store.now()
    job_filter = JobFilter(task=syncs.sync_task.name, state=State.QUEUED)
    due: dict[str, Job] = {}
    after = None
    for _ in range(CYCLE_PAGES):
        page = store.listing.page(job_filter, after=after, limit=PAGE_LIMIT)
        due |= {job.id: job for job in page.jobs if job.run_at <= now}
        after = page.next
        if after is None:
            break
    return due


def _again(syncs: Syncs, job_ids: list[str]) -> list[Job]:
    return [syncs.app.store.listing.get(job_id) for job_id in job_ids]


def _opened(connection: Any, app: Haulwright | None) -> tuple[Syncs, Any]:
    """The application behind a session of the document, and the caller's own connection where there is one."""
    if isinstance(connection, Haulwright):
        return Syncs.on(connection), None
    if app is None:
        message = "A connection alone does not say where the tasks are."
        raise Refused(message, hint="Give the app as well: JobDispatcher(connection, tenant_id, app=app)")
    return Syncs.on(app), connection


def _shown(view: SyncJobView) -> IngestionJob:
    document: dict[str, Any] = {**view}
    moment = document["next_retry_at"]
    next_retry_at = None if moment is None else datetime.fromisoformat(moment)
    return IngestionJob(**{name: document[name] for name in IngestionJob.__slots__} | {"next_retry_at": next_retry_at})
