"""Taking a brand out: first nobody writes for it any more, then its rows go in batches, itself last."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from penstock.apps.brands.outcomes import REMOVED
from penstock.apps.brands.rows import PaidRun
from penstock.apps.brands.seeking import stop
from penstock.errors import Conflict, NotFound
from penstock.events import Event

if TYPE_CHECKING:
    from penstock.apps.brands.application import Brands
    from penstock.apps.tables import Writing

BATCH_ROWS: Final = 500
TABLES: Final = (
    "raw_items", "quarantine", "refs", "evidence", "snapshots", "sources", "runs", "compiles", "connections",
)  # fmt: skip
"""In this order, for each refers to those after it."""


def remove(brands: Brands, tenant: str, brand_id: str) -> int:
    """Remove a brand and return how many rows went. Interrupted, it can be asked for again."""
    for job_id in brands.tables.transact(lambda writing: _mark(brands, writing, tenant, brand_id)):
        with suppress(Conflict, NotFound):  # it has just ended
            brands.app.store.jobs.cancel(job_id, tenant=tenant, reason="its brand is removed", actor="brands")
    rows = 0
    for table in TABLES:
        while gone := len(_delete(brands, table, tenant, brand_id)):
            rows += gone
    return rows + brands.tables.transact(lambda writing: _end(writing, tenant, brand_id, rows))


def _mark(brands: Brands, writing: Writing, tenant: str, brand_id: str) -> list[str]:
    """Close the brand, have its runs stopped, and return the jobs that work for it."""
    named = {"tenant": tenant, "brand_id": brand_id}
    if not writing.run("removal.mark", **named):
        raise NotFound("brand", brand_id)
    for row in writing.run("removal.under_way", **named):
        stop(brands, writing, PaidRun.of(row))
    return [str(job_id) for (job_id,) in writing.run("removal.jobs", **named)]


def _delete(brands: Brands, table: str, tenant: str, brand_id: str) -> list[tuple[object, ...]]:
    return brands.tables.write(f"removal.{table}", tenant=tenant, brand_id=brand_id, limit=BATCH_ROWS)


def _end(writing: Writing, tenant: str, brand_id: str, rows: int) -> int:
    gone = len(writing.run("removal.brand", tenant=tenant, brand_id=brand_id))
    writing.tell(Event(REMOVED, tenant, data={"brand_id": brand_id, "rows": rows + gone}))
    return gone
