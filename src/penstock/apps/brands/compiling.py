"""The task `brands.compile`: have every source brought in, then make a snapshot of what they say.

The first run wants the sources, each as a job of its own, and waits; the last of them wakes it. What follows is
computed from rows, and the snapshot is written in the transaction that ends the job.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, Final

from penstock.apps.brands.bundle import Bundle, bundle
from penstock.apps.brands.compilers import compiler_for
from penstock.apps.brands.drafting import CompileOrder, Draft
from penstock.apps.brands.evidence import EvidenceItem, SourceOutcome, evidence_status
from penstock.apps.brands.features import FeatureReport, features
from penstock.apps.brands.outcomes import COMPILE_FAILED, COMPILED, hold, record
from penstock.apps.brands.refreshing import SWITCHED_OFF
from penstock.apps.brands.rows import Brand, CompileRun, CompileSource, Connection
from penstock.apps.brands.snapshot import Asked, snapshot
from penstock.apps.brands.states import GATE
from penstock.client.context import Context
from penstock.client.transaction import Tx
from penstock.engine.ids import new_id
from penstock.engine.outcome import Skip, Snooze
from penstock.engine.transitions import FINAL
from penstock.errors import Permanent
from penstock.events import Event

if TYPE_CHECKING:
    from penstock.apps.brands.application import Brands
    from penstock.apps.tables import Writing

MOST_CONNECTIONS: Final = 100
"""Of one brand."""
FIRST_WAIT_SECONDS: Final = 1.0
LONGEST_WAIT_SECONDS: Final = 60.0
"""Between two looks at the sources, should nobody tell."""


class NoEvidence(Permanent):
    """No source of the brand could be used, so that there is nothing to compile."""


class Compiling:
    """Makes the snapshot of a brand."""

    def __init__(self, brands: Brands) -> None:
        self._brands = brands
        self._tables = brands.tables

    async def compile(self, ctx: Context, compile_run_id: str) -> dict[str, Any] | Snooze | Skip:
        """Bring the sources in, and compile what they say. The result names the snapshot."""
        run = await asyncio.to_thread(self._brands.find_compile, ctx.job.tenant, compile_run_id)
        if run is None:
            return Skip("the compile was removed")
        await ctx.acommit(f"begin:{ctx.job.id}", self._begin, run)
        for job_id, told in await asyncio.to_thread(self._lost, ctx, run):
            await ctx.acommit(f"lost:{job_id}", self._record_lost, run, told, job_id)
        sources = await asyncio.to_thread(self._sources, run)
        if any(source.outcome is None for source in sources):
            wait = min(FIRST_WAIT_SECONDS * 2.0 ** min(ctx.job.deferrals, 10), LONGEST_WAIT_SECONDS)
            return Snooze(wait, GATE + run.id)
        return await self._finish(ctx, run, [source.outcome for source in sources if source.outcome is not None])

    def _begin(self, tx: Tx, run: CompileRun) -> int:
        """Want each source that is switched on; those that a former try brought in stay as they are."""
        writing = self._tables.on(tx)
        hold(writing, run.tenant, run.brand_id)
        writing.run("compiles.begin", tenant=run.tenant, id=run.id)
        settled = {source.connection_id for source in self._settled(writing, run)}
        rows = writing.run("connections.of_brand", tenant=run.tenant, brand_id=run.brand_id, limit=MOST_CONNECTIONS)
        wanted = [one for one in map(Connection.of, rows) if one.enabled and one.id not in settled]
        told = [self._wanted(writing, run, connection) for connection in wanted]
        writing.each("sources.want", told, tenant=run.tenant, compile_run_id=run.id, brand_id=run.brand_id)
        return len(wanted)

    def _settled(self, writing: Writing, run: CompileRun) -> list[CompileSource]:
        rows = writing.run("sources.of_compile", tenant=run.tenant, compile_run_id=run.id)
        found = [CompileSource.of(row) for row in rows]
        return [one for one in found if one.outcome is not None and one.outcome.outcome != "failed"]

    def _wanted(self, writing: Writing, run: CompileRun, connection: Connection) -> dict[str, Any]:
        """What a compile writes down of one source: its job, or that it is switched off."""
        known = self._brands.registry.find(connection.platform, connection.capability)
        if known is not None and not known.enabled:
            off = {"job_id": None, "outcome": "skipped", "reason": SWITCHED_OFF}
            return {"connection_id": connection.id, "source": connection.source, **off}
        task = self._brands.refresh.using(tenant=run.tenant, correlation_id=run.id)
        (made,) = writing.enqueue(task.call(connection.id, run.id))
        return {
            "connection_id": connection.id, "source": connection.source, "job_id": made.id, "outcome": None,
            "reason": None,
        }  # fmt: skip

    def _sources(self, run: CompileRun) -> list[CompileSource]:
        rows = self._tables.read("sources.of_compile", tenant=run.tenant, compile_run_id=run.id)
        return [CompileSource.of(row) for row in rows]

    def _lost(self, ctx: Context, run: CompileRun) -> list[tuple[str, SourceOutcome]]:
        """Sources whose job is over without a word: it was cancelled, waited too long, or died with its worker."""
        lost: list[tuple[str, SourceOutcome]] = []
        for one in self._sources(run):
            job = ctx.store.listing.find(one.job_id or "", ctx.job.tenant)
            if one.outcome is None and (job is None or job.state in FINAL):
                error = (
                    "its job is gone" if job is None else f"its job is {job.state}: {job.error_message or job.reason}"
                )
                kind = (job and job.error_class) or "JobLost"
                why = "Its job ended without a word"
                told = SourceOutcome(one.source, one.connection_id, "failed", why, error=error, error_class=kind)
                lost.append((one.job_id or "", told))
        return lost

    def _record_lost(self, tx: Tx, run: CompileRun, told: SourceOutcome, job_id: str) -> None:
        record(self._tables.on(tx), run.tenant, run.id, told, job_id or None)

    async def _finish(self, ctx: Context, run: CompileRun, outcomes: list[SourceOutcome]) -> dict[str, Any]:
        status = evidence_status(outcomes)
        usable = [one.connection_id for one in outcomes if one.outcome in {"reused", "refreshed"}]
        items = await asyncio.to_thread(self._brands.evidence, run.tenant, run.brand_id, usable)
        if not items:
            error = NoEvidence(f"No source could be used: {_summary(outcomes)}.", hint="See: penstock brand status")
            await ctx.acommit(f"fail:{ctx.job.id}", self._fail, run, status, error)
            raise error
        brand = await asyncio.to_thread(self._brands.get, run.tenant, run.brand_id)
        chosen, report = await asyncio.to_thread(_computed, items, run)
        draft = await self._draft(ctx, brand, run, chosen, report)
        asked = Asked(run.model, run.prompt_version, run.force_refresh)
        document = await asyncio.to_thread(snapshot, draft, chosen, report, status, asked)
        kept = {"compiler": draft.compiler, "bundle": chosen.document(), "features": report.document()}
        return await ctx.acommit(f"snapshot:{ctx.job.id}", self._save, run, status, kept, document, settle=True)

    async def _draft(self, ctx: Context, brand: Brand, run: CompileRun, chosen: Bundle, report: FeatureReport) -> Draft:
        """Have the draft made, once for the same evidence: it may be paid for."""
        order = CompileOrder(brand.name, brand.answers, chosen, report, run.prompt_version, run.model)
        async with self._brands.drafting() as through_model:
            compiler = compiler_for(run.model, through_model)
            return await ctx.aeffect("draft", compiler.acompile, order, key=f"draft:{chosen.digest}")

    def _save(
        self, tx: Tx, run: CompileRun, status: dict[str, Any], kept: dict[str, Any], document: dict[str, Any]
    ) -> dict[str, Any]:
        writing = self._tables.on(tx)
        hold(writing, run.tenant, run.brand_id)
        ((number,),) = writing.run(
            "snapshots.save", tenant=run.tenant, id=new_id(), brand_id=run.brand_id, compile_run_id=run.id,
            compiler=kept["compiler"], bundle=json.dumps(kept["bundle"]), features=json.dumps(kept["features"]),
            document=json.dumps(document),
        )  # fmt: skip
        _end(writing, run, status)
        told = {"compile_run_id": run.id, "brand_id": run.brand_id, "snapshot": number}
        writing.tell(Event(COMPILED, run.tenant, run.job_id, data=told))
        return told

    def _fail(self, tx: Tx, run: CompileRun, status: dict[str, Any], error: NoEvidence) -> None:
        writing = self._tables.on(tx)
        hold(writing, run.tenant, run.brand_id)
        _end(writing, run, status, error)
        told = {"compile_run_id": run.id, "brand_id": run.brand_id, "error": error.message}
        writing.tell(Event(COMPILE_FAILED, run.tenant, run.job_id, data=told))


def _computed(items: list[EvidenceItem], run: CompileRun) -> tuple[Bundle, FeatureReport]:
    """Bundle and features as of the moment at which the compile was asked for: the same in every try."""
    chosen = bundle(items)
    return chosen, features(chosen, run.created_at)


def _end(writing: Writing, run: CompileRun, status: dict[str, Any], error: NoEvidence | None = None) -> None:
    told = {"error": error and error.message, "error_class": error and type(error).__name__}
    writing.run("compiles.finish", tenant=run.tenant, id=run.id, evidence_status=json.dumps(status), **told)


def _summary(outcomes: list[SourceOutcome]) -> str:
    """Each source with what became of it, shortly."""
    return "; ".join(f"{one.source} {one.outcome}: {one.error or one.reason}" for one in outcomes) or "it has none"
