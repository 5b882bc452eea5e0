"""Pages, opened: items that can be asked for a field, whatever the format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from haulwright.extras import needs_extra

with needs_extra("http", "Reading a page"):
    from selectolax.lexbor import LexborHTMLParser, LexborNode

from haulwright.errors import Permanent
from haulwright.sources.scrape.json_path import Path, find, parse_path
from haulwright.sources.scrape.spec import FieldSpec, ListingSpec
from haulwright.sources.tools.urls import absolute_url

MOST_TAGS: Final = 100_000
"""Tags of one page: a browser's way of reading takes ever longer the deeper they nest."""


@dataclass(frozen=True, slots=True)
class Element:
    """An item of an HTML page."""

    node: LexborNode

    def find(self, field: FieldSpec) -> str | None:
        """Return the text of a field; its pieces are kept apart, so that 12<sup>99</sup> is never read as 1299."""
        node = self.node if field.select == "." else self.node.css_first(field.select)
        if node is None:
            return None
        return node.attributes.get(field.attribute) if field.attribute else node.text(separator=" ")

    def excerpt(self) -> str:
        """Return the item for a person."""
        return " ".join((self.node.html or "").split())


@dataclass(frozen=True, slots=True)
class JsonItem:
    """An item of a JSON document."""

    value: Any
    paths: dict[str, Path]
    """The path of each place that the fields speak of."""

    def find(self, field: FieldSpec) -> str | None:
        """Return the text of a field: the first plain value that its path leads to."""
        return first_text(find(self.value, self.paths[field.select]))

    def excerpt(self) -> str:
        """Return the item for a person."""
        return json.dumps(self.value, ensure_ascii=False)


Item = Element | JsonItem


@dataclass(frozen=True, slots=True)
class ListingPage:
    """A page of a listing."""

    items: Sequence[Item]
    next_link: str | None
    base: str | None
    """The address that relative links start from."""


def open_html(spec: ListingSpec, text: str, url: str | None) -> ListingPage:
    """Return an HTML page."""
    if text.count("<") > MOST_TAGS:
        raise Permanent(f"The page has more than {MOST_TAGS} tags.")
    page = LexborHTMLParser(text)
    stated = page.css_first("base[href]")
    base = absolute_url(stated.attributes.get("href") or "", url) if stated else None
    link = page.css_first(spec.next_page) if spec.next_page else None
    items = [Element(node) for node in page.css(spec.item)]
    return ListingPage(items, link.attributes.get("href") if link else None, base or url)


def open_json(spec: ListingSpec, text: str, url: str | None) -> ListingPage:
    """Return a JSON document; its fractions stay as they are written, for a price is no binary fraction."""
    try:
        document = json.loads(text, parse_float=str)
    except RecursionError as fault:
        raise Permanent("The body is no JSON that can be read: it is nested too deeply.") from fault
    except ValueError as fault:
        raise Permanent(f"The body is no JSON: {fault}.") from fault
    paths = {field.select: parse_path(field.select, what=name) for name, field in spec.fields.items()}
    values = find(document, parse_path(spec.item, what="item"))
    if len(values) == 1 and isinstance(values[0], list):  # a path to one list means its elements
        values = values[0]
    link = first_text(find(document, parse_path(spec.next_page, what="next_page"))) if spec.next_page else None
    return ListingPage([JsonItem(value, paths) for value in values], link, url)


def first_text(values: list[Any]) -> str | None:
    """Return the first plain value as text; lists and objects have none."""
    for value in values:
        if isinstance(value, bool):
            return "true" if value else "false"
        if value is not None and not isinstance(value, list | dict):
            return str(value)
    return None
