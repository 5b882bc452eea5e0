"""From bytes to records: every item on its own, so that a bad one spoils no other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from haulwright.errors import Permanent
from haulwright.sources.scrape.pages import Item, ListingPage, open_html, open_json
from haulwright.sources.scrape.spec import ListingSpec
from haulwright.sources.scrape.values import Unreadable, Value, read_value
from haulwright.sources.tools.decoding import decode
from haulwright.sources.tools.urls import absolute_url

LARGEST_BYTES: Final = 16 * 1024 * 1024
EXCERPT_CHARS: Final = 300
MOST_WARNINGS: Final = 50

Record = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class RejectedItem:
    """An item that became no record."""

    index: int
    """Its place among the items of the page, from 0."""
    reasons: tuple[str, ...]
    """One for each field that was missing or could not be read."""
    excerpt: str
    """The beginning of the item, for a person."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one page of a listing gave."""

    records: tuple[Record, ...]
    rejected: tuple[RejectedItem, ...]
    next_url: str | None
    version: int
    """Of the rules that it was read by."""
    warnings: tuple[str, ...] = ()


def extract(spec: ListingSpec, body: bytes, url: str | None = None, *, content_type: str | None = None) -> Extraction:
    """Return the records of a page. A bad item is rejected with its reasons; only a body that is no page raises."""
    if len(body) > LARGEST_BYTES:
        raise Permanent(f"The page has {len(body)} bytes; {LARGEST_BYTES} are allowed.")
    text, wrong_encoding = decode(body, content_type)
    page = open_html(spec, text, url) if spec.format == "html" else open_json(spec, text, url)
    warnings = [f"encoding: {wrong_encoding}"] if wrong_encoding else []
    records: list[Record] = []
    rejected: list[RejectedItem] = []
    for index, item in enumerate(page.items[: spec.max_items]):
        record, reasons, notes = _read(spec, item, page.base)
        warnings += [f"item {index}: {note}" for note in notes]
        if reasons:
            rejected.append(RejectedItem(index, tuple(reasons), item.excerpt()[:EXCERPT_CHARS]))
        else:
            records.append(record)
    next_url, remarks = _next(spec, page, url)
    warnings += remarks
    return Extraction(tuple(records), tuple(rejected), next_url, spec.version, tuple(warnings[:MOST_WARNINGS]))


def _read(spec: ListingSpec, item: Item, base: str | None) -> tuple[Record, list[str], list[str]]:
    """Return the record of an item, the reasons against it, and what was wrong with fields that it can do without."""
    record: dict[str, Value] = {}
    reasons: list[str] = []
    notes: list[str] = []
    for name, field in spec.fields.items():
        try:
            value = read_value(field, item.find(field), base)
        except Unreadable as fault:
            value = None
            (reasons if field.required else notes).append(f"{name}: {fault}")
        else:
            if value is None and field.required and field.default is None:
                reasons.append(f"{name}: nothing was found at {field.select!r}")
        record[name] = field.default if value is None else value
    return record, reasons, notes


def _next(spec: ListingSpec, page: ListingPage, url: str | None) -> tuple[str | None, list[str]]:
    """Return where the listing goes on, and what is odd about this page of it."""
    remarks = []
    if not page.items:
        remarks.append(f"nothing was found at {spec.item!r}: the page may have changed")
    if len(page.items) > spec.max_items:
        remarks.append(f"{len(page.items) - spec.max_items} items beyond the first {spec.max_items} were left out")
    next_url = absolute_url(page.next_link, page.base) if page.next_link else None
    if page.next_link and next_url is None:
        remarks.append(f"the next page {page.next_link[:60]!r} leads to no http address")
    if next_url is not None and next_url == url:
        remarks.append("the next page is this one")
        next_url = None
    return next_url, remarks
