"""Taking a brand out: first nobody writes for it any more, then its rows go in batches, itself last."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from haulwright.apps.brands.buying.write_off import stop_run
from haulwright.apps.brands.records import REMOVED
from haulwright.apps.brands.rows import PaidRun
from haulwright.errors import Conflict, NotFound
from haulwright.events import Event

if TYPE_CHECKING:
    from haulwright.application import Tables, Writing
    from haulwright.apps.brands.jobs import BrandJobs

BATCH_ROWS: Final = 500
TABLES: Final = (
    "raw_items", "quarantine", "refs", "evidence", "snapshots", "sources", "runs", "compiles", "connections",
)  # fmt: skip
"""In this order, for each refers to those after it."""


class BrandRemoval:
    """Removes one brand. Interrupted, it can be asked for again."""

    def __init__(self, tables: Tables, jobs: BrandJobs, tenant: str, brand_id: str) -> None:
        self._tables = tables
        self._jobs = jobs
        self._tenant = tenant
        self._brand_id = brand_id
        self._key = {"tenant": tenant, "brand_id": brand_id}

    def run(self, actor: str) -> int:
        """Remove the brand, and return how many rows went."""
        store = self._tables.app.store
        for job_id in self._tables.transact(self._mark):
            with suppress(Conflict, NotFound):  # it has just ended
                store.jobs.cancel(job_id, tenant=self._tenant, reason="its brand is removed", actor=actor)
        rows = 0
        for table in TABLES:
            while deleted := len(self._tables.write(f"removal.{table}", **self._key, limit=BATCH_ROWS)):
                rows += deleted
        return self._tables.transact(lambda writing: self._end(writing, rows, actor))

    def _mark(self, writing: Writing) -> list[str]:
        """Close the brand, have its runs stopped, and return the jobs that work for it."""
        if not writing.run("removal.mark", **self._key):
            raise NotFound("brand", self._brand_id)
        for row in writing.run("removal.under_way", **self._key):
            stop_run(writing, self._jobs, PaidRun.of(row))
        return [str(job_id) for (job_id,) in writing.run("removal.jobs", **self._key)]

    def _end(self, writing: Writing, rows: int, actor: str) -> int:
        """Delete the brand itself, beside the event that counts all rows."""
        total = rows + len(writing.run("removal.brand", **self._key))
        data = {"brand_id": self._brand_id, "rows": total}
        writing.record(Event(REMOVED, self._tenant, actor=actor, data=data))
        return total
