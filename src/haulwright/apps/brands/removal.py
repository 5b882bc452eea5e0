"""Taking out a brand, or one source of it: first nobody writes for it any more, then its rows go, itself last."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from haulwright.apps.brands.buying.write_off import stop_run
from haulwright.apps.brands.records import REMOVED, SOURCE_REMOVED
from haulwright.apps.brands.rows import PaidRun
from haulwright.errors import Conflict, NotFound
from haulwright.events import Event

if TYPE_CHECKING:
    from haulwright.application import Tables, Writing
    from haulwright.apps.brands.jobs import BrandJobs

BATCH_ROWS: Final = 500


@dataclass(frozen=True, slots=True)
class Removable:
    """What can be taken out, and the rows that go with it."""

    what: str
    """In the words of people, and the entry that deletes it itself."""
    book: str
    key: str
    """The column that its rows have its id in."""
    tables: tuple[str, ...]
    """In this order, for each refers to those after it."""
    event: str


BRAND: Final = Removable(
    "brand", "removal", "brand_id",
    ("raw_items", "quarantine", "refs", "evidence", "snapshots", "sources", "runs", "compiles", "connections"),
    REMOVED,
)  # fmt: skip
SOURCE: Final = Removable(
    "connection", "disconnection", "connection_id",
    ("raw_items", "quarantine", "refs", "evidence", "sources", "runs"),
    SOURCE_REMOVED,
)  # fmt: skip


class Removal:
    """Removes one brand or source. Interrupted, it can be asked for again."""

    def __init__(self, tables: Tables, jobs: BrandJobs, kind: Removable, tenant: str, row_id: str) -> None:
        self._tables = tables
        self._jobs = jobs
        self._kind = kind
        self._tenant = tenant
        self._id = row_id
        self._key = {"tenant": tenant, kind.key: row_id}

    def run(self, actor: str) -> int:
        """Remove it, and return how many rows went."""
        store, reason = self._tables.app.store, f"its {self._kind.what} is removed"
        for job_id in self._tables.transact(self._mark):
            with suppress(Conflict, NotFound):  # it has just ended
                store.jobs.cancel(job_id, tenant=self._tenant, reason=reason, actor=actor)
        rows = 0
        for table in self._kind.tables:
            while deleted := len(self._tables.write(f"{self._kind.book}.{table}", **self._key, limit=BATCH_ROWS)):
                rows += deleted
        return self._tables.transact(lambda writing: self._end(writing, rows, actor))

    def _mark(self, writing: Writing) -> list[str]:
        """Close it, have its runs stopped, and return the jobs that work for it."""
        if not writing.run(f"{self._kind.book}.mark", **self._key):
            raise NotFound(self._kind.what, self._id)
        for row in writing.run(f"{self._kind.book}.under_way", **self._key):
            stop_run(writing, self._jobs, PaidRun.of(row))
        return [str(job_id) for (job_id,) in writing.run(f"{self._kind.book}.jobs", **self._key)]

    def _end(self, writing: Writing, rows: int, actor: str) -> int:
        """Delete itself, beside the event that counts all rows."""
        total = rows + len(writing.run(f"{self._kind.book}.{self._kind.what}", **self._key))
        data = {self._kind.key: self._id, "rows": total}
        writing.record(Event(self._kind.event, self._tenant, actor=actor, data=data))
        return total
