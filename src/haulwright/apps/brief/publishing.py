"""The job `daily_brief`: what came in since the last brief, as the brief of a day. A day has one that counts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from haulwright import Context, Retryable, Skip, Tx
from haulwright.apps.brief.compat import DAILY_BRIEF
from haulwright.apps.brief.document import build_brief
from haulwright.apps.brief.ranking import NewsReport, rank_events
from haulwright.apps.brief.run_results import TenantsResult, join_all, tenants_result
from haulwright.clock import Instant
from haulwright.errors import InvalidValue, NotFound
from haulwright.events import Event

if TYPE_CHECKING:
    from haulwright import Task
    from haulwright.application import Tables, Writing
    from haulwright.apps.brief.feeds import FeedSubscriptions
    from haulwright.apps.brief.placing import Placing

BRIEF_PUBLISHED: Final = "brief.published"
BRIEF_WITHDRAWN: Final = "brief.withdrawn"
MOST_ARTICLES: Final = 20_000
"""Of one brief, the newest; what is left over is news for the next."""
MOST_LISTED: Final = 1_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class PublishResult:
    """What a brief came to."""

    day: str
    events: int
    articles: int


@dataclass(frozen=True, slots=True)
class PublishedBrief:
    """A brief in a list."""

    day: str
    events: int
    articles: int
    published_at: Instant
    edition: int
    """2 where the first one was withdrawn, and so on."""


@dataclass(frozen=True, slots=True)
class WithdrawnBrief:
    """A brief that was taken back, and how many articles are news again."""

    day: str
    edition: int
    articles: int


class PublishingOfAll:
    """The task `brief.daily`, which looks for tenants with feeds."""

    def __init__(self, publishing: Publishing, feeds: FeedSubscriptions, publish: Task[[str], Any]) -> None:
        self._publishing = publishing
        self._feeds = feeds
        self._publish = publish

    def run(self, ctx: Context) -> TenantsResult:
        """Have the brief of the slot's day published for each tenant that has feeds, and wait for it."""
        job_ids = ctx.commit(f"tenants:{ctx.job.id}", self._enqueue, ctx.job.id)
        return tenants_result(join_all(ctx, job_ids), rows_of="articles")

    def _enqueue(self, tx: Tx, job_id: str) -> list[str]:
        writing = self._publishing.tables.on(tx)
        slot = writing.run("runs.slot_of", schedule=DAILY_BRIEF, job_id=job_id) or writing.run("runs.now")
        day = self._publishing.day_of(slot[0][0])
        calls = [self._publish.using(tenant=tenant).call(day) for tenant in self._feeds.tenants(writing.run)]
        return [job.id for job in writing.enqueue(*calls)] if calls else []


class Publishing:
    """The task `brief.publish`, and what was published."""

    def __init__(self, tables: Tables, placing: Placing, *, tz: str, most_events: int) -> None:
        self.tables = tables
        self.most_events = most_events
        self._placing = placing
        self._tz = tz

    def run(self, ctx: Context, day: str) -> PublishResult | Skip:
        """Publish the brief of a day; nothing where it has one already, or where there is no news."""
        tenant, version, tables = ctx.job.tenant, self._placing.version, self.tables
        newest = self.newest_day(tenant)
        if newest is not None and newest >= day:
            return Skip(f"the brief of {newest} is published")
        rows = tables.read("articles.news", tenant=tenant, version=version, limit=MOST_ARTICLES)[::-1]
        if not rows:
            return Skip("there is no news since the last brief")
        before: dict[str, int] = dict(tables.read("articles.told_before", tenant=tenant, version=version))
        events = rank_events(((cluster, NewsReport(*report)) for cluster, *report in rows), before)
        draft = build_brief(day, events, most_events=self.most_events, now=ctx.store.now(), version=version)
        row = {
            "tenant": tenant,
            "day": day,
            "version": version,
            "document": json.dumps(draft.document, ensure_ascii=False),
            "articles": len(rows),
            "events": len(events),
        }
        ids = sorted(row[1] for row in rows)
        articles = [{"article_id": article_id, "shown": article_id in draft.shown_ids} for article_id in ids]
        return ctx.commit("publish", self._write, row, articles, list(draft.cited_ids), settle=True)

    def _write(
        self, tx: Tx, row: dict[str, Any], articles: list[dict[str, Any]], cited_ids: list[str]
    ) -> PublishResult:
        """The brief, what it cites, and what it told of, or nothing of all that."""
        writing, brief_key = self.tables.on(tx), {"tenant": row["tenant"], "day": row["day"]}
        news_rows = writing.each("articles.brief", articles, **brief_key)
        published = writing.run("briefs.publish", **row)
        if not published or len(news_rows) < len(articles):
            raise Retryable("Another brief was published meanwhile.", after=1)
        edition: int = published[0][0]
        cited = [{"article_id": article_id} for article_id in cited_ids]
        writing.each("briefs.cite", cited, edition=edition, **brief_key)
        result = PublishResult(row["day"], row["events"], row["articles"])
        data = {"day": result.day, "edition": edition, "events": result.events, "articles": result.articles}
        writing.record(Event(BRIEF_PUBLISHED, row["tenant"], data=data))
        return result

    def withdraw(self, tenant: str, day: str, *, actor: str, reason: str) -> WithdrawnBrief:
        """Take the newest brief back. It is kept, and does not count; its articles are news again."""

        def work(writing: Writing) -> WithdrawnBrief:
            newest = writing.run("briefs.newest", tenant=tenant)
            if not newest or newest[0][0] < day:
                raise _absent(tenant, day)
            newest_day, _, _, edition, events, articles = newest[0]
            if newest_day != day:
                hint = f"Its articles would be told of after those of later days. Withdraw that of {newest_day} first."
                raise InvalidValue("day", day, f"is before the newest brief, of {newest_day}", hint=hint)
            if not writing.run("briefs.withdraw", tenant=tenant, day=day, edition=edition, actor=actor, reason=reason):
                raise _absent(tenant, day)
            writing.run("articles.unbrief", tenant=tenant, day=day)
            data = {"day": day, "edition": edition, "events": events, "articles": articles, "reason": reason}
            writing.record(Event(BRIEF_WITHDRAWN, tenant, actor=actor, data=data))
            return WithdrawnBrief(day, edition, articles)

        return self.tables.transact(work)

    def day_of(self, instant: Instant) -> str:
        """The day that a moment belongs to."""
        moment = _EPOCH + timedelta(microseconds=instant)
        return moment.astimezone(ZoneInfo(self._tz)).date().isoformat()

    def newest_day(self, tenant: str) -> str | None:
        """The day of the newest brief of a tenant."""
        rows = self.tables.read("briefs.newest", tenant=tenant)
        return rows[0][0] if rows else None

    def get(self, tenant: str, day: str | None = None) -> dict[str, Any]:
        """The document of a brief: of a day, or the newest."""
        if day is None:
            rows = self.tables.read("briefs.newest", tenant=tenant)
        else:
            rows = self.tables.read("briefs.get", tenant=tenant, day=checked_day(day))
        if not rows:
            raise _absent(tenant, day)
        document: dict[str, Any] = json.loads(rows[0][1])
        return document

    def beside(self, tenant: str, day: str) -> tuple[str | None, str | None]:
        """The days of the briefs before and after a day; None where there is none."""
        ((before, after),) = self.tables.read("briefs.beside", tenant=tenant, day=checked_day(day))
        return before, after

    def briefs(self, tenant: str, limit: int = MOST_LISTED) -> list[PublishedBrief]:
        """The briefs of a tenant, the newest first."""
        return [PublishedBrief(*row) for row in self.tables.read("briefs.list", tenant=tenant, limit=limit)]


def _absent(tenant: str, day: str | None) -> NotFound:
    hint = f"Publish one with: haulwright brief publish --tenant {tenant}"
    return NotFound("brief", "yet" if day is None else f"of {day}", hint=hint)


def checked_day(day: str) -> str:
    """A day in its one form."""
    try:
        return date.fromisoformat(day).isoformat()
    except ValueError:
        raise InvalidValue("day", day, "is no day", hint="Write one such as 2026-05-01.") from None
