"""Feeds of tenants: where they are, what they are called, how much they count, and how they have been lately."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import urlsplit

from haulwright.application.private_hosts import require_public
from haulwright.clock import Instant
from haulwright.engine.names import check_name
from haulwright.errors import Conflict, InvalidValue, NotFound
from haulwright.events import Event
from haulwright.redaction import redact
from haulwright.sources.http import Policy
from haulwright.sources.tools.urls import canonical_url
from haulwright.stores.paging import Page, check_page, cursor_of, page_of, read_cursor

if TYPE_CHECKING:
    from haulwright.application import Tables, Writing
    from haulwright.stores.connection import Row

FEED_ADDED: Final = "feed.added"
FEED_CHANGED: Final = "feed.changed"
FEED_REMOVED: Final = "feed.removed"
PAGE: Final = 500
MOST_PAGES: Final = 200
MOST_TENANTS: Final = 10_000
LONGEST_URL_CHARS: Final = 2_000
HEAVIEST: Final = 100.0
ID_CHARS: Final = 16


@dataclass(frozen=True, slots=True)
class FeedSubscription:
    """A feed as it stands."""

    tenant: str
    id: str
    url: str
    name: str
    weight: float
    """How much its reports count when events are ranked; 1 is usual."""
    enabled: bool
    due_at: Instant
    """It is not asked again before."""
    etag: str | None
    last_modified: str | None
    body_hash: str | None
    format: str | None
    warnings: tuple[str, ...]
    """What was wrong with the last body, and how it was read."""
    checked_at: Instant | None
    changed_at: Instant | None
    failures: int
    """In a row."""
    last_error: str | None
    last_failed_at: Instant | None

    @classmethod
    def of(cls, row: Row) -> Self:
        """Read a row."""
        values = dict(zip(cls.__slots__, row, strict=True))
        values["enabled"], values["warnings"] = bool(values["enabled"]), tuple(json.loads(values["warnings"]))
        return cls(**values)


class FeedSubscriptions:
    """The feeds of all tenants. Every read names its tenant."""

    def __init__(self, tables: Tables, policy: Policy) -> None:
        self._tables = tables
        self._policy = policy

    def add(  # noqa: PLR0913 - what a feed consists of, each with a name
        self,
        tenant: str,
        url: str,
        *,
        name: str | None = None,
        weight: float = 1.0,
        enabled: bool = True,
        actor: str = "app",
    ) -> FeedSubscription:
        """Have a feed read from now on. What cannot work is refused before anything is written."""
        address = self.checked_url(url)
        row = {
            "tenant": check_name("tenant", tenant),
            "id": feed_id(address),
            "url": address,
            "name": check_name("name", name or urlsplit(address).hostname),
            "weight": checked_weight(weight),
            "enabled": enabled,
        }

        def work(writing: Writing) -> None:
            if not writing.run("feeds.add", **row):
                message = f"The feed {address} is there already, as {row['id']}."
                raise Conflict(message, hint=f"See it with: haulwright brief list --tenant {tenant}")
            data = {"feed_id": row["id"], "url": redact(address)}
            writing.record(Event(FEED_ADDED, tenant, actor=actor, data=data))

        self._tables.transact(work)
        return self.get(tenant, feed_id(address))

    def change(  # noqa: PLR0913 - as above
        self,
        tenant: str,
        feed_id: str,
        *,
        name: str | None = None,
        weight: float | None = None,
        enabled: bool | None = None,
        actor: str = "app",
    ) -> FeedSubscription:
        """Change what is said of a feed; it may be asked again at once."""
        changes = {
            "name": None if name is None else check_name("name", name),
            "weight": None if weight is None else checked_weight(weight),
            "enabled": enabled,
        }

        def work(writing: Writing) -> None:
            if not writing.run("feeds.change", tenant=tenant, id=feed_id, **changes):
                raise _unknown(feed_id)
            data = {"feed_id": feed_id} | {word: value for word, value in changes.items() if value is not None}
            writing.record(Event(FEED_CHANGED, tenant, actor=actor, data=data))

        self._tables.transact(work)
        return self.get(tenant, feed_id)

    def remove(self, tenant: str, feed_id: str, *, actor: str = "app") -> None:
        """Read a feed no more, and forget it. Its articles stay, and its address may be added again."""

        def work(writing: Writing) -> None:
            rows = writing.run("feeds.remove", tenant=tenant, id=feed_id)
            if not rows:
                raise _unknown(feed_id)
            data = {"feed_id": feed_id, "url": redact(rows[0][0])}
            writing.record(Event(FEED_REMOVED, tenant, actor=actor, data=data))

        self._tables.transact(work)

    def get(self, tenant: str, feed_id: str) -> FeedSubscription:
        """One feed. That of another tenant looks exactly like an absent one."""
        feed = self.find(tenant, feed_id)
        if feed is None:
            raise _unknown(feed_id)
        return feed

    def find(self, tenant: str, feed_id: str) -> FeedSubscription | None:
        """One feed, or None."""
        rows = self._tables.read("feeds.get", tenant=tenant, id=feed_id)
        return FeedSubscription.of(rows[0]) if rows else None

    def all(self, tenant: str | None = None) -> Iterator[FeedSubscription]:
        """The feeds of a tenant, or of all, page by page."""
        after: str | None = None
        for _ in range(MOST_PAGES):
            page = self.page(tenant, after=after, limit=PAGE)
            yield from page.rows
            if page.next is None:
                return
            after = page.next

    def page(self, tenant: str | None, *, after: str | None, limit: int) -> Page[FeedSubscription]:
        """Some feeds of a tenant, or of all, by their ids."""
        after_tenant, after_id = ("", "") if after is None else read_cursor(after, str, str)
        place = {"tenant": tenant, "after_tenant": after_tenant, "after_id": after_id}
        rows = self._tables.read("feeds.list", **place, limit=check_page(limit) + 1)
        feeds = [FeedSubscription.of(row) for row in rows]
        return page_of(feeds, limit, lambda feed: cursor_of(feed.tenant, feed.id))

    def tenants(self, run: Callable[..., Any] | None = None) -> list[str]:
        """Who has feeds; `run` is an open transaction's."""
        return [name for (name,) in (run or self._tables.read)("feeds.tenants", after="", limit=MOST_TENANTS)]

    def checked_url(self, url: str) -> str:
        """The address in its one form; refused where it is none, or at a private place that nobody allowed."""
        address = canonical_url(url)
        if len(address) > LONGEST_URL_CHARS:
            raise InvalidValue("url", f"{address[:80]}…", f"has more than {LONGEST_URL_CHARS} characters")
        require_public(address, self._policy, "HAULWRIGHT_BRIEF_PRIVATE_HOSTS")
        return address


def feed_id(url: str) -> str:
    """What a feed is called: the same for the same address, on every database."""
    return hashlib.sha256(url.encode()).hexdigest()[:ID_CHARS]


def checked_weight(weight: float) -> float:
    """A weight that can be reckoned with."""
    if not 0 < weight <= HEAVIEST:
        raise InvalidValue("weight", weight, f"is not more than 0 and at most {HEAVIEST:g}")
    return float(weight)


def _unknown(feed_id: str) -> NotFound:
    return NotFound("feed", feed_id, hint="See those that there are with: haulwright brief list")
