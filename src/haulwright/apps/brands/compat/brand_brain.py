"""The document's functions for one tenant, under their names and with their signatures."""

from __future__ import annotations

import asyncio
import json
import random
import time
from typing import Any, Final
from uuid import UUID

from haulwright import Done, Job, JobFailed, Principal, State
from haulwright.apps.brands.application import Brands
from haulwright.apps.brands.buying.freshness import Freshness
from haulwright.apps.brands.compat.apify_client import ApifyClient
from haulwright.apps.brands.compat.hand_worker import HandWorker
from haulwright.apps.brands.compat.results import (
    BrandBrainJob,
    BrandBrainJobStatus,
    ClaimResult,
    EnqueueResult,
    IngestionResult,
)
from haulwright.apps.brands.evidence.bundle import Bundle, BundleCaps, bundle
from haulwright.apps.brands.evidence.normalization import NormalizationCounts, normalize
from haulwright.apps.brands.jobs import QUEUE
from haulwright.apps.brands.retry import DEFAULT_STALE_LOCK_MINUTES
from haulwright.apps.brands.rows import BrandConnection, CompileRun, PaidRun, parse_id
from haulwright.apps.brands.run_log import log_stale_lock, logger
from haulwright.apps.brands.settings import DEFAULT_POLL_INTERVAL_S, DEFAULT_POLL_TIMEOUT_S
from haulwright.engine.ids import new_id
from haulwright.engine.job import Lease
from haulwright.engine.outcome import Failure, Outcome, RetryLater
from haulwright.engine.payload import clip
from haulwright.engine.settlement import Settlement, resolve
from haulwright.engine.transitions import FINAL
from haulwright.errors import Conflict, InvalidValue, LeaseLost, NotFound, ResultTimeout
from haulwright.operations.access import require
from haulwright.redaction import redact

NO_JOB: Final = "No available jobs"
TAKEN: Final = "Job claimed by another worker"
NAP_SECONDS: Final = 0.05
ERROR_BYTES: Final = 2_000
SHOWN_ERROR_CHARS: Final = 200
GRACE_SECONDS: Final = 600
"""How much longer than its polls one source may take in all."""

Id = str | UUID


class BrandBrain:
    """The document's functions for one tenant, under their names."""

    def __init__(self, brands: Brands, principal: Principal) -> None:
        self._brands = brands
        self._principal = principal
        self._tenant = principal.acting_tenant
        self._store = brands.app.store
        self._hands = HandWorker(brands.app, self._tenant)
        self.cap_for = brands.registry.cap_for
        self.is_capability_enabled = brands.registry.is_capability_enabled
        self._held: dict[str, Lease] = {}
        """What this caller claimed, and has not settled."""
        self._results: dict[str, Done] = {}
        """What came of compiles that this caller has executed, and not yet said to be complete."""

    def enqueue_compile_job(  # noqa: PLR0913 - the document's own signature, and the caller's transaction
        self,
        brand_id: Id,
        compile_run_id: Id | None = None,
        *,
        force_refresh: bool = False,
        prompt_version: str = "v1",
        model: str | None = "gpt-4",
        connection: Any = None,
    ) -> EnqueueResult:
        """Ask for a compile under an id of the caller's, or a new one; the same id stands for the same compile.

        With a `connection` of the caller's driver, job and compile are part of the transaction that is open there.
        """
        run_id = new_id() if compile_run_id is None else parse_id("compile", compile_run_id)
        run = self._brands.compile(
            self._principal, str(brand_id), force_refresh=force_refresh, prompt_version=prompt_version, model=model,
            request_id=f"run:{run_id}", run_id=run_id, connection=connection,
        )  # fmt: skip
        logger.info("Enqueued compile job %s for brand %s (compile_run=%s)", run.job_id, brand_id, run.id)
        return EnqueueResult(run.job_id or "", run.id)

    def get_job(self, job_id: Id) -> BrandBrainJob:
        """The job of a compile, as it stands."""
        job = self._store.listing.get(str(job_id), self._tenant)
        return BrandBrainJob.of(job, self._compile_run_of(job.args))

    def claim_next_job(self, worker_id: str | None = None, job_type: str = "compile") -> ClaimResult:
        """Claim the tenant's next compile that is due, for a worker who runs it by hand."""
        task = f"brands.{job_type}"
        if job_type != "compile":
            raise InvalidValue("job_type", job_type, "is no kind of job here", hint="It is compile.")
        identity = self._hands.identity(worker_id)
        lease = self._store.leases.claim_of_task(identity.id, QUEUE, self._tenant, task)
        if lease is None:
            is_due = self._brands.tables.read("compiles.due", tenant=self._tenant, queue=QUEUE, task=task)
            return ClaimResult(None, claimed=False, reason=TAKEN if is_due else NO_JOB)
        self._held[lease.id] = lease
        job = self.get_job(lease.id)
        logger.info(
            "Claimed job %s for brand %s (attempt %d/%d, worker=%s)",
            job.id, job.brand_id, job.attempts, job.max_attempts, identity.name,
        )  # fmt: skip
        return ClaimResult(job, claimed=True)

    def complete_job(self, job_id: Id) -> bool:
        """Mark a job that this caller holds as succeeded; False where it does not hold it any more.

        A compile without its snapshot is not complete: that is refused, and the job stays held.
        """
        lease = self._held.get(str(job_id))
        if lease is None or lease.id in self._store.leases.renew([lease]).lost:
            self._held.pop(str(job_id), None)
            return False
        run = self._compile_run_of(lease.args)
        if run.finished_at is None or run.error is not None:
            message = f"The compile {run.id} is not complete: it has no snapshot."
            raise Conflict(message, hint="Call execute_compile_job(compile_run_id) first; or fail_job(job_id, error).")
        return self._settle(str(job_id), self._results.pop(str(job_id), Done()))

    def fail_job(self, job_id: Id, error: str) -> bool:
        """Fail a job that this caller holds: it waits 60 s, then 120 s, and the third failure is final."""
        message = clip(redact(error), ERROR_BYTES)
        lease = self._held.get(str(job_id))
        if not self._settle(str(job_id), RetryLater(Failure("CompileError", "compile_error", message))):
            logger.warning("Job %s not found for fail", job_id)
            return False
        job, shown = self.get_job(job_id), message[:SHOWN_ERROR_CHARS]
        attempts = lease.attempts if lease is not None else job.attempts
        if job.status == BrandBrainJobStatus.FAILED:
            logger.warning("Job %s permanently failed after %d attempts: %s", job_id, attempts, shown)
        else:
            logger.info(
                "Job %s scheduled for retry (attempt %d/%d, available at %s): %s",
                job_id, attempts, job.max_attempts, job.available_at.isoformat(), shown,
            )  # fmt: skip
        return True

    def release_stale_jobs(self, stale_threshold_minutes: int = DEFAULT_STALE_LOCK_MINUTES) -> int:
        """Take back what dead workers hold, and return how many jobs that were.

        When a lock is stale is said by its lease, which a living worker renews: another figure is refused. A process of
        this host that is provably gone is not waited for.
        """
        if stale_threshold_minutes != DEFAULT_STALE_LOCK_MINUTES:
            hint = "Every job has the lease of its task; see docs/how-to/choose-a-lease.md."
            raise InvalidValue("stale_threshold_minutes", stale_threshold_minutes, "is not the lease", hint=hint)
        taken_back = self._hands.take_back()
        for lost in taken_back:
            log_stale_lock(lost)
        return len(taken_back)

    def execute_compile_job(self, compile_run_id: Id, force_refresh: bool = False, timeout_s: float = 600) -> None:  # noqa: FBT001, FBT002 - the document's own signature
        """Carry a compile out here and now; an error where it does not succeed.

        Under the lease of a caller that has claimed its job, which then says itself that it is complete or has failed.
        Where nobody has, this is a worker until the job is over, for `timeout_s` at most.
        """
        run = self._with_force(self._brands.compile_run(self._principal, str(compile_run_id)), is_forced=force_refresh)
        lease = self._held.get(run.job_id or "")
        if lease is not None:
            self._execute_held(lease)
            return
        job = self._work_until_over(run.job_id or "", timeout_s)
        if job.state is not State.SUCCEEDED:
            raise JobFailed(job.id, job.state, job.reason, {"message": job.error_message})

    def ingest_source(
        self,
        source_connection: BrandConnection | Id,
        *,
        poll_timeout_s: float = DEFAULT_POLL_TIMEOUT_S,
        poll_interval_s: float = DEFAULT_POLL_INTERVAL_S,
        apify_client: ApifyClient | None = None,
    ) -> IngestionResult:
        """Bring one source in here and now, without a compile; it costs nothing where it is switched off."""
        connection = self._connection(source_connection)
        if self._brands.registry.find(connection.platform, connection.capability) is None:
            return IngestionResult(connection.id, success=False, error=f"No actor spec for {connection.source}")
        if not self.is_capability_enabled(connection.platform, connection.capability):
            return IngestionResult(connection.id, success=False, error=f"Capability {connection.source} is disabled")
        if apify_client is not None and not isinstance(apify_client, ApifyClient):
            raise InvalidValue("apify_client", apify_client, "is no ApifyClient of haulwright.apps.brands.compat")
        require(self._store, self._principal, "brands.compile")
        call = self._brands.jobs.refresh_by_hand(self._tenant, connection.id, poll_timeout_s, poll_interval_s)
        (enqueued,) = self._brands.tables.transact(lambda writing: writing.enqueue(call))
        seconds = poll_timeout_s + GRACE_SECONDS
        with self._brands.account.replaced_by(None if apify_client is None else apify_client.own_client):
            asyncio.run(self._hands.run_through(enqueued.id, time.monotonic() + seconds))
        job = self._store.listing.get(enqueued.id, self._tenant)
        if job.state not in FINAL:
            raise ResultTimeout(job.id, job.state, seconds)
        return _ingestion(connection.id, job, self._brands.repository.newest_paid_run(connection))

    def check_source_freshness(self, source_id: Id, force_refresh: bool = False) -> Freshness:  # noqa: FBT001, FBT002 - the document's own signature
        """Whether a source would be bought now, and why."""
        return self._brands.freshness(self._principal, str(source_id), force_refresh=force_refresh)

    def reuse_cached_run(self, source: BrandConnection | Id, cached_run: PaidRun | Id) -> IngestionResult:
        """Make sure that a run of a source is normalized, without buying anything. Both are objects, or their ids."""
        require(self._store, self._principal, "brands.read")
        run_id = cached_run.id if isinstance(cached_run, PaidRun) else str(cached_run)
        run = self._brands.repository.paid_run(self._tenant, run_id)
        if run.connection_id != self._connection(source).id:
            raise NotFound("run", run_id)
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
        """Choose from all evidence of a brand, within the caps: those of the settings where none are given."""
        sources = [each.id for each in self._brands.connections(self._principal, brand_id) if each.enabled]
        return bundle(
            self._brands.evidence(self._principal, brand_id, sources), caps or self._brands.figures.bundle_caps
        )

    def _connection(self, source: BrandConnection | Id) -> BrandConnection:
        """A source of this tenant, by itself or by its id."""
        return self._brands.connection(
            self._principal, source.id if isinstance(source, BrandConnection) else str(source)
        )

    def _compile_run_of(self, args: str) -> CompileRun:
        """The compile that a job is about, with what its own row says."""
        run_id = str(json.loads(args)["compile_run_id"])
        run = self._brands.repository.compile_run(self._tenant, run_id)
        if run is None:
            raise NotFound("compile", run_id)
        return run

    def _with_force(self, run: CompileRun, *, is_forced: bool) -> CompileRun:
        """The compile with the flag that its caller gives, which may differ from what was asked for until it begins."""
        if run.force_refresh == is_forced:
            return run
        key = {"tenant": run.tenant, "id": run.id}
        if not self._brands.tables.write("compiles.force", **key, force_refresh=is_forced):
            raise InvalidValue("force_refresh", is_forced, "is not what the compile began with")
        return self._brands.compile_run(self._principal, run.id)

    def _execute_held(self, lease: Lease) -> None:
        """Run a compile under the lease of the caller, up to its snapshot."""
        run = asyncio.run(self._hands.run_held(lease))
        if run.error is not None:
            if isinstance(run.error, LeaseLost):
                self._held.pop(lease.id, None)
            raise run.error
        if not isinstance(run.outcome, Done):
            raise JobFailed(lease.id, "running", str(getattr(run.outcome, "reason", run.outcome)), None)
        self._results[lease.id] = run.outcome

    def _settle(self, job_id: str, outcome: Outcome) -> bool:
        lease = self._held.pop(job_id, None)
        if lease is None:
            return False
        step = resolve(outcome, lease, self._brands.retry, random.random)
        return job_id in self._store.settlements.settle([Settlement(lease, step)], lease.worker_id)

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
