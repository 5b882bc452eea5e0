"""From an entry of a feed to an article: who it is, by several names, and what of it is kept."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from haulwright.clock import Instant
from haulwright.sources.feeds import Entry, Feed
from haulwright.sources.feeds.markup import clean
from haulwright.sources.tools.dates import FUTURE_GRACE
from haulwright.sources.tools.urls import CANON_VERSION

IDENTITY_VERSION: Final = 1
"""Part of every hash. It grows when a rule below changes who an article is."""
TELLING_CHARS: Final = 200
"""From this length on, title and text alone say which article of a feed it is."""
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

    names: tuple[str, ...]
    """Hashes that each say who it is, the strongest first."""
    url: str | None
    """The canonical address, where it belongs to this entry alone."""
    link: str | None
    guid: str | None
    title: str
    text: str
    author: str | None
    published_at: Instant | None
    content_hash: str

    @property
    def id(self) -> str:
        """What it is called once it is taken in as new: the same on every database."""
        return self.names[0]


def drafts(feed: Feed, feed_id: str, now: datetime) -> list[ArticleDraft]:
    """The articles of a feed, the oldest first where the feed is in the usual order."""
    common = Counter(
        name for entry in feed.entries for name in {entry.canonical_url, entry.guid_alt, entry.content_hash}
    )
    return [_draft(entry, feed_id, common, now) for entry in reversed(feed.entries)]


def _draft(entry: Entry, feed_id: str, common: Counter[str | None], now: datetime) -> ArticleDraft:
    title, text = fit(entry.title, TITLE_CHARS), _text(entry)
    url = entry.canonical_url if common[entry.canonical_url] == 1 else None
    guid = entry.guid_alt if common[entry.guid_alt] == 1 else None
    telling = common[entry.content_hash] == 1 and len(title) + len(text) >= TELLING_CHARS
    return ArticleDraft(
        names=tuple(dict.fromkeys(_names(feed_id, entry.key, url, guid, entry.content_hash if telling else None))),
        url=None if url is None else fit(url, LINK_CHARS),
        link=fit(entry.url, LINK_CHARS) if entry.url else None,
        guid=fit(entry.guid, SHORT_CHARS) if entry.guid else None,
        title=title,
        text=text,
        author=fit(entry.author, SHORT_CHARS) if entry.author else None,
        published_at=_instant(entry.published_at, now),
        content_hash=entry.content_hash,
    )


def _names(feed_id: str, key: str, url: str | None, guid: str | None, text: str | None) -> Iterator[str]:
    """By address for all feeds of a tenant, whichever the scheme; by guid and by text within its feed alone.

    What several entries of a body have in common says nothing about which of them it is, and is not given.
    """
    if url is not None:
        yield _hash("url", str(CANON_VERSION), url.partition("://")[2])
    yield _hash("key", feed_id, key)
    if guid is not None:
        yield _hash("guid", feed_id, guid)
    if text is not None:
        yield _hash("text", feed_id, text)


def _text(entry: Entry) -> str:
    """The whole text where the feed has it, else the summary."""
    whole = clean(entry.content)[1] if entry.content else ""
    return fit(whole if len(whole) > len(entry.summary) else entry.summary, TEXT_CHARS)


def _instant(moment: datetime | None, now: datetime) -> Instant | None:
    """When it was published, unless that cannot be true."""
    if moment is None or moment < OLDEST or moment > now + FUTURE_GRACE:
        return None
    return (moment - _EPOCH) // timedelta(microseconds=1)


def fit(text: str, most_chars: int) -> str:
    """A text that every database can hold: no NUL, no half of a surrogate pair, and not too long."""
    return text.replace("\0", "")[:most_chars].encode("utf-8", "replace").decode("utf-8")


def _hash(*parts: str) -> str:
    """A hash of parts that cannot run into one another."""
    netstrings = "".join(f"{len(part)}:{part}" for part in (str(IDENTITY_VERSION), *parts))
    return hashlib.sha256(netstrings.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_CHARS]
