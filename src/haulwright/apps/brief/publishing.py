"""The job `daily_brief`: what came in since the last brief, as the brief of a day. A day has one, for ever."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from haulwright.apps.brief.compat import DAILY_BRIEF
from haulwright.apps.brief.document import make
from haulwright.apps.brief.ranking import NewsReport, ranked
from haulwright.client.context import Context
from haulwright.client.transaction import Tx
from haulwright.clock import Instant
from haulwright.engine.outcome import Skip
from haulwright.errors import InvalidValue, NotFound, Retryable
from haulwright.events import Event

if TYPE_CHECKING:
    from haulwright.application.tables import Tables
    from haulwright.apps.brief.feeds import FeedSubscriptions
    from haulwright.apps.brief.placing import Placing
    from haulwright.client.task import Task

BRIEF_PUBLISHED: Final = "brief.published"
MOST_ARTICLES: Final = 20_000
"""Of one brief, the newest; what is left over is news for the next."""
MOST_LISTED: Final = 1_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Published:
    """What a brief came to."""

    day: str
    events: int
    articles: int


@dataclass(frozen=True, slots=True)
class Listed:
    """A brief in a list."""

    day: str
    events: int
    articles: int
    published_at: Instant


class PublishingOfAll:
    """The task `brief.daily`, which looks for tenants with feeds."""

    def __init__(self, publishing: Publishing, feeds: FeedSubscriptions, publish: Task[[str], Any]) -> None:
        self._publishing = publishing
        self._feeds = feeds
        self._publish = publish

    def run(self, ctx: Context) -> int:
        """Enqueue the brief of the slot's day for each tenant that has feeds, and return how many those are."""
        slot = self._publishing.tables.read("runs.slot_of", schedule=DAILY_BRIEF, job_id=ctx.job.id)
        day = self._publishing.day_of(slot[0][0] if slot else ctx.store.now())
        return ctx.commit("tenants", self._enqueue, day, self._feeds.tenants())

    def _enqueue(self, tx: Tx, day: str, tenants: list[str]) -> int:
        calls = [self._publish.using(tenant=tenant).call(day) for tenant in tenants]
        return len(self._publishing.tables.on(tx).enqueue(*calls)) if calls else 0


class Publishing:
    """The task `brief.publish`, and what was published."""

    def __init__(self, tables: Tables, placing: Placing, *, tz: str, most_events: int) -> None:
        self.tables = tables
        self.most_events = most_events
        self._placing = placing
        self._tz = tz

    def run(self, ctx: Context, day: str) -> Published | Skip:
        """Publish the brief of a day; nothing where it has one already, or where there is no news."""
        tenant, version, tables = ctx.job.tenant, self._placing.version, self.tables
        newest = self.newest_day(tenant)
        if newest is not None and newest >= day:
            return Skip(f"the brief of {newest} is published")
        rows = tables.read("articles.news", tenant=tenant, version=version, limit=MOST_ARTICLES)[::-1]
        if not rows:
            return Skip("there is no news since the last brief")
        before: dict[str, int] = dict(tables.read("articles.told_before", tenant=tenant, version=version))
        events = ranked(((cluster, NewsReport(*report)) for cluster, *report in rows), before)
        content = make(day, events, most_events=self.most_events, now=ctx.store.now(), version=version)
        row = {
            "tenant": tenant,
            "day": day,
            "version": version,
            "document": json.dumps(content.document, ensure_ascii=False),
            "articles": len(rows),
            "events": len(events),
        }
        ids = sorted(row[1] for row in rows)
        articles = [{"article_id": article_id, "shown": article_id in content.shown} for article_id in ids]
        return ctx.commit("publish", self._write, row, articles, list(content.cited), settle=True)

    def _write(self, tx: Tx, row: dict[str, Any], articles: list[dict[str, Any]], cited: list[str]) -> Published:
        """The brief, what it cites, and what it told of, or nothing of all that."""
        writing, named = self.tables.on(tx), {"tenant": row["tenant"], "day": row["day"]}
        taken = writing.each("articles.brief", articles, **named)
        if not writing.run("briefs.publish", **row) or len(taken) < len(articles):
            raise Retryable("Another brief was published meanwhile.", after=1)
        writing.each("briefs.cite", [{"article_id": article_id} for article_id in cited], **named)
        published = Published(row["day"], row["events"], row["articles"])
        data = {"day": published.day, "events": published.events, "articles": published.articles}
        writing.record(Event(BRIEF_PUBLISHED, row["tenant"], data=data))
        return published

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
            hint = f"Publish one with: haulwright brief publish --tenant {tenant}"
            raise NotFound("brief", "yet" if day is None else f"of {day}", hint=hint)
        document: dict[str, Any] = json.loads(rows[0][1])
        return document

    def published(self, tenant: str, limit: int = MOST_LISTED) -> list[Listed]:
        """The briefs of a tenant, the newest first."""
        return [Listed(*row) for row in self.tables.read("briefs.list", tenant=tenant, limit=limit)]


def checked_day(day: str) -> str:
    """A day in its one form."""
    try:
        return date.fromisoformat(day).isoformat()
    except ValueError:
        raise InvalidValue("day", day, "is no day", hint="Write one such as 2026-05-01.") from None
