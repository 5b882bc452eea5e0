"""The job `rss_ingestion`: enqueue the reading of every feed that may be asked now, each a job of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from haulwright import Context, Tx

if TYPE_CHECKING:
    from haulwright import Task
    from haulwright.application import Tables, Writing
    from haulwright.client.task import Call

PAGE: Final = 200
MOST_PAGES: Final = 500
"""At most so many feeds are enqueued by one slot; the next one goes on."""


@dataclass(frozen=True, slots=True)
class IngestProgress:
    """How far a walk over the feeds has come."""

    feeds: int
    tenant: str
    feed_id: str


class Ingest:
    """The task `brief.ingest`, and the door for people."""

    def __init__(self, tables: Tables, fetch: Task[[str], Any]) -> None:
        self._tables = tables
        self._fetch = fetch

    def run(self, ctx: Context) -> int:
        """Enqueue what is due, a page for each transaction, and return how many feeds that are."""
        total, after = 0, IngestProgress(0, "", "")
        for number in range(MOST_PAGES):
            after = ctx.commit(f"page:{number}", self._page, after)
            total += after.feeds
            if after.feeds < PAGE:
                break
        return total

    def by_hand(self, tenant: str) -> list[str]:
        """Enqueue the reading of all feeds of a tenant, due or not, and return the jobs that stand for them."""
        jobs: list[str] = []
        after = IngestProgress(0, "", "")
        for _ in range(MOST_PAGES):
            rows = self._rows(self._tables.read, after, tenant=tenant, due_only=False)
            calls = self._calls(rows)
            jobs += self._tables.transact(partial(_enqueue, calls=calls))
            if len(rows) < PAGE:
                break
            after = IngestProgress(len(rows), *rows[-1])
        return jobs

    def _page(self, tx: Tx, after: IngestProgress) -> IngestProgress:
        writing = self._tables.on(tx)
        rows = self._rows(writing.run, after, tenant=None, due_only=True)
        _enqueue(writing, self._calls(rows))
        return IngestProgress(len(rows), *rows[-1]) if rows else IngestProgress(0, after.tenant, after.feed_id)

    def _rows(self, run: Callable[..., Any], after: IngestProgress, **which: Any) -> list[tuple[str, str]]:
        return list(run("feeds.due", after_tenant=after.tenant, after_id=after.feed_id, limit=PAGE, **which))

    def _calls(self, rows: list[tuple[str, str]]) -> list[Call[Any]]:
        return [self._fetch.using(tenant=tenant).call(feed_id) for tenant, feed_id in rows]


def _enqueue(writing: Writing, calls: list[Call[Any]]) -> list[str]:
    """Their jobs: new ones, or those that stand for the feed already."""
    return [job.id for job in writing.enqueue(*calls)] if calls else []
