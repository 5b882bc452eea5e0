"""The job `event_clustering`: new articles join the event that they are about, or begin one.

Articles are placed one after another in a fixed order, a batch for each transaction. What clustering has to know of
those before, also how often each word stood in them, is restored from their stored signatures. These are written with
the links themselves: no other state could come apart from them, and after a crash it goes on as if there had been none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from haulwright import Context, Retryable, Skip, Tx
from haulwright.apps.brief.clustering import VERSION, Article, Clustering
from haulwright.apps.brief.run_results import TenantsResult, join_all, tenants_result
from haulwright.clock import SECOND, Instant

if TYPE_CHECKING:
    from haulwright import Task
    from haulwright.application import Tables

BATCH: Final = 200
MOST_BATCHES: Final = 500
"""At most so many are placed by one job; the next one goes on."""
PAGE: Final = 2_000
MOST_REMEMBERED: Final = 500_000
MOST_TENANTS: Final = 10_000
DAY_US: Final = 86_400 * SECOND
WINDOW_DAYS: Final = 14
"""How many days before the newest article are remembered: twice as far as an article may be from its event."""


class PlacingOfAll:
    """The task `brief.cluster`, which looks for tenants with new articles."""

    def __init__(self, placing: Placing, place: Task[[str], Any]) -> None:
        self._placing = placing
        self._place = place

    def run(self, ctx: Context) -> TenantsResult:
        """Have the new articles of each tenant placed, wait for it, and return how many those are."""
        return tenants_result(join_all(ctx, ctx.commit(f"tenants:{ctx.job.id}", self._enqueue)))

    def _enqueue(self, tx: Tx) -> list[str]:
        writing = self._placing.tables.on(tx)
        tenants = self._placing.waiting(writing.run)
        calls = [self._place.using(tenant=tenant).call(self._placing.version) for tenant in tenants]
        return [job.id for job in writing.enqueue(*calls)] if calls else []


class Placing:
    """The task `brief.place`, which places the new articles of a tenant."""

    def __init__(self, tables: Tables, version: str = VERSION) -> None:
        self.tables = tables
        self.version = version

    def waiting(self, run: Callable[..., Any] | None = None) -> list[str]:
        """The tenants that have articles which this version has not placed; `run` is an open transaction's."""
        page = {"version": self.version, "after": "", "limit": MOST_TENANTS}
        return [tenant for (tenant,) in (run or self.tables.read)("articles.tenants_with_unplaced", **page)]

    def run(self, ctx: Context, version: str) -> int | Skip:
        """Place the new articles of a tenant in batches, and return how many that were."""
        if version != self.version:
            return Skip(f"this worker clusters by version {self.version}")
        window = _Window(self.tables, ctx.job.tenant, version)
        placed = 0
        for _ in range(MOST_BATCHES):
            rows = self.tables.read("articles.unplaced", tenant=ctx.job.tenant, version=version, limit=BATCH)
            if not rows:
                break
            links = [window.place(*row) for row in rows]
            first = links[0]["place"]
            placed += ctx.commit(f"after:{first}", self._write, ctx.job.tenant, version, links, key=str(first))
            if len(rows) < BATCH:
                break
        return placed

    def _write(self, tx: Tx, tenant: str, version: str, links: Sequence[dict[str, Any]]) -> int:
        """Write a batch, if nobody else placed anything since it was thought out."""
        writing = self.tables.on(tx)
        ((last, _),) = writing.run("links.last", tenant=tenant, version=version)
        if last != links[0]["place"] - 1:
            raise Retryable("Somebody else placed articles meanwhile.", after=1)
        writing.each("links.add", links, tenant=tenant, version=version)
        writing.each(
            "articles.placed", [{"article_id": link["article_id"]} for link in links], tenant=tenant, version=version
        )
        return len(links)


class _Window:
    """What clustering knows: the articles of the last days, in the order in which they were placed."""

    def __init__(self, tables: Tables, tenant: str, version: str) -> None:
        self._clustering = Clustering(version)
        ((self._last, newest),) = tables.read("links.last", tenant=tenant, version=version)
        self._newest: Instant = newest or 0
        self._since = _first(self._newest)
        after = 0
        for _ in range(MOST_REMEMBERED // PAGE):
            page = {"tenant": tenant, "version": version, "since": self._since, "after": after}
            rows = tables.read("links.window", **page, limit=PAGE)
            for article_id, stored_signature, cluster, at, place in rows:
                self._clustering.remember(article_id, stored_signature, cluster, at)
                after = place
            if len(rows) < PAGE:
                break

    def place(self, article_id: str, title: str, text: str, at: Instant) -> dict[str, Any]:
        """The link of the next article. One that is older than the window is no news, and stands alone.

        The window moves by whole days, wherever a batch ends: what is remembered follows from what was placed.
        """
        article = Article(article_id, text, title, at)
        placement = (self._clustering if at >= self._since else Clustering(self._clustering.version)).place(article)
        self._newest, self._last = max(self._newest, at), self._last + 1
        if _first(self._newest) > self._since:
            self._since = _first(self._newest)
            self._clustering.forget_before(self._since)
        return {
            "article_id": article_id,
            "cluster_id": placement.cluster,
            "place": self._last,
            "at": at,
            "signature": placement.signature,
            "similarity": placement.similarity,
            "nearest": placement.nearest,
            "duplicate_of": placement.duplicate_of,
        }


def _first(newest: Instant) -> Instant:
    """From when on articles matter, once this one is the newest."""
    return newest // DAY_US * DAY_US - WINDOW_DAYS * DAY_US
