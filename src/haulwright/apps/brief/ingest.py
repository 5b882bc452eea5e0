"""The job `rss_ingestion`: have every feed read that may be asked now, each by a job of its own, and wait for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from haulwright import Context, Tx
from haulwright.apps.brief.run_results import IngestResult, ingest_result, join_all
from haulwright.clock import SECOND, Instant

if TYPE_CHECKING:
    from haulwright import Task
    from haulwright.application import Tables, Writing
    from haulwright.client.task import Call

PAGE: Final = 200
MOST_PAGES: Final = 500
"""At most so many feeds are enqueued by one slot; the next one goes on."""


@dataclass(frozen=True, slots=True)
class FeedPage:
    """Some feeds whose reading was enqueued."""

    job_ids: list[str] = field(default_factory=list)
    tenant: str = ""
    feed_id: str = ""
    """The last of them: where the next page begins."""
    at: Instant = 0
    """When they were enqueued."""


class Ingest:
    """The task `brief.ingest`, and the door for people."""

    def __init__(self, tables: Tables, fetch: Task[[str], Any], longest_seconds: float) -> None:
        self._tables = tables
        self._fetch = fetch
        self._longest_us = round(longest_seconds * SECOND)

    def run(self, ctx: Context) -> IngestResult:
        """Enqueue what is due, a page for each transaction, wait for it, and return what it came to.

        A host that wants to be left alone for hours holds up nobody: after its longest time the run ends without it.
        """
        pages: list[FeedPage] = []
        for number in range(MOST_PAGES):
            # With the id of the job, for one that was requeued looks anew for what is due.
            pages.append(ctx.commit(f"page:{ctx.job.id}:{number}", self._page, pages[-1] if pages else FeedPage()))
            if len(pages[-1].job_ids) < PAGE:
                break
        job_ids = [job_id for page in pages for job_id in page.job_ids]
        return ingest_result(join_all(ctx, job_ids, until=pages[0].at + self._longest_us))

    def by_hand(self, tenant: str) -> list[str]:
        """Enqueue the reading of all feeds of a tenant, due or not, and return the jobs that stand for them."""
        jobs: list[str] = []
        after = FeedPage()
        for _ in range(MOST_PAGES):
            rows = self._rows(self._tables.read, after, tenant=tenant, due_only=False)
            calls = self._calls(rows)
            jobs += self._tables.transact(partial(_enqueue, calls=calls))
            if len(rows) < PAGE:
                break
            after = FeedPage([], *rows[-1])
        return jobs

    def _page(self, tx: Tx, after: FeedPage) -> FeedPage:
        writing = self._tables.on(tx)
        rows = self._rows(writing.run, after, tenant=None, due_only=True)
        ((now,),) = writing.run("runs.now")
        return FeedPage(_enqueue(writing, self._calls(rows)), *(rows[-1] if rows else ("", "")), now)

    def _rows(self, run: Callable[..., Any], after: FeedPage, **which: Any) -> list[tuple[str, str]]:
        return list(run("feeds.due", after_tenant=after.tenant, after_id=after.feed_id, limit=PAGE, **which))

    def _calls(self, rows: list[tuple[str, str]]) -> list[Call[Any]]:
        return [self._fetch.using(tenant=tenant).call(feed_id) for tenant, feed_id in rows]


def _enqueue(writing: Writing, calls: list[Call[Any]]) -> list[str]:
    """Their jobs: new ones, or those that stand for the feed already."""
    return [job.id for job in writing.enqueue(*calls)] if calls else []
