"""The purchase of one run: written down before it is begun, begun or adopted, polled in steps, its items fetched.

Whatever dies in between, the row says how far it came. A run is found at Apify by its own id, which goes along.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from haulwright import Cancelled, Context, Snooze, Throttled, Tx
from haulwright.apps.brands.buying.connection_state import ConnectionState
from haulwright.apps.brands.buying.order import order_of
from haulwright.apps.brands.buying.polling import PollLimits, RunPoller
from haulwright.apps.brands.buying.write_off import stop_run, write_off
from haulwright.apps.brands.platforms.capabilities import Capability
from haulwright.apps.brands.records import RUN_ENDED, RUN_FETCHED, lock_brand, record_run_event, record_start
from haulwright.apps.brands.rows import PaidRun
from haulwright.apps.brands.run_log import log_start, log_storage
from haulwright.engine.ids import new_id
from haulwright.sources.apify import ActorRun, Apify, Order, input_hash

if TYPE_CHECKING:
    from haulwright.application import Tables, Writing
    from haulwright.apps.brands.buying.account import ApifyAccount
    from haulwright.apps.brands.jobs import BrandJobs
    from haulwright.apps.brands.settings import BrandSettings

PAGE_ITEMS: Final = 50
LARGEST_ITEM_BYTES: Final = 256 * 1024
"""A larger raw item is counted and not kept."""
TOO_OLD: Final = "It was left behind, and is too old to be gone on with."


@dataclass(frozen=True, slots=True)
class RunStart:
    """The start of a run in the two pieces that an effect is made of."""

    order: Order
    inherited: bool
    """Another job may have begun it: it is looked for before it is started."""

    async def abegin(self, marker: str) -> ActorRun:
        """Start the run, unless it exists."""
        actor_run = await self.order.arecover(marker) if self.inherited else None
        return actor_run or await self.order.astart_or_adopt(marker)

    async def arecover(self, marker: str) -> ActorRun | None:
        """The run that an interrupted start began, or None."""
        return await self.order.arecover(marker)


class RunPurchase:
    """Brings in the raw items of a run."""

    def __init__(self, tables: Tables, settings: BrandSettings, account: ApifyAccount, jobs: BrandJobs) -> None:
        self._tables = tables
        self._settings = settings
        self._account = account
        self._jobs = jobs
        self._poller = RunPoller(tables)

    async def run_of(self, ctx: Context, state: ConnectionState, capability: Capability) -> PaidRun:
        """The run that this job is to bring in: its own from before, one that was left behind, or a new one."""
        if state.unfinished is not None and state.unfinished.job_id == ctx.job.id:
            return state.unfinished
        return await ctx.acommit(f"order:{ctx.job.id}", self._order, state, capability, ctx.job.id, key=ctx.job.id)

    async def advance(self, ctx: Context, run: PaidRun, limits: PollLimits) -> PaidRun | Snooze:
        """Take a run as far as it goes now: the run with its items here, or when to look again."""
        if run.fetched_at is not None:
            return run
        async with self._account.open() as apify:
            started = await self._start(ctx, apify, run, limits)
            ended = await self._end(ctx, apify, started, limits)
            if isinstance(ended, Snooze):
                return ended
            return await self._fetch(ctx, apify, ended)

    def abandon(self, tx: Tx, run: PaidRun, why: str) -> None:
        """Write a run off, and have it stopped at Apify."""
        writing = self._tables.on(tx)
        write_off(writing, run, why)
        self.stop(writing, run)

    def stop(self, writing: Writing, run: PaidRun) -> None:
        """Have a run stopped at Apify, as soon as that can be asked."""
        stop_run(writing, self._jobs, run)

    def _order(self, tx: Tx, state: ConnectionState, capability: Capability, job_id: str) -> PaidRun:
        """Write a run down before anything is sent, or take over the one that a dead job left."""
        writing, connection, orphan = self._tables.on(tx), state.connection, state.unfinished
        lock_brand(writing, connection.tenant, connection.brand_id, connection.id)
        if orphan is not None and state.can_adopt(orphan, self._settings.fresh_seconds):
            return self._take_over(writing, orphan, job_id)
        if orphan is not None:
            self.abandon(tx, orphan, TOO_OLD)
        cap = capability.cap_of(connection.settings)
        actor_input = capability.build_input(connection.identifier, cap)
        key = {"tenant": connection.tenant, "id": new_id()}
        writing.run(
            "runs.order", **key, brand_id=connection.brand_id, connection_id=connection.id, job_id=job_id,
            actor=capability.actor, input=json.dumps(actor_input), input_hash=input_hash(actor_input),
            marked=capability.marked, cap=cap,
        )  # fmt: skip
        return PaidRun.of(writing.run("runs.get", **key)[0])

    def _take_over(self, writing: Writing, orphan: PaidRun, job_id: str) -> PaidRun:
        """Another job's run as our own, unless somebody was quicker."""
        if not writing.run("runs.take_over", tenant=orphan.tenant, id=orphan.id, job_id=job_id):
            raise Throttled("Another job has just taken the run over.", after=self._settings.poll_interval_seconds)
        return replace(orphan, job_id=job_id, taken_over=True)

    async def _start(self, ctx: Context, apify: Apify, run: PaidRun, limits: PollLimits) -> PaidRun:
        """Start the run or adopt it: paid for once, whatever happened before."""
        if run.actor_run_id is not None:
            return run
        start = RunStart(order_of(apify, run, self._settings, limits.timeout_seconds), inherited=run.taken_over)

        async def recover(_key: str) -> ActorRun | None:
            return await start.arecover(run.id)

        actor_run = await ctx.aeffect("start", start.abegin, run.id, key=f"start:{run.id}", recover=recover)
        started = await ctx.acommit(f"started:{run.id}:{ctx.job.id}", self._record_start, run, actor_run, key=run.id)
        log_start(started)
        return started

    def _record_start(self, tx: Tx, run: PaidRun, actor_run: ActorRun) -> PaidRun:
        writing = self._tables.on(tx)
        lock_brand(writing, run.tenant, run.brand_id, run.connection_id)
        started = record_start(writing, run, actor_run)
        if started is None:
            raise Cancelled("The run was given up meanwhile.")
        return started

    async def _end(self, ctx: Context, apify: Apify, run: PaidRun, limits: PollLimits) -> PaidRun | Snooze:
        """The run as it ended with success, or when to look again."""
        actor_run = await self._poller.poll(ctx, apify, run, limits)
        if isinstance(actor_run, Snooze):
            return actor_run
        waits = ctx.job.deferrals
        await ctx.acommit(f"ended:{run.id}:{ctx.job.id}", self._record_end, run, actor_run, waits, key=run.id)
        return replace(run, status=actor_run.status, dataset_id=actor_run.dataset_id or run.dataset_id)

    def _record_end(self, tx: Tx, run: PaidRun, actor_run: ActorRun, waits: int) -> None:
        writing, end = self._tables.on(tx), {"status": actor_run.status, "usage_usd": actor_run.usage_usd}
        writing.run("runs.ended", tenant=run.tenant, id=run.id, **end)
        record_run_event(writing, RUN_ENDED, run, **end, waits=waits)

    async def _fetch(self, ctx: Context, apify: Apify, run: PaidRun) -> PaidRun:
        """Fetch what the run found, within its cap, and store it as a whole."""
        items = apify.aitems(run.dataset_id or "", limit=run.cap, page=min(PAGE_ITEMS, run.cap))
        rows = [_raw_row(item) async for item in items]
        size = {"dataset_items": items.total, "truncated": items.truncated}
        fetched = await ctx.acommit(f"fetched:{run.id}:{ctx.job.id}", self._store, run, rows, size, key=run.id)
        log_storage(fetched)
        return fetched

    def _store(self, tx: Tx, run: PaidRun, rows: list[dict[str, Any]], size: dict[str, Any]) -> PaidRun:
        """Replace the raw items of a run and their count, in one transaction."""
        writing, of_run = self._tables.on(tx), {"tenant": run.tenant, "run_id": run.id}
        lock_brand(writing, run.tenant, run.brand_id, run.connection_id)
        writing.run("items.clear", **of_run)
        writing.each("items.store", [{"item_index": index, **row} for index, row in enumerate(rows)], **of_run)
        key = {"tenant": run.tenant, "id": run.id}
        writing.run("runs.fetched", **key, raw_item_count=len(rows), **size)
        record_run_event(writing, RUN_FETCHED, run, raw_items_count=len(rows), **size)
        return PaidRun.of(writing.run("runs.get", **key)[0])


def _raw_row(item: Any) -> dict[str, Any]:
    """A raw item as it is kept: as ASCII, so that nothing in it can be refused by a database."""
    text = json.dumps(item)
    return {"bytes": len(text), "body": text if len(text) <= LARGEST_ITEM_BYTES else None}
