"""Buying one run: written down before it is begun, begun or adopted, looked at in steps, its items fetched.

Whatever dies in between, the row says how far it came. A run is found at Apify by its own id, which goes along.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from penstock.apps.brands.capabilities import Capability
from penstock.apps.brands.freshness import freshness
from penstock.apps.brands.ordering import order_of
from penstock.apps.brands.outcomes import RUN_ENDED, RUN_FETCHED, hold, record_start, tell_of_run
from penstock.apps.brands.rows import PaidRun
from penstock.apps.brands.seeking import give_up, stop
from penstock.apps.brands.visit import Visit
from penstock.client.context import Context
from penstock.client.transaction import Tx
from penstock.clock import SECOND
from penstock.engine.ids import new_id
from penstock.engine.outcome import Snooze
from penstock.errors import Cancelled, Permanent, Retryable, RunError, Throttled
from penstock.sources.apify import Apify, Order, Run, input_hash

if TYPE_CHECKING:
    from penstock.apps.brands.application import Brands
    from penstock.apps.tables import Writing

PAGE_ITEMS: Final = 50
LARGEST_ITEM_BYTES: Final = 256 * 1024
"""A larger raw item is counted and not kept."""
TIMED_OUT: Final = "TIMED_OUT"
TOO_OLD: Final = "It was left behind, and is too old to be gone on with."


class RunFailed(Permanent):
    """A run that was paid for ended without success; `run_status` is how."""

    run_status: str = ""


@dataclass(frozen=True, slots=True)
class Start:
    """The start of a run in the two pieces that an effect is made of."""

    order: Order
    inherited: bool
    """Another job may have begun it: it is looked for before it is started."""

    async def abegin(self, marker: str) -> Run:
        """Start the run, unless it exists."""
        found = await self.order.arecover(marker) if self.inherited else None
        return found or await self.order.astart_or_adopt(marker)

    async def arecover(self, marker: str) -> Run | None:
        """The run that an interrupted start began, or None."""
        return await self.order.arecover(marker)


class Buying:
    """Brings in the raw items of a run."""

    def __init__(self, brands: Brands) -> None:
        self._brands = brands
        self._figures = brands.figures
        self._tables = brands.tables

    async def own(self, ctx: Context, visit: Visit, capability: Capability) -> PaidRun:
        """The run that this job is to bring in: its own from before, one that was left behind, or a new one."""
        if visit.run is not None and visit.run.job_id == ctx.job.id:
            return visit.run
        return await ctx.acommit(f"order:{ctx.job.id}", self._order, visit, capability, ctx.job.id)

    async def bring(self, ctx: Context, run: PaidRun) -> PaidRun | Snooze:
        """Take a run as far as it goes now: the run with its items here, or when to look again."""
        if run.fetched_at is not None:
            return run
        async with self._brands.account.open() as apify:
            begun = await self._begin(ctx, apify, run)
            ended = await self._look(ctx, apify, begun)
            if isinstance(ended, Snooze):
                return ended
            return await self._fetch(ctx, apify, ended)

    def _order(self, tx: Tx, visit: Visit, capability: Capability, job_id: str) -> PaidRun:
        """Write a run down before anything is sent, or take over the one that a dead job left."""
        writing, connection, left = self._tables.on(tx), visit.connection, visit.run
        hold(writing, connection.tenant, connection.brand_id)
        if left is not None and self._is_young(visit, left):
            return self._taken_over(writing, left, job_id)
        if left is not None:
            self.let_go(tx, left, TOO_OLD)
        cap = capability.cap_of(connection.settings)
        said = capability.build_input(connection.identifier, cap)
        named = {"tenant": connection.tenant, "id": new_id()}
        writing.run(
            "runs.order", **named, brand_id=connection.brand_id, connection_id=connection.id, job_id=job_id,
            actor=capability.actor, input=json.dumps(said), input_hash=input_hash(said), marked=capability.marked,
            cap=cap,
        )  # fmt: skip
        return PaidRun.of(writing.run("runs.get", **named)[0])

    def _taken_over(self, writing: Writing, left: PaidRun, job_id: str) -> PaidRun:
        """Another job's run as our own, unless somebody was quicker."""
        if not writing.run("runs.take_over", tenant=left.tenant, id=left.id, job_id=job_id):
            raise Throttled("Another job has just taken the run over.", after=self._figures.poll_interval_seconds)
        return replace(left, job_id=job_id, taken_over=True)

    def let_go(self, tx: Tx, run: PaidRun, why: str) -> None:
        """Give a run up, and have it stopped at Apify."""
        writing = self._tables.on(tx)
        give_up(writing, run, why)
        stop(self._brands, writing, run)

    def _is_young(self, visit: Visit, run: PaidRun) -> bool:
        return not freshness(run, visit.now, self._figures.fresh_seconds, visit.forced_at).should_refresh

    async def _begin(self, ctx: Context, apify: Apify, run: PaidRun) -> PaidRun:
        """Start the run or adopt it: paid for once, whatever happened before."""
        if run.apify_run_id is not None:
            return run
        start = Start(order_of(apify, run, self._figures), inherited=run.taken_over)

        async def recover(_key: str) -> Run | None:
            return await start.arecover(run.id)

        begun = await ctx.aeffect("start", start.abegin, run.id, key=f"start:{run.id}", recover=recover)
        return await ctx.acommit(f"started:{run.id}:{ctx.job.id}", self._started, run, begun)

    def _started(self, tx: Tx, run: PaidRun, begun: Run) -> PaidRun:
        writing = self._tables.on(tx)
        hold(writing, run.tenant, run.brand_id)
        made = record_start(writing, run, begun)
        if made is None:
            raise Cancelled("The run was given up meanwhile.")
        return made

    async def _look(self, ctx: Context, apify: Apify, run: PaidRun) -> PaidRun | Snooze:
        """One look at a run: it is over and succeeded, or when to look again; anything else is raised."""
        waited = await asyncio.to_thread(ctx.store.now) - (run.started_at or run.requested_at)
        late = waited > self._figures.poll_timeout_seconds * SECOND
        again = Snooze(self._figures.poll_interval_seconds, f"apify run {run.apify_run_id}")
        try:
            seen = await apify.await_step(run.apify_run_id or "", 0)
        except Retryable:
            if late:
                raise
            return again  # a look that failed costs nothing: the deadline bounds how many there are
        if not seen.is_terminal and late:
            seen = await self._abort(apify, run)
        if not seen.is_terminal:
            return again
        if not seen.is_success:
            raise _failed(f"The run ended as {seen.status}: {seen.status_message or 'no reason given'}", seen.status)
        await ctx.acommit(f"ended:{run.id}:{ctx.job.id}", self._ended, run, seen, ctx.job.deferrals)
        return replace(run, status=seen.status, dataset_id=seen.dataset_id or run.dataset_id)

    async def _abort(self, apify: Apify, run: PaidRun) -> Run:
        """End a run that takes too long, so that it costs no more; where it succeeded just now, all the better."""
        limit = self._figures.poll_timeout_seconds
        try:
            ended = await apify.aabort(run.apify_run_id or "")
        except RunError as error:
            raise _failed(f"Polling timed out after {limit:g}s, and the run could not be aborted: {error}") from error
        if ended.is_success:
            return ended
        raise _failed(f"Polling timed out after {limit:g}s; the run was aborted")

    def _ended(self, tx: Tx, run: PaidRun, seen: Run, waits: int) -> None:
        writing, told = self._tables.on(tx), {"status": seen.status, "usage_usd": seen.usage_usd}
        writing.run("runs.ended", tenant=run.tenant, id=run.id, **told)
        tell_of_run(writing, RUN_ENDED, run, **told, waits=waits)

    async def _fetch(self, ctx: Context, apify: Apify, run: PaidRun) -> PaidRun:
        """Fetch what the run found, within its cap, and store it as a whole."""
        items = apify.aitems(run.dataset_id or "", limit=run.cap, page=min(PAGE_ITEMS, run.cap))
        rows = [_raw(item) async for item in items]
        count, more = items.total, items.truncated
        return await ctx.acommit(f"fetched:{run.id}:{ctx.job.id}", self._store, run, rows, count, more)

    def _store(self, tx: Tx, run: PaidRun, rows: list[dict[str, Any]], found: int | None, more: bool) -> PaidRun:  # noqa: FBT001 - a fact
        """Replace the raw items of a run and their count, in one transaction."""
        writing, own = self._tables.on(tx), {"tenant": run.tenant, "run_id": run.id}
        hold(writing, run.tenant, run.brand_id)
        writing.run("items.clear", **own)
        writing.each("items.store", [{"item_index": index, **row} for index, row in enumerate(rows)], **own)
        named = {"tenant": run.tenant, "id": run.id}
        writing.run("runs.fetched", **named, raw_item_count=len(rows), dataset_items=found, truncated=more)
        tell_of_run(writing, RUN_FETCHED, run, raw_items_count=len(rows), dataset_items=found, truncated=more)
        return PaidRun.of(writing.run("runs.get", **named)[0])


def _raw(item: Any) -> dict[str, Any]:
    """A raw item as it is kept: as ASCII, so that nothing in it can be refused by a database."""
    text = json.dumps(item)
    return {"bytes": len(text), "body": text if len(text) <= LARGEST_ITEM_BYTES else None}


def _failed(message: str, status: str = TIMED_OUT) -> RunFailed:
    error = RunFailed(message)
    error.run_status = status
    return error
