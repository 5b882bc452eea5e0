"""The words of the document that brands come from: its states, its results and its functions, on the fenced engine.

    words = BrandBrain(brands, Principal.of_tenant(tenant))
    words.enqueue_compile_job(brand_id, compile_run_id)
    claimed = words.claim_next_job()

A caller that lost its lease hears False and changes nothing, whatever it was about to write.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import Final

from haulwright import Done, Job, JobFailed, Principal, State
from haulwright.apps.brands.application import Brands
from haulwright.apps.brands.buying.freshness import Freshness
from haulwright.apps.brands.compile_status import STATUSES, retry_count, status_of
from haulwright.apps.brands.evidence.bundle import Bundle, BundleCaps, bundle
from haulwright.apps.brands.evidence.normalization import NormalizationCounts, normalize
from haulwright.apps.brands.jobs import QUEUE
from haulwright.apps.brands.rows import PaidRun, parse_id
from haulwright.engine.job import Lease
from haulwright.engine.outcome import Failure, Outcome, RetryLater
from haulwright.engine.payload import clip
from haulwright.engine.settlement import RELEASE, Settlement, resolve
from haulwright.engine.transitions import FINAL
from haulwright.errors import InvalidValue, NotFound, ResultTimeout
from haulwright.operations.access import require
from haulwright.redaction import redact
from haulwright.runtime.identity import this_process
from haulwright.sources.apify import ApifyError, ApifyTimeoutError
from haulwright.stores.claim_cursor import ClaimCursor

__all__ = [
    "NO_JOB",
    "STATUSES",
    "TAKEN",
    "ApifyError",
    "ApifyTimeoutError",
    "BrandBrain",
    "ClaimResult",
    "EnqueueResult",
    "IngestionResult",
    "retry_count",
    "status_of",
]

NO_JOB: Final = "No available jobs"
TAKEN: Final = "Job claimed by another worker"
DEFAULT_STALE_LOCK_MINUTES: Final = 10
CLAIM_BATCH: Final = 20
"""How many jobs are looked at for one of the kind that is wanted; the others are given back at once."""
MOST_CLAIMS: Final = 10
"""How often more is claimed while nothing of the tenant is among it: tenants take turns."""
SWEEP_JOBS: Final = 100
NAP_SECONDS: Final = 0.05
ERROR_BYTES: Final = 2_000


@dataclass(frozen=True, slots=True)
class EnqueueResult:
    """What an enqueue made."""

    job_id: str
    compile_run_id: str


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """What a claim got, or why it got nothing."""

    job: Lease | None
    claimed: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class IngestionResult:
    """What bringing a source in came to."""

    source_connection_id: str
    success: bool
    error: str | None = None
    apify_run_id: str | None = None
    """Of our own table: it names the row that has everything else."""
    apify_run_status: str | None = None
    raw_items_count: int = 0
    normalized_items_created: int = 0
    normalized_items_updated: int = 0


class BrandBrain:
    """The document's functions for one tenant, under their names."""

    def __init__(self, brands: Brands, principal: Principal) -> None:
        self._brands = brands
        self._principal = principal
        self._tenant = principal.acting_tenant
        self._store = brands.app.store
        self._workers: dict[str | None, str] = {}
        """By the name that a caller gives itself, who it is to the database."""
        self.cap_for = brands.registry.cap_for
        self.is_capability_enabled = brands.registry.is_capability_enabled
        self._turn = ClaimCursor()
        self._held: dict[str, Lease] = {}
        """What this caller claimed, and has not settled."""

    def enqueue_compile_job(
        self,
        brand_id: str,
        compile_run_id: str,
        *,
        force_refresh: bool = False,
        prompt_version: str = "v1",
        model: str | None = None,
    ) -> EnqueueResult:
        """Ask for a compile under an id of the caller's; the same id stands for the same compile."""
        run_id = parse_id("compile", compile_run_id)
        run = self._brands.compile(
            self._principal, brand_id, force_refresh=force_refresh, prompt_version=prompt_version, model=model,
            request_id=f"run:{run_id}", run_id=run_id,
        )  # fmt: skip
        return EnqueueResult(run.job_id or "", run.id)

    def claim_next_job(self, worker_id: str | None = None, job_type: str = "compile") -> ClaimResult:
        """Claim the tenant's next compile that is due, for a worker who runs it by hand."""
        task = f"brands.{job_type}"
        if task not in self._brands.app.tasks:
            raise InvalidValue("job_type", job_type, "is no kind of job here", hint="It is compile.")
        if not any(tenant == self._tenant for tenant, _ in self._store.leases.due_pairs(QUEUE)):
            return ClaimResult(None, claimed=False, reason=NO_JOB)
        worker, leases = self._worker(worker_id), list[Lease]()
        for _ in range(MOST_CLAIMS):
            leases = self._store.leases.claim(worker, [QUEUE], CLAIM_BATCH, self._turn)
            own = [lease for lease in leases if lease.tenant == self._tenant]
            mine = next((lease for lease in own if lease.task == task), None)
            self._give_back([lease for lease in leases if lease is not mine], worker)
            if mine is not None:
                self._held[mine.id] = mine
                return ClaimResult(mine, claimed=True)
            if own or not leases:
                break
        return ClaimResult(None, claimed=False, reason=NO_JOB if leases else TAKEN)

    def complete_job(self, job_id: str) -> bool:
        """Mark a job that this caller holds as succeeded; False where it does not hold it any more."""
        return self._settle(job_id, Done())

    def fail_job(self, job_id: str, error: str) -> bool:
        """Fail a job that this caller holds: it waits 60 s, then 120 s, and the third failure is final."""
        message = clip(redact(error), ERROR_BYTES)
        return self._settle(job_id, RetryLater(Failure("CompileError", "compile_error", message)))

    def release_stale_jobs(self, stale_threshold_minutes: int = DEFAULT_STALE_LOCK_MINUTES) -> int:
        """Take back what dead workers hold, and return how many jobs that were.

        When a lock is stale is said by its lease, which a living worker renews: another figure is refused.
        """
        if stale_threshold_minutes != DEFAULT_STALE_LOCK_MINUTES:
            hint = "Every job has the lease of its task; see docs/how-to/choose-a-lease.md."
            raise InvalidValue("stale_threshold_minutes", stale_threshold_minutes, "is not the lease", hint=hint)
        return len(self._store.recovery.reap(SWEEP_JOBS))

    def execute_compile_job(self, compile_run_id: str, force_refresh: bool = False, timeout_s: float = 600) -> None:  # noqa: FBT001, FBT002 - the document's own signature
        """Work here and now until a compile is over; JobFailed where it did not succeed."""
        run = self._brands.compile_run(self._principal, compile_run_id)
        if run.force_refresh != force_refresh:
            raise InvalidValue("force_refresh", force_refresh, "is not what the compile was asked for with")
        job = self._work_until_over(run.job_id or "", timeout_s)
        if job.state is not State.SUCCEEDED:
            raise JobFailed(job.id, job.state, job.reason, {"message": job.error_message})

    def ingest_source(self, source_connection_id: str, *, timeout_s: float = 600) -> IngestionResult:
        """Bring one source in here and now, without a compile; it costs nothing where it is switched off."""
        connection = self._brands.connection(self._principal, source_connection_id)
        if not self.is_capability_enabled(connection.platform, connection.capability):
            return IngestionResult(connection.id, success=False, error=f"Capability {connection.source} is disabled")
        require(self._store, self._principal, "brands.compile")
        call = self._brands.jobs.refresh(self._tenant, connection.id)
        (enqueued,) = self._brands.tables.transact(lambda writing: writing.enqueue(call))
        job = self._work_until_over(enqueued.id, timeout_s)
        return _ingestion(connection.id, job, self._brands.repository.newest_paid_run(connection))

    def check_source_freshness(self, source_id: str, force_refresh: bool = False) -> Freshness:  # noqa: FBT001, FBT002 - the document's own signature
        """Whether a source would be bought now, and why."""
        return self._brands.freshness(self._principal, source_id, force_refresh=force_refresh)

    def reuse_cached_run(self, source_connection_id: str, cached_run_id: str) -> IngestionResult:
        """Make sure that a run of a source is normalized, without buying anything."""
        require(self._store, self._principal, "brands.read")
        run = self._brands.repository.paid_run(self._tenant, cached_run_id)
        if run.connection_id != parse_id("connection", source_connection_id):
            raise NotFound("run", cached_run_id)
        counts = (
            NormalizationCounts(0, 0, run.quarantined, run.error)
            if run.normalized_at
            else self.normalize_apify_run(run.id, run.cap)
        )
        return IngestionResult(
            run.connection_id, counts.error is None, counts.error, run.id, run.status, run.raw_item_count,
            counts.created, counts.updated,
        )  # fmt: skip

    def normalize_apify_run(self, run_id: str, fetch_limit: int) -> NormalizationCounts:
        """Normalize the raw items of a run, at most so many. Doing it again does no harm."""
        require(self._store, self._principal, "brands.compile")
        run = self._brands.repository.paid_run(self._tenant, run_id)
        most_bad = self._brands.figures.bad_items_ratio
        connection = self._brands.connection(self._principal, run.connection_id)
        capability = self._brands.registry.get(connection.platform, connection.capability)
        return self._brands.tables.transact(lambda writing: normalize(writing, run, capability, fetch_limit, most_bad))

    def create_evidence_bundle(self, brand_id: str, caps: BundleCaps | None = None) -> Bundle:
        """Choose from all evidence of a brand, within the caps."""
        sources = [each.id for each in self._brands.connections(self._principal, brand_id) if each.enabled]
        return bundle(self._brands.evidence(self._principal, brand_id, sources), caps)

    def _give_back(self, leases: list[Lease], worker: str) -> None:
        """Let go at once what was not meant: of another kind, or another tenant's."""
        if leases:
            self._store.settlements.settle([Settlement(lease, RELEASE) for lease in leases], worker)

    def _settle(self, job_id: str, outcome: Outcome) -> bool:
        lease = self._held.pop(job_id, None)
        if lease is None:
            return False
        step = resolve(outcome, lease, self._brands.retry, random.random)
        return job_id in self._store.settlements.settle([Settlement(lease, step)], lease.worker_id)

    def _worker(self, name: str | None) -> str:
        """The id of a caller, made known to the database when it first claims."""
        if name not in self._workers:
            identity = this_process(name)
            self._store.workers.register(identity, [QUEUE], sorted(self._brands.app.tasks))
            self._workers[name] = identity.id
        return self._workers[name]

    def _work_until_over(self, job_id: str, timeout_s: float) -> Job:
        """Be a worker until a job is over."""
        until = time.monotonic() + timeout_s
        while (job := self._store.listing.get(job_id, self._tenant)).state not in FINAL:
            if time.monotonic() > until:
                raise ResultTimeout(job_id, job.state, timeout_s)
            self._brands.app.run_worker(queues=[QUEUE], until_empty=True)
            time.sleep(NAP_SECONDS)
        return job


def _ingestion(connection_id: str, job: Job, run: PaidRun | None) -> IngestionResult:
    error = None if job.state is State.SUCCEEDED else job.error_message or job.reason
    if run is None:
        return IngestionResult(connection_id, error is None, error)
    return IngestionResult(
        connection_id, error is None, error, run.id, run.status, run.raw_item_count, run.normalized_created,
        run.normalized_updated,
    )  # fmt: skip
