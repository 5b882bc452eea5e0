"""The task `brands.tidy`: runs that nobody looks after are brought to an end, and old raw items go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from haulwright import Context, Tx
from haulwright.apps.brands.buying.order import BACKSTOP_SECONDS
from haulwright.apps.brands.buying.write_off import LEFT_BEHIND, write_off
from haulwright.apps.brands.records import RAW_PRUNED
from haulwright.apps.brands.rows import PaidRun
from haulwright.clock import SECOND
from haulwright.events import Event

if TYPE_CHECKING:
    from haulwright.application import Tables, Writing
    from haulwright.apps.brands.jobs import BrandJobs
    from haulwright.apps.brands.settings import BrandSettings
    from haulwright.client.task import Call

MOST_LEFT: Final = 100
"""Runs that one pass looks after."""
MOST_PRUNED: Final = 500
"""Runs whose raw items one pass removes, each in a transaction of its own."""


@dataclass(frozen=True, slots=True)
class PruneResult:
    """What retention removed, or would remove."""

    runs: int
    items: int


class TidyTask:
    """Keeps the tables of brands in order. Safe on every worker at once."""

    def __init__(self, tables: Tables, settings: BrandSettings, jobs: BrandJobs) -> None:
        self._tables = tables
        self._settings = settings
        self._jobs = jobs

    def tidy(self, ctx: Context) -> dict[str, int]:
        """One pass: what was left behind is gone on with or written off, and raw items that are old enough go."""
        left_behind = ctx.commit("left behind", self._look_after)
        items = runs = 0
        for number in range(MOST_PRUNED):
            pruned = ctx.commit(f"prune:{number}", self._prune_in)
            if pruned is None:
                break
            items, runs = items + pruned, runs + 1
        return {"left_behind": left_behind, "runs_pruned": runs, "items_pruned": items}

    def prune(self, *, actor: str, dry_run: bool = False) -> PruneResult:
        """Remove the raw items of runs that ended long enough ago, or only say how many those are."""
        if dry_run:
            ((runs, items),) = self._tables.read("upkeep.count_prunable", age_us=self._keep_us)
            return PruneResult(runs, items)
        counts: list[int] = []
        for _ in range(MOST_PRUNED):
            pruned = self._tables.transact(lambda writing: self._prune_next(writing, actor))
            if pruned is None:
                break
            counts.append(pruned)
        return PruneResult(len(counts), sum(counts))

    @property
    def _keep_us(self) -> int:
        return round(self._settings.keep_raw_seconds * SECOND)

    def _prune_in(self, tx: Tx) -> int | None:
        return self._prune_next(self._tables.on(tx), "brands")

    def _prune_next(self, writing: Writing, actor: str) -> int | None:
        """Remove the raw items of the next run, and say how many they were; None where no run is left."""
        rows = writing.run("upkeep.prunable", age_us=self._keep_us)
        if not rows:
            return None
        ((tenant, run_id, brand_id),) = rows
        items = len(writing.run("upkeep.prune", tenant=tenant, run_id=run_id))
        writing.run("upkeep.pruned", tenant=tenant, run_id=run_id)
        data = {"apify_run_id": str(run_id), "brand_id": str(brand_id), "items": items}
        writing.record(Event(RAW_PRUNED, tenant, actor=actor, data=data))
        return items

    def _look_after(self, tx: Tx) -> int:
        """Have each run that is over at Apify by now gone on with; one whose start is not known is looked for first."""
        writing = self._tables.on(tx)
        age_us = round((self._settings.poll_timeout_seconds + BACKSTOP_SECONDS) * SECOND)
        runs = [PaidRun.of(row) for row in writing.run("upkeep.left_behind", age_us=age_us, limit=MOST_LEFT)]
        for run in runs:
            if run.actor_run_id is not None:
                self._hand_over(writing, run, self._jobs.refresh(run.tenant, run.connection_id))
            elif run.marked:
                self._hand_over(writing, run, self._jobs.seek(run))
            else:
                write_off(writing, run, LEFT_BEHIND)
        return len(runs)

    def _hand_over(self, writing: Writing, run: PaidRun, call: Call[Any]) -> None:
        """Leave a run to a job, which it belongs to from now on."""
        (job,) = writing.enqueue(call)
        writing.run("runs.take_over", tenant=run.tenant, id=run.id, job_id=job.id)
