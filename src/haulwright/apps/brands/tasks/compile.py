"""The task `brands.compile`: have every source brought in, then make a snapshot of what they say.

Each source is a job of its own; the compile joins them, and holds no worker meanwhile. What follows is computed from
rows, and the snapshot is written in the transaction that ends the job.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from haulwright import Context, JobOutcome, Permanent, Skip, Tx
from haulwright.apps.brands.evidence.bundle import Bundle, BundleCaps, bundle
from haulwright.apps.brands.evidence.item import EvidenceItem
from haulwright.apps.brands.evidence.status import SourceOutcome, evidence_status
from haulwright.apps.brands.platforms.capabilities import SWITCHED_OFF
from haulwright.apps.brands.records import COMPILE_FAILED, COMPILED, lock_brand, record_outcome
from haulwright.apps.brands.repository import MOST_CONNECTIONS
from haulwright.apps.brands.rows import Brand, BrandConnection, CompileRun, CompileSource, PaidRun
from haulwright.apps.brands.snapshot.compilers import compiler_for
from haulwright.apps.brands.snapshot.document import SnapshotRequest, snapshot
from haulwright.apps.brands.snapshot.draft import CompileOrder, SnapshotDraft
from haulwright.apps.brands.snapshot.features import FeatureReport, features
from haulwright.engine.ids import new_id
from haulwright.events import Event

if TYPE_CHECKING:
    from haulwright.application import Tables, Writing
    from haulwright.apps.brands.jobs import BrandJobs
    from haulwright.apps.brands.model.account import ModelAccount
    from haulwright.apps.brands.platforms.registry import Registry
    from haulwright.apps.brands.repository import BrandRepository
    from haulwright.apps.brands.settings import BrandSettings

LOST: Final = "Its job ended without a word"
LOST_CLASS: Final = "JobLost"


class NoEvidence(Permanent):
    """No source of the brand could be used, so that there is nothing to compile."""


class CompileTask:
    """Makes the snapshot of a brand."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a compile uses, each with a name
        self,
        tables: Tables,
        repository: BrandRepository,
        registry: Registry,
        settings: BrandSettings,
        model: ModelAccount,
        jobs: BrandJobs,
    ) -> None:
        self._tables = tables
        self._repository = repository
        self._registry = registry
        self._settings = settings
        self._model = model
        self._jobs = jobs

    async def compile(self, ctx: Context, compile_run_id: str) -> dict[str, Any] | Skip:
        """Bring the sources in, and compile what they say. The result names the snapshot."""
        run = await asyncio.to_thread(self._repository.compile_run, ctx.job.tenant, compile_run_id)
        if run is None:
            return Skip("the compile was removed")
        job_ids = await ctx.acommit(f"begin:{ctx.job.id}", self._begin, run, key=run.id)
        jobs = await ctx.ajoin(job_ids)
        return await self._finish(ctx, run, await self._outcomes(ctx, run, jobs))

    def _begin(self, tx: Tx, run: CompileRun) -> list[str]:
        """Enqueue each source that is switched on, and return the jobs; what a former try brought in stays as it is."""
        writing = self._tables.on(tx)
        lock_brand(writing, run.tenant, run.brand_id)
        writing.run("compiles.begin", tenant=run.tenant, id=run.id)
        former = _sources(writing, run)
        settled = {source.connection_id for source in former if source.outcome and source.outcome.outcome != "failed"}
        rows = writing.run("connections.of_brand", tenant=run.tenant, brand_id=run.brand_id, limit=MOST_CONNECTIONS)
        connections = [each for each in map(BrandConnection.of, rows) if each.enabled and each.id not in settled]
        on = [each for each in connections if self._is_on(each)]
        jobs = writing.enqueue(*(self._jobs.refresh(run.tenant, each.id, run.id) for each in on))
        job_ids = {connection.id: job.id for connection, job in zip(on, jobs, strict=True)}
        sources = [_source_row(each, job_ids.get(each.id)) for each in connections]
        writing.each("sources.want", sources, tenant=run.tenant, compile_run_id=run.id, brand_id=run.brand_id)
        return [*job_ids.values(), *_left(former, connections)]

    def _is_on(self, connection: BrandConnection) -> bool:
        """Whether a source is to be looked at: one that nobody knows is, so that it fails and says why."""
        capability = self._registry.find(connection.platform, connection.capability)
        return capability is None or capability.enabled

    async def _outcomes(self, ctx: Context, run: CompileRun, jobs: list[JobOutcome[Any]]) -> list[SourceOutcome]:
        """What became of the sources; those whose job ended without a word are recorded as failed first."""
        sources = await asyncio.to_thread(self._repository.compile_sources, run)
        if any(source.outcome is None for source in sources):
            await ctx.acommit(f"lost:{ctx.job.id}", self._record_lost, run, sources, jobs, key=run.id)
            sources = await asyncio.to_thread(self._repository.compile_sources, run)
        return [source.outcome for source in sources if source.outcome is not None]

    def _record_lost(self, tx: Tx, run: CompileRun, sources: list[CompileSource], jobs: list[JobOutcome[Any]]) -> None:
        """Record sources whose job was cancelled, waited too long, or died with its worker."""
        writing, by_id = self._tables.on(tx), {job.id: job for job in jobs}
        for source in sources:
            if source.outcome is None:
                outcome = _lost(source, by_id.get(source.job_id or ""), _run_of(writing, run, source))
                record_outcome(writing, run.tenant, run.id, outcome, source.job_id)

    async def _finish(self, ctx: Context, run: CompileRun, outcomes: list[SourceOutcome]) -> dict[str, Any]:
        status = evidence_status(outcomes)
        items = await asyncio.to_thread(self._evidence, run, outcomes)
        if not items:
            error = NoEvidence(f"No source could be used: {_summary(outcomes)}.", hint="See: haulwright brand status")
            await ctx.acommit(f"fail:{ctx.job.id}", self._fail, run, status, error, key=run.id)
            raise error
        brand = await asyncio.to_thread(self._repository.brand, run.tenant, run.brand_id)
        evidence_bundle, report = await asyncio.to_thread(_compute, items, run, self._settings.bundle_caps)
        draft = await self._draft(ctx, brand, run, evidence_bundle, report)
        request = SnapshotRequest(run.model, run.prompt_version, run.force_refresh)
        document = await asyncio.to_thread(snapshot, draft, evidence_bundle, report, status, request)
        parts = {"compiler": draft.compiler, "bundle": evidence_bundle.document(), "features": report.document()}
        return await ctx.acommit(f"snapshot:{ctx.job.id}", self._save, run, status, parts, document, settle=True)

    def _evidence(self, run: CompileRun, outcomes: list[SourceOutcome]) -> list[EvidenceItem]:
        usable = [each.connection_id for each in outcomes if each.outcome in {"reused", "refreshed"}]
        return self._repository.evidence(run.tenant, run.brand_id, usable, self._settings.evidence_items)

    async def _draft(
        self, ctx: Context, brand: Brand, run: CompileRun, evidence_bundle: Bundle, report: FeatureReport
    ) -> SnapshotDraft:
        """Have the draft made, once for the same evidence: it may be paid for."""
        order = CompileOrder(brand.name, brand.answers, evidence_bundle, report, run.prompt_version, run.model)
        async with self._model.open() as model_compiler:
            compiler = compiler_for(run.model, model_compiler)

            async def draft() -> (
                SnapshotDraft
            ):  # its annotation tells the ledger what to record, whoever's compiler it is
                return await compiler.acompile(order)

            return await ctx.aeffect("draft", draft, key=f"draft:{evidence_bundle.digest}")

    def _save(
        self, tx: Tx, run: CompileRun, status: dict[str, Any], parts: dict[str, Any], document: dict[str, Any]
    ) -> dict[str, Any]:
        writing = self._tables.on(tx)
        lock_brand(writing, run.tenant, run.brand_id)
        ((number,),) = writing.run(
            "snapshots.save", tenant=run.tenant, id=new_id(), brand_id=run.brand_id, compile_run_id=run.id,
            compiler=parts["compiler"], bundle=json.dumps(parts["bundle"]), features=json.dumps(parts["features"]),
            document=json.dumps(document),
        )  # fmt: skip
        _end(writing, run, status)
        result = {"compile_run_id": run.id, "brand_id": run.brand_id, "snapshot": number}
        writing.record(Event(COMPILED, run.tenant, run.job_id, data=result))
        return result

    def _fail(self, tx: Tx, run: CompileRun, status: dict[str, Any], error: NoEvidence) -> None:
        writing = self._tables.on(tx)
        lock_brand(writing, run.tenant, run.brand_id)
        _end(writing, run, status, error)
        data = {"compile_run_id": run.id, "brand_id": run.brand_id}
        data |= {"error": error.message, "error_class": type(error).__name__}
        writing.record(Event(COMPILE_FAILED, run.tenant, run.job_id, data=data))


def _sources(writing: Writing, run: CompileRun) -> list[CompileSource]:
    rows = writing.run("sources.of_compile", tenant=run.tenant, compile_run_id=run.id)
    return [CompileSource.of(row) for row in rows]


def _left(former: list[CompileSource], connections: list[BrandConnection]) -> list[str]:
    """Jobs of a former try for sources that were switched off since: nobody enqueues them anew, and they may go on."""
    anew = {connection.id for connection in connections}
    open_sources = [source for source in former if source.outcome is None and source.connection_id not in anew]
    return [source.job_id for source in open_sources if source.job_id is not None]


def _source_row(connection: BrandConnection, job_id: str | None) -> dict[str, Any]:
    """What a compile writes down of one source: its job, or that it is switched off."""
    outcome = {"outcome": None, "reason": None} if job_id else {"outcome": "skipped", "reason": SWITCHED_OFF}
    return {"connection_id": connection.id, "source": connection.source, "job_id": job_id, **outcome}


def _run_of(writing: Writing, run: CompileRun, source: CompileSource) -> PaidRun | None:
    """The paid run that the job of a source has left, if it came to that."""
    rows = writing.run("runs.of_connection", tenant=run.tenant, connection_id=source.connection_id, limit=1)
    paid = PaidRun.of(rows[0]) if rows else None
    return paid if paid is not None and paid.job_id == source.job_id else None


def _lost(source: CompileSource, job: JobOutcome[Any] | None, paid: PaidRun | None) -> SourceOutcome:
    """A source whose job is over without a word: its run, if it has one, says more."""
    if job is None or job.state is None:
        error, error_class = "its job is gone", LOST_CLASS
    else:
        message = (job.error.message if job.error else "") or job.reason
        error, error_class = f"its job is {job.state}: {message}", (job.error and job.error.error_class) or LOST_CLASS
    if paid is not None:
        return replace(paid.as_outcome(source.source, "failed", LOST), error=error, error_class=error_class)
    return SourceOutcome(source.source, source.connection_id, "failed", LOST, error=error, error_class=error_class)


def _compute(items: list[EvidenceItem], run: CompileRun, caps: BundleCaps) -> tuple[Bundle, FeatureReport]:
    """Bundle and features as of the moment at which the compile was asked for: the same in every try."""
    evidence_bundle = bundle(items, caps)
    return evidence_bundle, features(evidence_bundle, run.created_at)


def _end(writing: Writing, run: CompileRun, status: dict[str, Any], error: NoEvidence | None = None) -> None:
    failure = {"error": error and error.message, "error_class": error and type(error).__name__}
    writing.run("compiles.finish", tenant=run.tenant, id=run.id, evidence_status=json.dumps(status), **failure)


def _summary(outcomes: list[SourceOutcome]) -> str:
    """Each source with what became of it, shortly."""
    return "; ".join(f"{each.source} {each.outcome}: {each.error or each.reason}" for each in outcomes) or "it has none"
