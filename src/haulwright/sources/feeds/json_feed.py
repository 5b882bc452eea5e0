"""JSON Feed 1.0 and 1.1."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from haulwright.errors import Permanent
from haulwright.sources.feeds.controls import without_control_characters
from haulwright.sources.feeds.feed import NO_TEXT, EntryDraft, FeedDraft, FeedLimits, Text
from haulwright.sources.tools.urls import absolute_url

_VERSION: Final = re.compile(r"https?://(?:www\.)?jsonfeed\.org/version/(1(?:\.1)?)/?")


def read_json(text: str, url: str | None, limits: FeedLimits) -> FeedDraft:
    """Return what stands in a JSON Feed; items of a wrong shape are left out and counted."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as fault:
        why = "it is nested too deeply" if isinstance(fault, RecursionError) else str(fault)
        raise Permanent(f"There is no feed: the body looks like JSON, but {why}.") from fault
    if not isinstance(document, dict) or not isinstance(document.get("items"), list):
        raise Permanent("There is no feed: the body is JSON without a list of items.")
    items, version = document["items"], _VERSION.fullmatch(str(document.get("version")))
    if len(items) > limits.entries:
        raise Permanent(f"The feed has more than {limits.entries} entries.")
    good = [item for item in items if isinstance(item, dict)]
    notes = [] if version else [f"the version {document.get('version')!r:.60} is none of JSON Feed"]
    if len(good) < len(items):
        notes.append(f"{len(items) - len(good)} items are no objects and were left out")
    base = absolute_url(_string(document, "home_page_url") or "", url) or url
    return FeedDraft(
        title=Text(_string(document, "title") or ""),
        link=absolute_url(_string(document, "home_page_url") or "", url),
        format=f"json feed {version[1]}" if version else "json feed",
        entries=tuple(_entry(item, base, _author(document)) for item in good),
        language=_string(document, "language"),
        warnings=tuple(notes),
    )


def _entry(item: dict[str, Any], base: str | None, of_feed: str | None) -> EntryDraft:
    """Return one item as a draft. Whoever wrote the feed wrote what names nobody."""
    url = absolute_url(_string(item, "url") or _string(item, "external_url") or "", base)
    html, plain = _string(item, "content_html"), _string(item, "content_text")
    summary = _string(item, "summary")
    return EntryDraft(
        guid=_string(item, "id"),
        url=url,
        title=Text(_string(item, "title") or ""),
        summary=Text(summary) if summary else NO_TEXT,
        content=Text(html, is_html=True, base=url or base) if html else Text(plain or ""),
        author=_author(item) or of_feed,
        published=_string(item, "date_published"),
        updated=_string(item, "date_modified"),
        tags=_tags(item),
        language=_string(item, "language"),
    )


def _string(mapping: dict[str, Any], key: str) -> str | None:
    """Return a text; a number is one too, since many feeds have numbers for ids."""
    value = mapping.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return without_control_characters(value).strip() or None if isinstance(value, str) else None


def _tags(item: dict[str, Any]) -> tuple[str, ...]:
    """Return the tags, each once."""
    names = (without_control_characters(tag).strip() for tag in _list(item, "tags") if isinstance(tag, str))
    return tuple(dict.fromkeys(name for name in names if name))


def _list(mapping: dict[str, Any], key: str) -> list[Any]:
    """Return a list, empty if there is none."""
    value = mapping.get(key)
    return value if isinstance(value, list) else []


def _author(item: dict[str, Any]) -> str | None:
    """Return the names of the authors, as version 1.1 or 1.0 gives them."""
    people = [*_list(item, "authors"), item.get("author")]
    names = [_string(person, "name") for person in people if isinstance(person, dict)]
    return ", ".join(dict.fromkeys(name for name in names if name)) or None
