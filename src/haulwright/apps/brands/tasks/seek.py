"""The task `brands.seek`: a run whose start nobody recorded is looked for at Apify, and gone on with or stopped.

A worker may die, or be told to stop, between the start of a run and its record. What it may have begun costs money, so
that nobody writes it off before Apify was asked. Only a marker tells a run from everybody else's.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal

from haulwright import Context, Snooze, Tx
from haulwright.apps.brands.buying.order import order_of
from haulwright.apps.brands.buying.write_off import LEFT_BEHIND, write_off
from haulwright.apps.brands.records import record_start
from haulwright.apps.brands.rows import PaidRun
from haulwright.engine.transitions import FINAL
from haulwright.sources.apify import ActorRun

if TYPE_CHECKING:
    from haulwright.application import Tables
    from haulwright.apps.brands.buying.account import ApifyAccount
    from haulwright.apps.brands.jobs import BrandJobs
    from haulwright.apps.brands.settings import BrandSettings

SeekResult = Literal["gone on with", "stopped", "never begun"]


class SeekTask:
    """Finds out what became of a start."""

    def __init__(self, tables: Tables, settings: BrandSettings, account: ApifyAccount, jobs: BrandJobs) -> None:
        self._tables = tables
        self._settings = settings
        self._account = account
        self._jobs = jobs

    async def seek(self, ctx: Context, run: PaidRun) -> SeekResult | Snooze:
        """Look for a run once the job that ordered it is over, and say what became of it."""
        if await asyncio.to_thread(self._is_being_ordered, ctx, run):
            return Snooze(self._settings.poll_interval_seconds, f"job {run.job_id}")
        async with self._account.open() as apify:
            actor_run = await order_of(apify, run, self._settings).arecover(run.id)
        return await ctx.acommit("conclude", self._conclude, run, actor_run, ctx.job.id, key=run.id)

    def _is_being_ordered(self, ctx: Context, run: PaidRun) -> bool:
        job = ctx.store.listing.find(run.job_id, run.tenant)
        return job is not None and job.state not in FINAL

    def _conclude(self, tx: Tx, run: PaidRun, actor_run: ActorRun | None, job_id: str) -> SeekResult:
        """Go on with a run where somebody still wants it, stop it where not; write off what was not found."""
        writing = self._tables.on(tx)
        is_wanted = writing.run("brands.hold", tenant=run.tenant, id=run.brand_id) and writing.run(
            "connections.hold", tenant=run.tenant, id=run.connection_id
        )
        if actor_run is None:
            write_off(writing, run, LEFT_BEHIND)
            return "never begun"
        if not is_wanted or record_start(writing, run, actor_run) is None:
            writing.enqueue(self._jobs.abort(run.tenant, actor_run.id))
            return "stopped"
        (refresh,) = writing.enqueue(self._jobs.refresh(run.tenant, run.connection_id))
        writing.run("runs.hand_over", tenant=run.tenant, id=run.id, owner=job_id, job_id=refresh.id)
        return "gone on with"
