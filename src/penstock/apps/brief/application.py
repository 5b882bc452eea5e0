"""The brief on an app: its tasks, its schedules, and the doors for people and programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from penstock.apps.application import Application
from penstock.apps.brief.feeds import Feed, Feeds
from penstock.apps.brief.fetching import Fetching
from penstock.apps.brief.figures import Figures
from penstock.apps.brief.ingest import Ingest
from penstock.apps.brief.opml import read_opml
from penstock.apps.brief.placing import Placing
from penstock.apps.brief.publishing import Publishing, checked_day
from penstock.apps.brief.retention import Retention
from penstock.apps.brief.sites import Sites
from penstock.apps.brief.vocabulary import DAILY_BRIEF, EVENT_CLUSTERING, JOBS, RETENTION_CLEANUP, RSS_INGESTION
from penstock.client.task import Task
from penstock.engine.retry import BRIEF
from penstock.errors import Conflict, InvalidValue

if TYPE_CHECKING:
    from penstock.client.app import Penstock
    from penstock.client.handle import Handle

QUEUE: Final = "brief"


class Brief(Application):
    """Feeds, articles, events and briefs. Every call names the tenant: what belongs to another one does not exist."""

    name: ClassVar[str] = "brief"

    def __init__(self, app: Penstock, *, figures: Figures | None = None) -> None:
        super().__init__(app)
        self.figures = figures or Figures.load()
        self.feeds = Feeds(self.tables, self.figures.policy)
        self.sites = Sites(app, self.figures)
        self.placing = Placing(self)
        self.publishing = Publishing(self)
        self.retention = Retention(self)
        self._ingest = Ingest(self)
        self._declare_tasks()
        self._declare_schedules()

    def _declare_tasks(self) -> None:
        def declare(name: str, **more: Any) -> Any:
            return self.app.task(name=f"brief.{name}", queue=QUEUE, retry=BRIEF, **more)

        self.fetch_task: Task[[str], Any] = declare(
            "fetch", unique="feed_id", timeout="110 s", deadline="1 day",
            facts=("feed_id", "outcome", "entries", "new", "edited"),
        )(Fetching(self).run)  # fmt: skip
        self.place_task: Task[[str], Any] = declare("place", unique="version", lease="10 min")(self.placing.run)
        self.publish_task: Task[[str], Any] = declare(
            "publish", unique="day", lease="10 min", facts=("day", "events", "articles")
        )(self.publishing.run)
        self.ingest_task: Task[[], Any] = declare("ingest", priority=20)(self._ingest.run)
        self.cluster_task: Task[[], Any] = declare("cluster", priority=10)(self.placing.run_all)
        self.daily_task: Task[[], Any] = declare("daily", priority=10)(self.publishing.run_all)
        self.retain_task: Task[[], Any] = declare("retain", lease="10 min", facts=("brief_articles", "brief_links"))(
            self.retention.run
        )

    def _declare_schedules(self) -> None:
        figures = self.figures
        for name, cron, task in (
            (RSS_INGESTION, figures.ingest_cron, self.ingest_task),
            (EVENT_CLUSTERING, figures.cluster_cron, self.cluster_task),
            (RETENTION_CLEANUP, figures.retention_cron, self.retain_task),
            (DAILY_BRIEF, figures.cron, self.daily_task),
        ):
            self.app.schedule(name, cron, task, **JOBS[name].schedule(tz=figures.tz, attempts=figures.attempts))

    def add(self, tenant: str, url: str, **said: Any) -> Feed:
        """Have a feed read from now on: the words are those of `Feeds.add`."""
        return self.feeds.add(tenant, url, **said)

    def import_opml(self, tenant: str, body: bytes, *, actor: str = "app") -> list[tuple[str, Feed | str]]:
        """Add the feeds of a list: each address with its feed, or with why it was not added. The rest goes on."""
        made: list[tuple[str, Feed | str]] = []
        for outline in read_opml(body):
            try:
                made.append((outline.url, self.feeds.add(tenant, outline.url, name=outline.name, actor=actor)))
            except (InvalidValue, Conflict) as refusal:
                made.append((outline.url, str(refusal.message)))
        return made

    def ingest(self, tenant: str) -> list[str]:
        """Enqueue the reading of all feeds of a tenant, and return the jobs."""
        return self._ingest.by_hand(tenant)

    def cluster(self, tenant: str | None = None) -> list[Handle[Any]]:
        """Enqueue the placing of new articles, of one tenant or of all that have some."""
        wanted = self.placing.waiting() if tenant is None else [tenant]
        return [self.place_task.using(tenant=one).enqueue(self.placing.version) for one in wanted]

    def publish(self, tenant: str, day: str | None = None) -> Handle[Any]:
        """Enqueue the brief of a day, of today where none is said. A day before the newest brief is refused."""
        today = self.publishing.day_of(self.app.store.now())
        wanted = today if day is None else checked_day(day)
        newest = self.publishing.newest_day(tenant)
        if wanted > today:
            raise InvalidValue("day", wanted, "is in the future", hint=f"Today is {today}.")
        if newest is not None and wanted < newest:
            raise InvalidValue("day", wanted, f"is before the newest brief, of {newest}")
        return self.publish_task.using(tenant=tenant).enqueue(wanted)

    def retain(self) -> Handle[Any]:
        """Enqueue the removal of what is old."""
        return self.retain_task.enqueue()
