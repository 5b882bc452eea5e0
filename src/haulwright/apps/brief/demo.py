"""Eight papers: every article once, gathered into events, told as the brief of the day."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Final

from haulwright import Handle
from haulwright.application.scenario import Act, Check, Reached
from haulwright.apps.brief.application import Brief
from haulwright.sandbox import Sandbox

PAPERS: Final = (
    "harbour-times", "northern-post", "daily-ledger", "metro-wire", "civic-radio", "the-lantern", "evening-star",
    "open-courier",
)  # fmt: skip

WEEK_SECONDS: Final = 7 * 86_400


class BriefAct(Act):
    """Feeds are read, articles clustered, and the brief published, one after the other."""

    name: ClassVar[str] = "brief"
    promise: ClassVar[str] = "eight feeds become articles, events and the brief of the day"

    @staticmethod
    def environment(sandbox: Sandbox, folder: Path) -> Mapping[str, str]:  # noqa: ARG004 - as the class above says
        """Polite figures are for other people's servers: here nobody has a minute to wait."""
        return {
            "HAULWRIGHT_BRIEF_PRIVATE_HOSTS": "127.0.0.1",
            "HAULWRIGHT_BRIEF_FEED_RATE": "1200/min",
        }

    def begin(self) -> None:
        """Add the feeds, and ask for all of them."""
        self._brief = Brief.on(self.world.app)
        for paper in PAPERS:
            self._brief.add(self.world.principal, f"{self.world.sandbox.url}/feeds/{paper}.xml", name=paper)
        self._jobs = self._brief.ingest(self.world.principal)
        self._clustering: list[Handle[object]] = []
        self._publishing: list[Handle[object]] = []

    def look(self) -> Reached:
        """Feeds that are read, then the clustering, then the brief."""
        read = self.world.ended(self._jobs)
        if read == len(self._jobs) and not self._clustering:
            self._clustering = self._brief.cluster(self.world.principal)
        placed = self._ended(self._clustering)
        if placed and not self._publishing:
            self._publishing = [self._brief.publish(self.world.principal)]
        return Reached(read + placed + self._ended(self._publishing), len(self._jobs) + 2)

    def _ended(self, handles: list[Handle[object]]) -> bool:
        return bool(handles) and self.world.ended(handle.id for handle in handles) == len(handles)

    def checks(self) -> list[Check]:
        """No article twice, each in one event, each event about one story, and a brief."""
        ((articles, links),) = self.world.rows(
            "select count(*), count(distinct link) from brief_articles where tenant = {tenant}"
        )
        ((placed, events),) = self.world.rows(
            "select count(*), count(distinct cluster_id) from brief_links where tenant = {tenant}"
        )
        briefs = self._brief.list_briefs(self.world.principal)
        summary = f"{briefs[0].events} events of {briefs[0].articles} articles" if briefs else "none"
        return [
            Check("brief: articles, none twice", str(articles), 0 < articles == links),
            Check("brief: events, each article in one", str(events), events > 0 and placed == articles),
            self._purity(),
            Check("brief: the brief of the day", summary, len(briefs) == 1),
        ]

    def _purity(self) -> Check:
        """Whether every event has reports of one story alone: the sandbox knows what each of its articles is about."""
        rows = self.world.rows(
            "select l.cluster_id, a.link from brief_links l join brief_articles a on a.tenant = l.tenant "
            "and a.id = l.article_id where l.tenant = {tenant}"
        )
        sandbox = self.world.sandbox
        published = sandbox.feeds.articles(sandbox.clock.now() - 2 * WEEK_SECONDS)  # feeds have those of one week
        stories = {article.id: article.event for article in published}
        told: dict[str, set[str | None]] = {}
        for cluster, link in rows:
            told.setdefault(cluster, set()).add(stories.get(link.rpartition("/")[2]))
        pure = sum(len(of_cluster) == 1 and None not in of_cluster for of_cluster in told.values())
        return Check("brief: events about one story each", f"{pure} of {len(told)}", 0 < pure == len(told))

    def commands(self) -> list[str]:
        """The brief, as people read it."""
        return [f"brief show --tenant {self.world.tenant}"]


ACT: Final = BriefAct
