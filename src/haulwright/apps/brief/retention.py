"""The job `retention_cleanup`: articles that are old and that no brief cites leave, and with them their links.

Nothing else is ever removed here: not feeds, not briefs or what they cite, and not the memory of what was seen.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Final, Self

from haulwright import Context, Tx
from haulwright.application import Tables
from haulwright.clock import SECOND
from haulwright.engine.job import DEFAULT_TENANT
from haulwright.events import Event

PURGE_ALLOWED: Final = ("brief_links", "brief_articles")
"""The tables that rows are removed from, in this order."""
RETENTION_CLEANED: Final = "retention.cleaned"
BATCH: Final = 200
MOST_BATCHES: Final = 1_000
"""At most so many in one run; the next one goes on."""


@dataclass(frozen=True, slots=True)
class RemovalCounts:
    """How many rows were, or would be, removed from each table."""

    brief_articles: int = 0
    brief_links: int = 0
    rows: int = 0
    """All of them together."""

    @classmethod
    def of(cls, articles: int, links: int) -> Self:
        """So many of each."""
        return cls(articles, links, articles + links)

    def __add__(self, more: RemovalCounts) -> RemovalCounts:
        return self.of(self.brief_articles + more.brief_articles, self.brief_links + more.brief_links)


class Retention:
    """The task `brief.retain`, and what it would do."""

    def __init__(self, tables: Tables, keep_seconds: float) -> None:
        self._tables = tables
        self._age_us = round(keep_seconds * SECOND)

    def run(self, ctx: Context) -> RemovalCounts:
        """Remove what may go, a batch for each transaction, and return how much that was."""
        removed = RemovalCounts()
        for number in range(MOST_BATCHES):
            batch = ctx.commit(f"batch:{number}", self._batch)
            removed += batch
            if batch.brief_articles < BATCH:
                break
        return ctx.commit("log", self._log, ctx.job.id, removed, settle=True)

    def would_remove(self) -> RemovalCounts:
        """What a run would remove now. Nothing is written."""
        ((articles, links),) = self._tables.read("articles.count_purgeable", age_us=self._age_us)
        return RemovalCounts.of(articles, links)

    def _batch(self, tx: Tx) -> RemovalCounts:
        writing = self._tables.on(tx)
        article_keys = writing.run("articles.purgeable", age_us=self._age_us, limit=BATCH)
        rows = [{"tenant": tenant, "id": article_id} for tenant, article_id in sorted(article_keys)]
        links = writing.each("articles.purge_links", rows)
        return RemovalCounts.of(len(writing.each("articles.purge", rows)), len(links))

    def _log(self, tx: Tx, job_id: str, removed: RemovalCounts) -> RemovalCounts:
        self._tables.on(tx).record(Event(RETENTION_CLEANED, DEFAULT_TENANT, job_id, data=asdict(removed)))
        return removed
