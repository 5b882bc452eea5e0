"""From an entry of a feed to an article: who it is, and what of it is kept."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from haulwright.clock import Instant
from haulwright.sources.feeds import Entry, Feed
from haulwright.sources.feeds.markup import plain_text
from haulwright.sources.tools.dates import FUTURE_GRACE

IDENTITY_VERSION: Final = 1
"""Part of every id. It grows when a rule below changes who an article is."""
TITLE_CHARS: Final = 500
TEXT_CHARS: Final = 8_000
SHORT_CHARS: Final = 500
"""Authors and guids; what is longer is cut."""
LINK_CHARS: Final = 4_096
OLDEST: Final = datetime(1990, 1, 1, tzinfo=UTC)
"""Older than the web: such a date says nothing about an article."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_HASH_CHARS: Final = 32


@dataclass(frozen=True, slots=True)
class ArticleDraft:
    """An article as a feed has it now."""

    id: str
    """Follows from its identity: the same on every database."""
    url: str | None
    """The canonical address. Where there is one, it is the identity."""
    link: str | None
    guid: str | None
    title: str
    text: str
    author: str | None
    published_at: Instant | None
    content_hash: str


def drafts(feed: Feed, feed_id: str, now: datetime) -> list[ArticleDraft]:
    """The articles of a feed, each once, the oldest first where the feed is in the usual order.

    Where several entries are one article, what stands first in the feed counts: that is the newest.
    """
    articles: dict[str, ArticleDraft] = {}
    for entry in feed.entries:
        draft = _draft(entry, feed_id, now)
        articles.setdefault(draft.id, draft)
    return list(articles.values())[::-1]


def _draft(entry: Entry, feed_id: str, now: datetime) -> ArticleDraft:
    return ArticleDraft(
        id=_identity(entry, feed_id),
        url=fit(entry.canonical_url, LINK_CHARS) if entry.canonical_url else None,
        link=fit(entry.url, LINK_CHARS) if entry.url else None,
        guid=fit(entry.guid, SHORT_CHARS) if entry.guid else None,
        title=fit(entry.title, TITLE_CHARS),
        text=_text(entry),
        author=fit(entry.author, SHORT_CHARS) if entry.author else None,
        published_at=_instant(entry.published_at, now),
        content_hash=entry.content_hash,
    )


def _identity(entry: Entry, feed_id: str) -> str:
    """An article is its address, for all feeds of a tenant and whichever the scheme.

    One without an address is what its feed calls it, else what it says: the key of the entry, within its feed alone.
    """
    if entry.canonical_url is not None:
        return _hash("url", entry.canonical_url.partition("://")[2])
    return _hash("key", feed_id, entry.key)


def _text(entry: Entry) -> str:
    """The whole text where the feed has it, else the summary."""
    whole = plain_text(entry.content) if len(entry.content) > len(entry.summary) else ""
    return fit(whole if len(whole) > len(entry.summary) else entry.summary, TEXT_CHARS)


def _instant(moment: datetime | None, now: datetime) -> Instant | None:
    """When it was published, unless that cannot be true."""
    if moment is None or moment < OLDEST or moment > now + FUTURE_GRACE:
        return None
    return (moment - _EPOCH) // timedelta(microseconds=1)


def fit(text: str, most_chars: int) -> str:
    """A text that every database can hold: no NUL, no half of a surrogate pair, and not too long."""
    if text.isascii() and "\0" not in text:
        return text[:most_chars]
    return text.replace("\0", "")[:most_chars].encode("utf-8", "replace").decode("utf-8")


def _hash(*parts: str) -> str:
    """A hash of parts that cannot run into one another."""
    netstrings = "".join(f"{len(part)}:{part}" for part in (str(IDENTITY_VERSION), *parts))
    return hashlib.sha256(netstrings.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_CHARS]
