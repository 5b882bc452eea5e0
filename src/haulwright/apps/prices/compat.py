"""The words of the document that prices come from: its states, its claim, its keys, on the fenced engine.

    words = ScrapeWorker(prices)            # WORKER_ID of the environment, or worker_id=
    job = words.claim_next_pending_job()
    words.heartbeat(job["id"])              # within JOB_LOCK_TIMEOUT_SECONDS
    words.mark_succeeded(job["id"])

A worker that lost a job hears False and changes nothing, whatever it was about to write. Most callers need none of it:
a Haulwright worker claims, renews and settles by itself.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import urlsplit, urlunsplit

from haulwright import Bury, Done, State
from haulwright.application.job_status import JOB_STATUS
from haulwright.apps.prices.application import QUEUE, Prices
from haulwright.apps.prices.keys import normalized_title
from haulwright.apps.prices.settings import PriceSettings
from haulwright.clock import SECOND
from haulwright.engine.job import Lease, LeaseKey
from haulwright.engine.lease import LONGEST_INTERVAL_SECONDS
from haulwright.engine.outcome import UNKNOWN_TASK_GATE, Failure, Outcome, RetryLater
from haulwright.engine.payload import clip
from haulwright.engine.settlement import LEASE_EXPIRED, PutBack, Settlement, resolve
from haulwright.redaction import redact
from haulwright.runtime.identity import this_process
from haulwright.settings import Settings

Status = Literal["pending", "running", "retryable", "succeeded", "failed"]
STATUSES: Final[tuple[Status, ...]] = ("pending", "running", "retryable", "succeeded", "failed")
JOB_LOCK_TIMEOUT_SECONDS: Final = PriceSettings().lease_seconds
BASE_DELAY_MINUTES: Final = PriceSettings().base_delay_minutes
MAX_DELAY_MINUTES: Final = PriceSettings().max_delay_minutes
"""These three as the document has them; what is in force is what the settings say."""
HEARTBEAT_SECONDS: Final = LONGEST_INTERVAL_SECONDS
"""How often a worker of the engine says that it lives: at least as often as the document asks for."""
PROCESS_DIED: Final = "process_died"
RECLAIMED: Final = (LEASE_EXPIRED, PROCESS_DIED)
"""The error codes of a job that was taken back from a worker which did not finish it."""
SWEEP_JOBS: Final = 100
ERROR_BYTES: Final = 2_000
MOST_STRANGERS: Final = 100
"""So many jobs of other kinds are passed over in one look for a collection."""
_NOT_OURS: Final = PutBack("snooze", 30 * SECOND, refund=1, deferral=1, waiting_on=UNKNOWN_TASK_GATE)
"""A job of another kind waits for a worker that knows it, as with every other worker."""


def status(state: State, attempts: int, error_code: str | None = None) -> Status:
    """The document's word for a job. One that was reclaimed from a dead worker is pending: no attempt of it failed."""
    failed_before = attempts > 0 and error_code not in RECLAIMED
    return "retryable" if state is State.QUEUED and failed_before else JOB_STATUS[state]


def retry_count(state: State, attempts: int) -> int:
    """How often the job was tried again; one that waits has all of its attempts behind it."""
    return attempts if state is State.QUEUED else max(attempts - 1, 0)


@dataclass(frozen=True, slots=True)
class DocumentPoint:
    """What the document makes a key of."""

    external_id: str | None
    url: str
    title: str
    price_cents: int
    date: str
    price_type: str


def document_key(point: DocumentPoint) -> str:
    """The document's own key, for rows that were written under it; ours is `haulwright.apps.prices.keys.dedupe_key`.

    Where the document leaves open how parts are joined, a vertical bar joins them.
    """
    if point.external_id is not None:
        return f"ext_{point.external_id}"
    url = urlunsplit(urlsplit(point.url)._replace(query="", fragment=""))
    parts = (url, normalized_title(point.title), str(point.price_cents), point.date, point.price_type)
    return f"hash_{hashlib.sha256('|'.join(parts).encode()).hexdigest()[:16]}"


class ScrapeWorker:
    """The document's worker by hand: one who claims, keeps alive and marks."""

    def __init__(self, prices: Prices, worker_id: str | None = None) -> None:
        self._store = prices.app.store
        self._jobs = prices.jobs
        self._task = prices.collect_task.name
        self._retry = prices.collect_task.options.retry
        self._lengths = {self._task: round(PriceSettings.load().lease_seconds * SECOND)}
        name = worker_id or Settings.load()["worker_name"]
        self._identity = this_process(None if name is None else str(name))
        self._store.workers.register(self._identity, [QUEUE], [self._task])
        self._held: dict[str, Lease] = {}
        """What this worker claimed, here or in SQL, and has not marked."""

    @property
    def worker_id(self) -> str:
        """The name that it goes by; nothing is decided by it."""
        return self._identity.name

    def claim_next_pending_job(self) -> dict[str, Any] | None:
        """Claim the next collection that is due, of any tenant, for this worker alone; None where there is none.

        What comes back is the row of `scrape_jobs`: whom to ask (`source_id`) about what (`intake_id`, `query_params`).
        It is held for JOB_LOCK_TIMEOUT_SECONDS of this process after each heartbeat.
        """
        for _ in range(MOST_STRANGERS):
            leases = self._store.leases.claim(self._identity.id, [QUEUE], 1, lengths=self._lengths)
            if not leases:
                break
            (lease,) = leases
            if lease.task == self._task:
                self._held[lease.id] = lease
                return self._jobs.get(lease.tenant, lease.id)
            self._store.settlements.settle([Settlement(lease, _NOT_OURS)], self._identity.id)
        return None

    def adopt_claim(self, job: Mapping[str, Any]) -> bool:
        """Go on with a job that the SQL function `claim_next_pending_job` claimed; False where it was taken back.

        Its row says under which right: `id`, `fence` and `holder`. Another claim of the same job is not touched.
        """
        lease = self._store.leases.find(LeaseKey(str(job["id"]), int(job["fence"]), str(job["holder"])))
        if lease is None:
            return False
        self._held[lease.id] = lease
        return True

    def heartbeat(self, job_id: str) -> bool:
        """Say that a job is still worked on; False where it was taken back."""
        lease = self._held.get(job_id)
        return lease is not None and job_id not in self._store.leases.renew([lease]).lost

    def mark_succeeded(self, job_id: str) -> bool:
        """The job is done."""
        return self._mark(job_id, Done())

    def mark_retryable(self, job_id: str, error_message: str) -> bool:
        """A passing error: it is tried again after the base delay, doubling, and has failed after the last try."""
        return self._mark(job_id, RetryLater(_failure(error_message)))

    def mark_failed(self, job_id: str, error_message: str) -> bool:
        """An error for good."""
        return self._mark(job_id, Bury("permanent", _failure(error_message)))

    def reclaim_stuck_jobs(self) -> int:
        """Take back what dead workers hold, as every worker does by itself each minute; how many jobs that were."""
        return len(self._store.recovery.reap(SWEEP_JOBS))

    def _mark(self, job_id: str, outcome: Outcome) -> bool:
        lease = self._held.pop(job_id, None)
        if lease is None:
            return False
        step = resolve(outcome, lease, self._retry, random.random)
        return job_id in self._store.settlements.settle([Settlement(lease, step)], lease.worker_id)


def _failure(error_message: str) -> Failure:
    return Failure("ScrapeError", "scrape_error", clip(redact(error_message), ERROR_BYTES))
