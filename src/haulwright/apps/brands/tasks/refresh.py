"""The task `brands.refresh`: one source, in steps that hold no worker while others work.

Decide whether to buy, reuse or skip; bring the items in; normalize them; record what became of it. A source that fails
is recorded as failed before its job is dead, so that its compile goes on without it.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from haulwright import Bury, Context, Permanent, Skip, Snooze, Tx
from haulwright.apps.brands.buying.connection_state import ConnectionState, read_state
from haulwright.apps.brands.buying.freshness import Freshness
from haulwright.apps.brands.buying.polling import TIMED_OUT, PollLimits, RunFailed
from haulwright.apps.brands.evidence.normalization import NormalizationCounts, TooManyBadItems, normalize
from haulwright.apps.brands.evidence.status import SourceOutcome
from haulwright.apps.brands.platforms.capabilities import SWITCHED_OFF, Capability
from haulwright.apps.brands.records import RUN_ENDED, lock_brand, record_outcome, record_run_event
from haulwright.apps.brands.rows import BrandConnection, PaidRun
from haulwright.apps.brands.run_log import log_failure, log_normalization
from haulwright.engine.outcome import REASON_PERMANENT, RetryLater, outcome_of
from haulwright.engine.payload import clip
from haulwright.errors import NotFound
from haulwright.runtime.failure import failure_of
from haulwright.sources.apify import ApifyTimeoutError

if TYPE_CHECKING:
    from haulwright.application import Tables, Writing
    from haulwright.apps.brands.buying.purchase import RunPurchase
    from haulwright.apps.brands.platforms.registry import Registry
    from haulwright.apps.brands.repository import BrandRepository
    from haulwright.apps.brands.settings import BrandSettings
    from haulwright.engine.job import Lease

GATE: Final = "brands:connection:"
"""What a refresh waits on while another one buys the same source."""
ERROR_BYTES: Final = 2_000
WAITERS: Final = 100


class RefreshTask:
    """Brings in what one source says."""

    def __init__(
        self,
        tables: Tables,
        repository: BrandRepository,
        registry: Registry,
        settings: BrandSettings,
        purchase: RunPurchase,
    ) -> None:
        self._tables = tables
        self._repository = repository
        self._registry = registry
        self._settings = settings
        self._purchase = purchase

    async def refresh(
        self,
        ctx: Context,
        connection_id: str,
        compile_run_id: str | None = None,
        poll_timeout_seconds: float | None = None,
        poll_interval_seconds: float | None = None,
    ) -> dict[str, Any] | Snooze | Skip | Bury:
        """Decide about a source, act, and record what became of it. The result is the outcome."""
        limits = PollLimits(
            poll_timeout_seconds or self._settings.poll_timeout_seconds,
            poll_interval_seconds or self._settings.poll_interval_seconds,
        )
        state = await asyncio.to_thread(self._state, ctx.job, connection_id, compile_run_id)
        if state is None:
            return Skip("its brand was removed")
        try:
            outcome = await self._resolve(ctx, state, limits)
        except Exception as error:
            if not _is_final(ctx, error):
                raise
            await ctx.acommit(f"fail:{ctx.job.id}", self._fail, state, error, ctx.job.id, key=ctx.job.id)
            log_failure(connection_id, error)
            await asyncio.to_thread(self._wake_others, ctx, state)
            if isinstance(error, ApifyTimeoutError):  # trying again would find the run aborted
                return Bury(REASON_PERMANENT, failure_of(error))
            raise
        if isinstance(outcome, Snooze):
            return outcome
        result = await ctx.acommit(f"settle:{ctx.job.id}", self._settle, state, outcome, ctx.job.id, settle=True)
        await asyncio.to_thread(self._wake_others, ctx, state)
        return result

    def _state(self, job: Lease, connection_id: str, compile_run_id: str | None) -> ConnectionState | None:
        """How the source stands; None where it, or the compile that wants it, was removed."""
        try:
            connection = self._repository.connection(job.tenant, connection_id)
        except NotFound:
            return None
        run = self._repository.compile_run(job.tenant, compile_run_id) if compile_run_id else None
        if compile_run_id and run is None:
            return None
        return read_state(self._tables, connection, run, job_id=job.id)

    async def _resolve(self, ctx: Context, state: ConnectionState, limits: PollLimits) -> SourceOutcome | Snooze:
        """What becomes of the source, or when to look again."""
        connection, run = state.connection, state.unfinished
        capability = self._registry.find(connection.platform, connection.capability)
        if capability is None:
            raise Permanent(f"No actor spec for {connection.source}")
        if not capability.enabled:
            if run is not None and run.job_id == ctx.job.id:
                name = f"let go:{run.id}:{ctx.job.id}"
                await ctx.acommit(name, self._purchase.abandon, run, SWITCHED_OFF, key=run.id)
            return SourceOutcome(connection.source, connection.id, "skipped", SWITCHED_OFF)
        if run is not None and state.is_owned and run.job_id != ctx.job.id:
            return Snooze(self._settings.poll_interval_seconds, GATE + connection.id)
        decision = state.freshness(self._settings.fresh_seconds)
        if state.finished is not None:
            return state.finished.as_outcome(connection.source, "refreshed", decision.reason)
        if run is None and not decision.should_refresh and decision.cached_run is not None:
            return await self._reuse(ctx, connection, capability, decision, decision.cached_run)
        run = await self._purchase.run_of(ctx, state, capability)
        fetched = await self._purchase.advance(ctx, run, limits)
        if isinstance(fetched, Snooze):
            return fetched
        normalized = await self._normalize(ctx, fetched, capability)
        return normalized.as_outcome(connection.source, "refreshed", decision.reason)

    async def _reuse(
        self, ctx: Context, connection: BrandConnection, capability: Capability, decision: Freshness, cached: PaidRun
    ) -> SourceOutcome:
        """Use what is there, after making sure that it is normalized."""
        run = replace(cached, normalized_created=0, normalized_updated=0)
        if cached.normalized_at is None:
            run = await self._normalize(ctx, cached, capability)
        outcome = run.as_outcome(connection.source, "reused", decision.reason)
        return replace(outcome, run_age_hours=round(decision.run_age_hours or 0.0, 2))

    async def _normalize(self, ctx: Context, run: PaidRun, capability: Capability) -> PaidRun:
        name = f"normalize:{run.id}:{ctx.job.id}"
        counts = await ctx.acommit(name, self._normalize_in, run, capability, key=run.id)
        log_normalization(run, counts)
        if counts.error is not None:
            raise TooManyBadItems(counts.error)
        return replace(run, normalized_created=counts.created, normalized_updated=counts.updated)

    def _normalize_in(self, tx: Tx, run: PaidRun, capability: Capability) -> NormalizationCounts:
        writing = self._tables.on(tx)
        lock_brand(writing, run.tenant, run.brand_id, run.connection_id)
        return normalize(writing, run, capability, run.cap, self._settings.bad_items_ratio)

    def _settle(self, tx: Tx, state: ConnectionState, outcome: SourceOutcome, job_id: str) -> dict[str, Any]:
        writing, connection = self._tables.on(tx), state.connection
        lock_brand(writing, connection.tenant, connection.brand_id, connection.id)
        if state.compile_run is not None:
            record_outcome(writing, connection.tenant, state.compile_run.id, outcome, job_id)
        return {
            "source": outcome.source,
            "outcome": outcome.outcome,
            "reason": outcome.reason,
            "apify_run_id": outcome.apify_run_id,
        }

    def _fail(self, tx: Tx, state: ConnectionState, error: Exception, job_id: str) -> None:
        """Write what went wrong beside the run that it happened to, and beside the compile that waits for it."""
        writing, connection = self._tables.on(tx), state.connection
        lock_brand(writing, connection.tenant, connection.brand_id, connection.id)
        rows = writing.run("runs.of_connection", tenant=connection.tenant, connection_id=connection.id, limit=1)
        run = PaidRun.of(rows[0]) if rows and PaidRun.of(rows[0]).job_id == job_id else None
        failure = failure_of(error)
        fields = {
            "status": None if run is None else _end_status(run, error),
            "error": clip(failure.message, ERROR_BYTES),
            "error_class": failure.error_class,
        }
        if run is not None:
            _fail_run(writing, run, fields)
            if run.is_under_way and not isinstance(error, RunFailed) and not getattr(error, "aborted", False):
                self._purchase.stop(writing, run)
        if state.compile_run is not None:
            outcome = self._failed_outcome(state, run, fields)
            record_outcome(writing, connection.tenant, state.compile_run.id, outcome, job_id)

    def _failed_outcome(self, state: ConnectionState, run: PaidRun | None, fields: dict[str, Any]) -> SourceOutcome:
        source, reason = state.connection.source, state.freshness(self._settings.fresh_seconds).reason
        outcome = (
            SourceOutcome(source, state.connection.id, "failed", reason)
            if run is None
            else run.as_outcome(source, "failed", reason)
        )
        failure = {"error": fields["error"], "error_class": fields["error_class"]}
        return replace(outcome, apify_run_status=fields["status"], **failure)

    def _wake_others(self, ctx: Context, state: ConnectionState) -> None:
        """Tell those who wait for the same source; the compile joins this job, and wakes by itself."""
        ctx.store.waiters.wake(GATE + state.connection.id, WAITERS)


def _fail_run(writing: Writing, run: PaidRun, fields: dict[str, Any]) -> None:
    """Record that a run failed, unless it is over."""
    if writing.run("runs.failed", tenant=run.tenant, id=run.id, **fields, quarantined=run.quarantined):
        record_run_event(writing, RUN_ENDED, run, **fields)


def _end_status(run: PaidRun, error: Exception) -> str:
    """How a run is recorded that an error ends; Apify's own word stays where it is over there."""
    if isinstance(error, ApifyTimeoutError):
        return TIMED_OUT
    if isinstance(error, RunFailed):
        return error.run_status
    return "FAILED" if run.is_under_way else run.status


def _is_final(ctx: Context, error: Exception) -> bool:
    """Whether no further run of this job will come after the error."""
    if isinstance(error, ApifyTimeoutError):
        return True
    outcome = outcome_of(error, failure_of(error))
    return isinstance(outcome, Bury) or (isinstance(outcome, RetryLater) and ctx.job.attempts >= ctx.job.max_attempts)
