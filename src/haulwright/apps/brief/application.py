"""The brief on an app: its tasks, its schedules, and the doors for people and programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Final

from haulwright import Task
from haulwright.application import Application, verb
from haulwright.application.private_hosts import policy_of
from haulwright.apps.brief import SPEC
from haulwright.apps.brief.compat import (
    DAILY_BRIEF,
    EVENT_CLUSTERING,
    RETENTION_CLEANUP,
    RSS_INGESTION,
    ScheduleRun,
    job_runs,
    max_runtime_threshold,
)
from haulwright.apps.brief.feeds import FeedSubscription, FeedSubscriptions
from haulwright.apps.brief.fetching import FetchFeeds
from haulwright.apps.brief.ingest import Ingest
from haulwright.apps.brief.opml import read_opml
from haulwright.apps.brief.placing import Placing, PlacingOfAll
from haulwright.apps.brief.publishing import (
    MOST_LISTED,
    PublishedBrief,
    Publishing,
    PublishingOfAll,
    WithdrawnBrief,
    checked_day,
)
from haulwright.apps.brief.retention import RemovalCounts, Retention
from haulwright.apps.brief.run_lines import RunLines
from haulwright.apps.brief.settings import BriefSettings
from haulwright.apps.brief.sites import Sites
from haulwright.errors import Conflict, InvalidValue
from haulwright.operations.access import EVERYBODY, INSTALLATION, SUPPORT
from haulwright.stores.paging import Page

if TYPE_CHECKING:
    from haulwright import Handle, Haulwright, Principal

QUEUE: Final = "brief"


class Brief(Application):
    """Feeds, articles, events and briefs. Who asks says for which tenant: what belongs to another does not exist."""

    spec = SPEC
    verbs: ClassVar = {
        "brief.read": EVERYBODY,
        "brief.change": EVERYBODY,
        "brief.work": EVERYBODY,
        "brief.withdraw": SUPPORT,
        "brief.retain": INSTALLATION,
        "brief.runs": INSTALLATION,
    }

    def __init__(self, app: Haulwright, *, figures: BriefSettings | None = None) -> None:
        super().__init__(app)
        self.figures = figures or BriefSettings.load()
        self.feeds = FeedSubscriptions(self.tables, policy_of(self.figures.private_hosts))
        self.sites = Sites(app, self.figures)
        self.placing = Placing(self.tables)
        self.publishing = Publishing(self.tables, self.placing, tz=self.figures.tz, most_events=self.figures.events)
        self.retention = Retention(self.tables, self.figures.keep_articles_seconds)
        self._declare_tasks()
        self._declare_schedules()

    def _declare_tasks(self) -> None:
        def declare(name: str, job_name: str, **more: Any) -> Any:
            return self.task(name=f"brief.{name}", queue=QUEUE, retry=self.figures.retry(job_name), **more)

        self.fetch_task: Task[[str], Any] = declare(
            "fetch", RSS_INGESTION, unique="feed_id", timeout="110 s", deadline="1 day",
            event_fields=("feed_id", "outcome", "entries", "new", "edited", "repeated", "refused"),
        )(FetchFeeds(self.tables, self.feeds, self.sites).run)  # fmt: skip
        self.place_task: Task[[str], Any] = declare("place", EVENT_CLUSTERING, unique="version", lease="10 min")(
            self.placing.run
        )
        self.publish_task: Task[[str], Any] = declare(
            "publish", DAILY_BRIEF, unique="day", lease="10 min", event_fields=("day", "events", "articles")
        )(self.publishing.run)
        longest = max_runtime_threshold(self.figures.ingest_expected_runtime_seconds)
        self._ingest = Ingest(self.tables, self.fetch_task, longest)
        placing_of_all = PlacingOfAll(self.placing, self.place_task)
        publishing_of_all = PublishingOfAll(self.publishing, self.feeds, self.publish_task)
        self.ingest_task: Task[[], Any] = declare(
            "ingest", RSS_INGESTION, priority=20, event_fields=("rows", "feeds", "failed", "waiting", "new", "edited")
        )(self._ingest.run)
        counts = ("rows", "tenants")
        self.cluster_task: Task[[], Any] = declare("cluster", EVENT_CLUSTERING, priority=10, event_fields=counts)(
            placing_of_all.run
        )
        self.daily_task: Task[[], Any] = declare("daily", DAILY_BRIEF, priority=10, event_fields=counts)(
            publishing_of_all.run
        )
        self.retain_task: Task[[], Any] = declare(
            "retain", RETENTION_CLEANUP, lease="10 min", event_fields=("rows", "brief_articles", "brief_links")
        )(self.retention.run)

    def _declare_schedules(self) -> None:
        figures = self.figures
        scheduled = (
            (RSS_INGESTION, figures.ingest_cron, self.ingest_task),
            (EVENT_CLUSTERING, figures.cluster_cron, self.cluster_task),
            (RETENTION_CLEANUP, figures.retention_cron, self.retain_task),
            (DAILY_BRIEF, figures.cron, self.daily_task),
        )
        for name, cron, task in scheduled:
            options = figures.job_options(name).schedule(tz=figures.tz, attempts=figures.retry(name).attempts)
            self.app.schedule(name, cron, task, **options)
        self.app.observe(RunLines({task.name: name for name, _, task in scheduled}))

    @verb("brief.change")
    def add(
        self, principal: Principal, url: str, *, name: str | None = None, weight: float = 1.0, enabled: bool = True
    ) -> FeedSubscription:
        """Have a feed read from now on. What cannot work is refused before anything is written."""
        options: dict[str, Any] = {"name": name, "weight": weight, "enabled": enabled}
        return self.feeds.add(principal.acting_tenant, url, actor=principal.actor, **options)

    @verb("brief.change")
    def import_opml(self, principal: Principal, body: bytes) -> list[tuple[str, FeedSubscription | str]]:
        """Add the feeds of a list: each address with its feed, or with why it was not added. The rest goes on."""
        added: list[tuple[str, FeedSubscription | str]] = []
        for outline in read_opml(body):
            try:
                added.append((outline.url, self.add(principal, outline.url, name=outline.name)))
            except (InvalidValue, Conflict) as refusal:
                added.append((outline.url, str(refusal.message)))
        return added

    @verb("brief.change")
    def change_feed(
        self,
        principal: Principal,
        feed_id: str,
        *,
        name: str | None = None,
        weight: float | None = None,
        enabled: bool | None = None,
    ) -> FeedSubscription:
        """Change what is said of a feed; it may be asked again at once."""
        options: dict[str, Any] = {"name": name, "weight": weight, "enabled": enabled}
        return self.feeds.change(principal.acting_tenant, feed_id, actor=principal.actor, **options)

    @verb("brief.change")
    def remove_feed(self, principal: Principal, feed_id: str) -> None:
        """Read a feed no more, and forget it. Its articles stay, and its address may be added again."""
        self.feeds.remove(principal.acting_tenant, feed_id, actor=principal.actor)

    @verb("brief.read")
    def list_feeds(self, principal: Principal) -> Iterator[FeedSubscription]:
        """The feeds of a tenant, or of all."""
        return self.feeds.all(principal.tenant)

    @verb("brief.read")
    def page_feeds(self, principal: Principal, *, after: str | None = None, limit: int = 50) -> Page[FeedSubscription]:
        """The same, a page at a time."""
        return self.feeds.page(principal.tenant, after=after, limit=limit)

    @verb("brief.read")
    def get_feed(self, principal: Principal, feed_id: str) -> FeedSubscription:
        """One feed. That of another tenant looks exactly like an absent one."""
        return self.feeds.get(principal.acting_tenant, feed_id)

    @verb("brief.work")
    def ingest(self, principal: Principal) -> list[str]:
        """Enqueue the reading of all feeds of a tenant, and return the jobs."""
        return self._ingest.by_hand(principal.acting_tenant)

    @verb("brief.work")
    def cluster(self, principal: Principal) -> list[Handle[Any]]:
        """Enqueue the placing of new articles, of one tenant or of all that have some."""
        tenants = self.placing.waiting() if principal.tenant is None else [principal.tenant]
        return [self.place_task.using(tenant=tenant).enqueue(self.placing.version) for tenant in tenants]

    @verb("brief.work")
    def publish(self, principal: Principal, day: str | None = None) -> Handle[Any]:
        """Enqueue the brief of a day, of today where none is said. A day before the newest brief is refused."""
        today = self.publishing.day_of(self.app.store.now())
        brief_day = today if day is None else checked_day(day)
        newest = self.publishing.newest_day(principal.acting_tenant)
        if brief_day > today:
            raise InvalidValue("day", brief_day, "is in the future", hint=f"Today is {today}.")
        if newest is not None and brief_day < newest:
            raise InvalidValue("day", brief_day, f"is before the newest brief, of {newest}")
        return self.publish_task.using(tenant=principal.acting_tenant).enqueue(brief_day)

    @verb("brief.withdraw")
    def withdraw(self, principal: Principal, day: str) -> WithdrawnBrief:
        """Take the newest brief back, so that its day can be published anew. Who did it and why is recorded."""
        by = {"actor": principal.actor, "reason": principal.reason}
        return self.publishing.withdraw(principal.acting_tenant, checked_day(day), **by)

    @verb("brief.read")
    def list_briefs(self, principal: Principal, limit: int = MOST_LISTED) -> list[PublishedBrief]:
        """The briefs of a tenant, the newest first."""
        return self.publishing.briefs(principal.acting_tenant, limit)

    @verb("brief.read")
    def newest_day(self, principal: Principal) -> str | None:
        """The day of the newest brief of a tenant."""
        return self.publishing.newest_day(principal.acting_tenant)

    @verb("brief.read")
    def days_beside(self, principal: Principal, day: str) -> tuple[str | None, str | None]:
        """The days of the briefs before and after a day; None where there is none."""
        return self.publishing.beside(principal.acting_tenant, day)

    @verb("brief.read")
    def get_brief(self, principal: Principal, day: str | None = None) -> dict[str, Any]:
        """The document of a brief: of a day, or the newest."""
        return self.publishing.get(principal.acting_tenant, day)

    @verb("brief.retain")
    def retain(self, principal: Principal) -> Handle[Any]:  # noqa: ARG002 - old articles of all tenants go
        """Enqueue the removal of what is old."""
        return self.retain_task.enqueue()

    @verb("brief.retain")
    def would_remove(self, principal: Principal) -> RemovalCounts:  # noqa: ARG002 - as above
        """What that would remove now. Nothing is written."""
        return self.retention.would_remove()

    @verb("brief.runs")
    def list_runs(self, principal: Principal, job: str | None = None, limit: int = 100) -> list[ScheduleRun]:  # noqa: ARG002 - schedules are nobody's own
        """The newest runs of the scheduled jobs, in the words of job_runs."""
        return job_runs(self.app, job, limit)
