"""The task `brands.tidy`: runs that nobody looks after are brought to an end, and old raw items go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from penstock.apps.brands.ordering import BACKSTOP_SECONDS
from penstock.apps.brands.outcomes import RAW_PRUNED
from penstock.apps.brands.rows import PaidRun
from penstock.apps.brands.seeking import LEFT_BEHIND, give_up
from penstock.client.context import Context
from penstock.client.transaction import Tx
from penstock.clock import SECOND
from penstock.events import Event

if TYPE_CHECKING:
    from penstock.apps.brands.application import Brands
    from penstock.apps.tables import Writing
    from penstock.client.task import Call

MOST_LEFT: Final = 100
"""Runs that one pass looks after."""
MOST_PRUNED: Final = 500
"""Runs whose raw items one pass removes, each in a transaction of its own."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """What retention removed, or would remove."""

    runs: int
    items: int


class Upkeep:
    """Keeps the tables of brands in order. Safe on every worker at once."""

    def __init__(self, brands: Brands) -> None:
        self._brands = brands
        self._figures = brands.figures

    def tidy(self, ctx: Context) -> dict[str, int]:
        """One pass: what was left behind is gone on with or given up, and raw items that are old enough go."""
        left = ctx.commit("left behind", self._look_after)
        items = runs = 0
        for number in range(MOST_PRUNED):
            gone = ctx.commit(f"prune:{number}", self._prune_in)
            if gone is None:
                break
            items, runs = items + gone, runs + 1
        return {"left_behind": left, "runs_pruned": runs, "items_pruned": items}

    def prune(self, *, dry_run: bool = False) -> Pruned:
        """Remove the raw items of runs that ended long enough ago, or only say how many those are."""
        if dry_run:
            ((runs, items),) = self._brands.tables.read("upkeep.count_prunable", age_us=self._keep_us)
            return Pruned(runs, items)
        found: list[int] = []
        for _ in range(MOST_PRUNED):
            gone = self._brands.tables.transact(self._prune_next)
            if gone is None:
                break
            found.append(gone)
        return Pruned(len(found), sum(found))

    @property
    def _keep_us(self) -> int:
        return round(self._figures.keep_raw_seconds * SECOND)

    def _prune_in(self, tx: Tx) -> int | None:
        return self._prune_next(self._brands.tables.on(tx))

    def _prune_next(self, writing: Writing) -> int | None:
        """Remove the raw items of the next run, and say how many they were; None where no run is left."""
        found = writing.run("upkeep.prunable", age_us=self._keep_us)
        if not found:
            return None
        ((tenant, run_id, brand_id),) = found
        gone = len(writing.run("upkeep.prune", tenant=tenant, run_id=run_id))
        writing.run("upkeep.pruned", tenant=tenant, run_id=run_id)
        data = {"run_id": str(run_id), "brand_id": str(brand_id), "items": gone}
        writing.tell(Event(RAW_PRUNED, tenant, actor="brands", data=data))
        return gone

    def _look_after(self, tx: Tx) -> int:
        """Have each run that is over at Apify by now gone on with; one whose start is not known is looked for first."""
        writing = self._brands.tables.on(tx)
        age_us = round((self._figures.poll_timeout_seconds + BACKSTOP_SECONDS) * SECOND)
        left = [PaidRun.of(row) for row in writing.run("upkeep.left_behind", age_us=age_us, limit=MOST_LEFT)]
        for run in left:
            if run.apify_run_id is not None:
                self._leave(writing, run, self._brands.refresh.using(tenant=run.tenant).call(run.connection_id))
            elif run.marked:
                self._leave(writing, run, self._brands.seek.using(tenant=run.tenant).call(run))
            else:
                give_up(writing, run, LEFT_BEHIND)
        return len(left)

    def _leave(self, writing: Writing, run: PaidRun, call: Call[Any]) -> None:
        """Leave a run to a job, which it belongs to from now on."""
        (made,) = writing.enqueue(call)
        writing.run("runs.take_over", tenant=run.tenant, id=run.id, job_id=made.id)
