"""Texts and addresses in a tree of elements, as feedparser would give them."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Final
from xml.etree.ElementTree import Element

from haulwright.extras import needs_extra

with needs_extra("http", "Reading a feed"):
    from feedparser.html import _cp1252  # type: ignore[import-untyped]  # it ships none
    from feedparser.mixin import _FeedParserMixin  # type: ignore[import-untyped]
    from feedparser.urls import _urljoin  # type: ignore[import-untyped]

from haulwright.sources.feeds.feed import Text

PLAIN: Final = "text/plain"
HTML: Final = "text/html"
HTML_TYPES: Final = frozenset({HTML, "application/xhtml+xml"})
LANGUAGE: Final = "{http://www.w3.org/XML/1998/namespace}lang"
LANGUAGES: Final = frozenset({LANGUAGE, "lang"})
_TYPES: Final = {"text": PLAIN, "plain": PLAIN, "html": HTML, PLAIN: PLAIN, HTML: HTML}
_REFERENCE: Final = re.compile("&([A-Za-z0-9_]+);")


class StrangeFeed(Exception):
    """A feed has something that only feedparser knows how to read."""


def value_of(element: Element) -> str:
    """Return the text of an element that has no elements inside."""
    text = element.text
    if text is None:
        return ""
    text = text.strip()
    return text if text.isascii() else _as_meant(text)


def address_of(text: str | None) -> str:
    """Return the address that an element has for its text."""
    address = (text or "").strip()
    if ":///" in address:
        address = repaired(address)
    return address if address.isascii() else _as_meant(address)


def repaired(address: str) -> str:
    """Return an address without the slashes that are too many after its scheme."""
    return str(_urljoin("", address)) if ":///" in address else address


def without_references(address: str) -> str:
    """Return an address whose parameters were taken for references to characters."""
    return _REFERENCE.sub(r"&\g<1>", address) if "&" in address else address


def text_of(element: Element, kind: str, *, is_atom: bool, base: str | None) -> Text:
    """Return the text of an element with its kind: what it says itself, else the usual one of such elements."""
    if len(element):
        raise StrangeFeed
    if element.keys():
        kind = _kind(element, kind)
    value = value_of(element)
    return Text(value, kind != PLAIN or (not is_atom and looks_like_html(value)), base)


def _kind(element: Element, usual: str) -> str:
    """Return the kind of text that an element says it has."""
    for name, value in element.items():
        if name in LANGUAGES:
            continue
        usual = _TYPES.get(value.lower(), "") if name == "type" else ""
        if not usual:
            raise StrangeFeed
    return usual


def looks_like_html(text: str) -> bool:
    """Tell whether a text that is said to be plain is none, as far as feedparser guesses."""
    return ("&" in text or ("<" in text and "</" in text)) and bool(_FeedParserMixin.looks_like_html(text))


def language_of(element: Element, around: str | None) -> str | None:
    """Return the language of an element: its own, else that of what is around it. An empty one takes it away."""
    if not element.keys():
        return around
    language = element.get(LANGUAGE, element.get("lang"))
    return around if language is None else language.replace("_", "-") or None


def _as_meant(text: str) -> str:
    """Return a text without two common slips: UTF-8 that was taken for Latin-1, and Windows-1252 for its controls."""
    with suppress(UnicodeEncodeError, UnicodeDecodeError):
        text = text.encode("iso-8859-1").decode("utf-8")
    return text.translate(_cp1252)
