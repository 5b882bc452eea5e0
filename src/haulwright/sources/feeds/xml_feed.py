"""RSS and Atom, by way of feedparser, which has met more feeds than anybody."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

from haulwright.extras import needs_extra

with needs_extra("http", "Reading a feed"):
    import feedparser  # type: ignore[import-untyped]  # it ships none

from haulwright.errors import Permanent
from haulwright.sources.feeds.controls import without_control_characters
from haulwright.sources.feeds.feed import NO_TEXT, EntryDraft, FeedDraft, Text
from haulwright.sources.feeds.guard import Document
from haulwright.sources.tools.urls import absolute_url

FORMATS: Final = {
    "rss090": "rss 0.90", "rss091n": "rss 0.91", "rss091u": "rss 0.91", "rss092": "rss 0.92", "rss093": "rss 0.93",
    "rss094": "rss 0.94", "rss10": "rss 1.0", "rss20": "rss 2.0", "rss": "rss", "atom01": "atom 0.1",
    "atom02": "atom 0.2", "atom03": "atom 0.3", "atom10": "atom 1.0", "atom": "atom", "cdf": "cdf",
}  # fmt: skip
PERIOD_SECONDS: Final = {
    "hourly": 3_600,
    "daily": 86_400,
    "weekly": 604_800,
    "monthly": 2_592_000,
    "yearly": 31_536_000,
}
LONGEST_TTL_SECONDS: Final = 30 * 86_400
PLAIN: Final = "text/plain"
_ABSOLUTE: Final = re.compile("https?://", re.IGNORECASE)
HEADERS: Final = {"content-type": "application/xml; charset=utf-8"}
XML: Final = b"<?xml version='1.0' encoding='utf-8'?>\n"


def read_xml(document: Document, url: str | None) -> FeedDraft:
    """Return what feedparser reads in a document. It is given bytes in hand: nothing is opened or fetched."""
    data = io.BytesIO(XML + document.text.encode("utf-8"))
    # Cleaning and links are ours: its sanitiser takes quadratic time on hostile markup, and told the address of the
    # feed it would join it anew for every element.
    try:
        parsed = feedparser.parse(data, response_headers=HEADERS, sanitize_html=False, resolve_relative_uris=False)
    except Exception as fault:  # a fault of any kind in an old parser is a fault of this feed
        raise Permanent(f"The feed is so broken that it cannot be read: {type(fault).__name__}.") from fault
    return _feed(parsed, document.warnings, url)


def _feed(parsed: Mapping[str, Any], warnings: tuple[str, ...], url: str | None) -> FeedDraft:
    """Return the feed with its entries as drafts."""
    feed = parsed["feed"]
    link = absolute_url(_raw(feed, "link") or "", url)
    form = FORMATS.get(parsed.get("version") or "", "xml")
    is_atom = form.startswith("atom")
    of_feed = _authors(feed) if is_atom else None  # who edits an RSS channel has not written its items
    return FeedDraft(
        title=_text(feed, "title", url),
        link=link,
        format=form,
        entries=tuple(_entry(entry, url or link, of_feed, is_atom=is_atom) for entry in parsed["entries"]),
        language=_raw(feed, "language"),
        ttl_seconds=ttl_seconds(partial(_raw, feed)),
        warnings=warnings,
    )


def _entry(entry: dict[str, Any], base: str | None, of_feed: str | None, *, is_atom: bool) -> EntryDraft:
    """Return one entry as a draft. The only date of an RSS item is when it was published, whatever its name."""
    contents = [_piece(piece, base) for piece in dict.get(entry, "content") or () if _is_text(piece)]
    updated = _raw(entry, "updated")
    return EntryDraft(
        guid=_raw(entry, "id"),
        url=absolute_url(_link(entry) or "", base),
        title=_text(entry, "title", base),
        summary=_text(entry, "summary", base),
        content=next((piece for piece in contents if piece.is_html), contents[0] if contents else NO_TEXT),
        author=_authors(entry) or _authors(dict.get(entry, "source") or {}) or of_feed,
        published=_raw(entry, "published") or _raw(entry, "created") or (None if is_atom else updated),
        updated=updated,
        tags=_terms(dict.get(entry, "tags") or ()),
        language=dict.get(dict.get(entry, "title_detail") or {}, "language"),
    )


def _raw(mapping: dict[str, Any], key: str) -> str | None:
    """Return a text that stands there under exactly this name: feedparser's own lookup answers with relatives."""
    value = dict.get(mapping, key)
    return without_control_characters(value).strip() or None if isinstance(value, str) else None


def _authors(mapping: dict[str, Any]) -> str | None:
    """Return the names of the authors, each once; a single one as it is written, with its mail address."""
    people = dict.get(mapping, "authors") or ()
    names = dict.fromkeys(name for person in people if (name := _raw(person, "name") or _raw(person, "email")))
    return ", ".join(names) if len(names) > 1 else _raw(mapping, "author")


def _link(entry: dict[str, Any]) -> str | None:
    """Return where an entry leads."""
    links = dict.get(entry, "links") or ()
    others = (_raw(link, "href") for link in links if link.get("rel") in {"alternate", "related", "via"})
    return leads_to(_raw(entry, "feedburner_origlink") or _raw(entry, "link"), _raw(entry, "id"), others)


def leads_to(link: str | None, guid: str | None, others: Iterable[str | None]) -> str | None:
    """Return where an entry leads: its page, else any other address that is no attachment or form of its own.

    RSS takes a guid for a link unless it says otherwise, and many a guid that says nothing is none.
    """
    if link and not link.startswith("#") and (link != guid or _ABSOLUTE.match(link)):
        return link  # one that is but a fragment leads to a place in the feed itself
    return next((other for other in others if other and not other.startswith("#")), None)


def _text(mapping: dict[str, Any], key: str, base: str | None) -> Text:
    """Return a title or summary with its kind; one without a kind of its own is read as HTML.

    It was copied from the content, or feedparser kept the kind of another one that is nested in a part of the entry.
    """
    value = dict.get(mapping, key)
    if not isinstance(value, str) or not value:
        return NO_TEXT
    detail = dict.get(mapping, f"{key}_detail")
    if isinstance(detail, dict) and dict.get(detail, "value") == value:
        return _piece(detail, base)
    return Text(value, is_html=True, base=base)


def _piece(detail: dict[str, Any], base: str | None) -> Text:
    """Return a text with its kind and the address that its links start from."""
    nearer = dict.get(detail, "base")
    start = absolute_url(nearer, base) if nearer else base
    return Text(dict.get(detail, "value") or "", is_html=dict.get(detail, "type") != PLAIN, base=start)


def _is_text(detail: dict[str, Any]) -> bool:
    """Tell whether a content is text at all: Atom allows any kind of data there."""
    kind = dict.get(detail, "type") or PLAIN
    return kind.startswith("text/") or kind.endswith(("+xml", "/xml"))


def _terms(tags: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the names of the tags, each once."""
    names = (without_control_characters(tag.get("label") or tag.get("term") or "").strip() for tag in tags)
    return tuple(dict.fromkeys(name for name in names if name))


def ttl_seconds(text_of: Callable[[str], str | None]) -> int | None:
    """Return how long a feed asks to be left alone: its minutes, or its period shared by its frequency."""
    minutes = text_of("ttl") or ""
    if minutes.isdecimal() and len(minutes) < 9:  # noqa: PLR2004
        return min(int(minutes) * 60, LONGEST_TTL_SECONDS) or None
    period = PERIOD_SECONDS.get((text_of("sy_updateperiod") or "").lower())
    frequency = text_of("sy_updatefrequency") or "1"
    if period is None or not frequency.isdecimal() or not 1 <= int(frequency[:9]) <= period:
        return None
    return min(period // int(frequency), LONGEST_TTL_SECONDS)
