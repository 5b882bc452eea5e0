"""The task `brands.refresh`: one source, in steps that hold no worker while others work.

Decide whether to buy, reuse or skip; bring the items in; normalize them; record what became of it. A source that fails
is recorded as failed before its job is dead, so that its compile goes on without it.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from penstock.apps.brands.buying import Buying
from penstock.apps.brands.capabilities import Capability
from penstock.apps.brands.evidence import SourceOutcome
from penstock.apps.brands.freshness import Freshness, freshness
from penstock.apps.brands.normalizing import Counts, TooManyBadItems, normalize
from penstock.apps.brands.outcomes import RUN_ENDED, hold, record, tell_of_run
from penstock.apps.brands.rows import CompileRun, CompileSource, Connection, PaidRun
from penstock.apps.brands.visit import Visit
from penstock.client.context import Context
from penstock.client.transaction import Tx
from penstock.engine.outcome import Bury, RetryLater, Skip, Snooze, outcome_of
from penstock.engine.payload import clip
from penstock.errors import Conflict, NotFound, Permanent
from penstock.runtime.failure import failure_of

if TYPE_CHECKING:
    from penstock.apps.brands.application import Brands
    from penstock.engine.job import Lease

GATE: Final = "brands:connection:"
"""What a refresh waits on while another one buys the same source."""
SWITCHED_OFF: Final = "Capability disabled (feature flag)"
ERROR_BYTES: Final = 2_000
WAITERS: Final = 100


class Refreshing:
    """Brings in what one source says."""

    def __init__(self, brands: Brands) -> None:
        self._brands = brands
        self._tables = brands.tables
        self._buying = Buying(brands)

    async def refresh(
        self, ctx: Context, connection_id: str, compile_run_id: str | None = None
    ) -> dict[str, Any] | Snooze | Skip:
        """Decide about a source, act, and record what became of it. The result is the outcome."""
        visit = await asyncio.to_thread(self._visit, ctx.job, connection_id, compile_run_id)
        if visit is None:
            return Skip("its brand was removed")
        try:
            told = await self._come_out(ctx, visit)
        except Exception as error:
            if _is_final(ctx, error):
                await ctx.acommit(f"fail:{ctx.job.id}", self._fail, visit, error, ctx.job.id)
                await asyncio.to_thread(self._wake, ctx, visit)
            raise
        if isinstance(told, Snooze):
            return told
        done = await ctx.acommit(f"settle:{ctx.job.id}", self._settle, visit, told, ctx.job.id, settle=True)
        await asyncio.to_thread(self._wake, ctx, visit)
        return done

    def visit(
        self,
        tenant: str,
        connection_id: str,
        compiled: CompileRun | None,
        *,
        forced: bool = False,
        job_id: str | None = None,
    ) -> Visit | None:
        """How a connection stands now, for a job or for whoever asks; None where there is none."""
        found = self._tables.read("connections.get", tenant=tenant, id=connection_id)
        if not found:
            return None
        named = {"tenant": tenant, "connection_id": connection_id}
        unfinished = self._tables.read("runs.unfinished", **named)
        newest = self._tables.read("runs.newest", **named, job_id=job_id)
        brought = self._tables.read("runs.brought", **named, job_id=job_id)
        ((now,),) = self._tables.read("brands.now")
        return Visit(
            Connection.of(found[0]),
            compiled,
            PaidRun.of(unfinished[0]) if unfinished else None,
            bool(unfinished and unfinished[0][-1]),
            PaidRun.of(newest[0]) if newest else None,
            PaidRun.of(brought[0]) if brought else None,
            now,
            forced,
        )

    def decide(self, visit: Visit) -> Freshness:
        """Whether a source is to be bought, and why."""
        return freshness(visit.newest, visit.now, self._brands.figures.fresh_seconds, visit.forced_at)

    def _visit(self, job: Lease, connection_id: str, compile_run_id: str | None) -> Visit | None:
        compiled = self._brands.find_compile(job.tenant, compile_run_id) if compile_run_id else None
        if compile_run_id and compiled is None:
            return None
        return self.visit(job.tenant, connection_id, compiled, job_id=job.id)

    async def _come_out(self, ctx: Context, visit: Visit) -> SourceOutcome | Snooze:
        """What becomes of the source, or when to look again."""
        connection = visit.connection
        capability = self._brands.registry.find(connection.platform, connection.capability)
        if capability is None:
            raise Permanent(f"No actor spec for {connection.source}")
        if not capability.enabled:
            if visit.run is not None and visit.run.job_id == ctx.job.id:
                await ctx.acommit(f"let go:{visit.run.id}:{ctx.job.id}", self._buying.let_go, visit.run, SWITCHED_OFF)
            return SourceOutcome(connection.source, connection.id, "skipped", SWITCHED_OFF)
        if visit.run is not None and visit.run_is_kept and visit.run.job_id != ctx.job.id:
            return Snooze(self._brands.figures.poll_interval_seconds, GATE + connection.id)
        decided = self.decide(visit)
        if visit.brought is not None:
            return visit.brought.came_out(connection.source, "refreshed", decided.reason)
        if visit.run is None and not decided.should_refresh and decided.cached_run is not None:
            return await self._reuse(ctx, connection, capability, decided, decided.cached_run)
        run = await self._buying.own(ctx, visit, capability)
        brought = await self._buying.bring(ctx, run)
        if isinstance(brought, Snooze):
            return brought
        usable = await self._normalized(ctx, brought, capability)
        return usable.came_out(connection.source, "refreshed", decided.reason)

    async def _reuse(
        self, ctx: Context, connection: Connection, capability: Capability, decided: Freshness, cached: PaidRun
    ) -> SourceOutcome:
        """Use what is there, after making sure that it is normalized."""
        run = replace(cached, normalized_created=0, normalized_updated=0)
        if cached.normalized_at is None:
            run = await self._normalized(ctx, cached, capability)
        told = run.came_out(connection.source, "reused", decided.reason)
        return replace(told, run_age_hours=round(decided.run_age_hours or 0.0, 2))

    async def _normalized(self, ctx: Context, run: PaidRun, capability: Capability) -> PaidRun:
        counts = await ctx.acommit(f"normalize:{run.id}:{ctx.job.id}", self._normalize, run, capability)
        if counts.error is not None:
            raise TooManyBadItems(counts.error)
        return replace(run, normalized_created=counts.created, normalized_updated=counts.updated)

    def _normalize(self, tx: Tx, run: PaidRun, capability: Capability) -> Counts:
        writing = self._tables.on(tx)
        hold(writing, run.tenant, run.brand_id)
        return normalize(writing, run, capability, run.cap, self._brands.figures.bad_items_ratio)

    def _settle(self, tx: Tx, visit: Visit, told: SourceOutcome, job_id: str) -> dict[str, Any]:
        writing, connection = self._tables.on(tx), visit.connection
        hold(writing, connection.tenant, connection.brand_id)
        if visit.compiled is not None:
            record(writing, connection.tenant, visit.compiled.id, told, job_id)
        return {
            "source": told.source,
            "outcome": told.outcome,
            "reason": told.reason,
            "apify_run_id": told.apify_run_id,
        }

    def _fail(self, tx: Tx, visit: Visit, error: Exception, job_id: str) -> None:
        """Write what went wrong beside the run that it happened to, and beside the compile that waits for it."""
        writing, connection = self._tables.on(tx), visit.connection
        hold(writing, connection.tenant, connection.brand_id)
        failure = failure_of(error)
        error_text, error_class = clip(failure.message, ERROR_BYTES), failure.error_class
        rows = writing.run("runs.of_connection", tenant=connection.tenant, connection_id=connection.id, limit=1)
        run = PaidRun.of(rows[0]) if rows and PaidRun.of(rows[0]).job_id == job_id else None
        status = None if run is None else getattr(error, "run_status", run.status)
        if run is not None:
            named = {"tenant": run.tenant, "id": run.id}
            told = {"status": status, "error": error_text, "error_class": error_class}
            if writing.run("runs.failed", **named, **told, quarantined=run.quarantined):
                tell_of_run(writing, RUN_ENDED, run, **told)
        if visit.compiled is not None:
            came_out = SourceOutcome(
                connection.source, connection.id, "failed", self.decide(visit).reason, apify_run_status=status,
                apify_run_id=run.apify_run_id if run else None, dataset_id=run.dataset_id if run else None,
                error=error_text, error_class=error_class,
            )  # fmt: skip
            record(writing, connection.tenant, visit.compiled.id, came_out, job_id)

    def _wake(self, ctx: Context, visit: Visit) -> None:
        """Tell those who wait: others at the same source, and the compile, where this was the last of its sources."""
        ctx.store.leases.wake(GATE + visit.connection.id, WAITERS)
        compiled = visit.compiled
        if compiled is None or compiled.job_id is None:
            return
        rows = self._tables.read("sources.of_compile", tenant=compiled.tenant, compile_run_id=compiled.id)
        if all(CompileSource.of(row).outcome for row in rows):
            with suppress(Conflict, NotFound):  # it runs already, or is over
                ctx.store.jobs.retry(
                    compiled.job_id, tenant=compiled.tenant, reason="its sources are in", actor="brands"
                )


def _is_final(ctx: Context, error: Exception) -> bool:
    """Whether no further run of this job will come after the error."""
    ends = outcome_of(error, failure_of(error))
    return isinstance(ends, Bury) or (isinstance(ends, RetryLater) and ctx.job.attempts >= ctx.job.max_attempts)
