"""The task `brands.seek`: a run whose start nobody recorded is looked for at Apify, and gone on with or stopped.

A worker may die, or be told to stop, between the start of a run and its record. What it may have begun costs money, so
that nobody writes it off before Apify was asked. Only a marker tells a run from everybody else's.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, Literal

from penstock.apps.brands.ordering import order_of
from penstock.apps.brands.outcomes import RUN_ENDED, record_start, tell_of_run
from penstock.apps.brands.rows import PaidRun
from penstock.client.context import Context
from penstock.client.transaction import Tx
from penstock.engine.outcome import Snooze
from penstock.engine.transitions import FINAL
from penstock.sources.apify import Run

if TYPE_CHECKING:
    from penstock.apps.brands.application import Brands
    from penstock.apps.tables import Writing

LEFT_BEHIND: Final = "It was left behind, and could not be gone on with."

Sought = Literal["gone on with", "stopped", "never begun"]


class Seeking:
    """Finds out what became of a start."""

    def __init__(self, brands: Brands) -> None:
        self._brands = brands

    async def seek(self, ctx: Context, run: PaidRun) -> Sought | Snooze:
        """Look for a run once the job that ordered it is over, and say what became of it."""
        if await asyncio.to_thread(self._is_being_ordered, ctx, run):
            return Snooze(self._brands.figures.poll_interval_seconds, f"job {run.job_id}")
        async with self._brands.account.open() as apify:
            found = await order_of(apify, run, self._brands.figures).arecover(run.id)
        return await ctx.acommit("conclude", self._conclude, run, found, ctx.job.id)

    def _is_being_ordered(self, ctx: Context, run: PaidRun) -> bool:
        job = ctx.store.listing.find(run.job_id, run.tenant)
        return job is not None and job.state not in FINAL

    def _conclude(self, tx: Tx, run: PaidRun, found: Run | None, job_id: str) -> Sought:
        """Go on with what was found where somebody still wants it, stop it where not; give up what was not found."""
        writing = self._brands.tables.on(tx)
        is_wanted = writing.run("brands.hold", tenant=run.tenant, id=run.brand_id)
        if found is None:
            give_up(writing, run, LEFT_BEHIND)
            return "never begun"
        if not is_wanted or record_start(writing, run, found) is None:
            writing.enqueue(self._brands.abort.using(tenant=run.tenant).call(found.id))
            return "stopped"
        (made,) = writing.enqueue(self._brands.refresh.using(tenant=run.tenant).call(run.connection_id))
        writing.run("runs.hand_over", tenant=run.tenant, id=run.id, owner=job_id, job_id=made.id)
        return "gone on with"


def give_up(writing: Writing, run: PaidRun, error: str) -> None:
    """Write down that nobody will go on with a run; one that is over stays as it is."""
    why = {"error": error, "error_class": "LeftBehind"}
    named = {"tenant": run.tenant, "id": run.id, "status": None, "quarantined": run.quarantined}
    if writing.run("runs.failed", **named, **why):
        tell_of_run(writing, RUN_ENDED, run, status=run.status, **why)


def stop(brands: Brands, writing: Writing, run: PaidRun) -> None:
    """Have a run that nobody wants any more aborted, so that it costs no more; one that may exist is looked for."""
    if run.apify_run_id is not None:
        writing.enqueue(brands.abort.using(tenant=run.tenant).call(run.apify_run_id))
    elif run.marked:
        writing.enqueue(brands.seek.using(tenant=run.tenant).call(run))
