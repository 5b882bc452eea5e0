"""RSS 1.0, RSS 2.0 and Atom 1.0 by way of a tree, for feeds that are as they should be: many times as fast.

What comes out is what feedparser would make of the same document, and that is the only measure of it: whatever this
reader does not know for certain it leaves to feedparser. The tree is built by expat, as feedparser's own reading is, so
both agree on what is well-formed; the document begins with its first element, so that nothing is declared.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final
from xml.etree.ElementTree import Element, ParseError, fromstring

from haulwright.sources.feeds.controls import without_control_characters
from haulwright.sources.feeds.element_names import ATOM, NOTHING, RDF, SOMEBODY, STRANGE, first_version, name_of
from haulwright.sources.feeds.feed import NO_TEXT, FeedDraft, FeedLimits, Text
from haulwright.sources.feeds.guard import Document
from haulwright.sources.feeds.tree_entry import ABOUT, DEEPEST, TreeEntry
from haulwright.sources.feeds.tree_people import People, check_length
from haulwright.sources.feeds.tree_text import (
    HTML,
    HTML_TYPES,
    LANGUAGE,
    PLAIN,
    StrangeFeed,
    address_of,
    language_of,
    repaired,
    text_of,
    value_of,
    without_references,
)
from haulwright.sources.feeds.xml_feed import ttl_seconds
from haulwright.sources.tools.urls import absolute_url

_BASE: Final = re.compile(r"""base\s*=\s*["']""")
"""A base of an element stays in force after its end, in feedparser."""
DEPTH: Final = 16
"""How deep what is read here can nest at most."""
_RSS_10: Final = "http://purl.org/rss/1.0/"
_RSS_VERSIONS: Final = {"0.91": "rss 0.91", "0.92": "rss 0.92", "0.93": "rss 0.93", "0.94": "rss 0.94"}
_OF_AN_IMAGE: Final = frozenset({"title", "link", "description", "url", "width", "height"})
_OF_A_TEXT_INPUT: Final = frozenset({"title", "link", "description", "name"})
_SILENT: Final = frozenset(
    {NOTHING, SOMEBODY, "published", "updated", "created", "category", "itunes_category", "itunes_owner", "itunes_name",
     "itunes_email", "itunes_keywords", "media_category", "media_keywords", "contributor", "name", "email", "uri",
     "url", "homepage"}
)  # fmt: skip
"""What says nothing that is read of a feed as a whole."""
_PLAIN: Final = frozenset({"ttl", "sy_updateperiod", "sy_updatefrequency"})


def read_tree(document: Document, url: str | None, limits: FeedLimits) -> FeedDraft | None:
    """Return what stands in a document; None where it is not for this reader.

    It gives up early, and refuses nothing: what is too much or too deep is told by who reads it then.
    """
    text = document.text
    if limits.depth < DEPTH or (len(text) > limits.elements and text.count("<") > limits.elements):
        return None
    if "base" in text and _BASE.search(text):
        return None
    try:
        version = first_version(text)
        if version is None:
            return None
        root = fromstring(text)  # noqa: S314  nothing is declared, and what nests or unfolds was counted
        tree = _Tree(root, version, url, document.warnings)
        return tree.draft() if len(tree.items) <= limits.entries else None
    except (ParseError, StrangeFeed, UnicodeEncodeError):
        return None


class _Tree:
    """A feed as a tree of elements."""

    def __init__(self, root: Element, version: str, url: str | None, warnings: tuple[str, ...]) -> None:
        self._warnings = warnings
        self.items: list[tuple[Element, bool]] = []
        """Entries, each with whether feedparser would take its first summary for the one beside a content."""
        self._url = url
        self._language: str | None = None
        self._title: Text | None = None
        self._link: str | None = None
        self._texts: dict[str, str] = {}
        self._people: People | None = None
        self._has_summary = self._has_content = False
        self._around = self._root(root)
        tag = root.tag.lower()
        self._is_atom = tag == f"{{{ATOM}}}feed".lower()
        self.format = _format(root, version)
        if self._is_atom:
            self._gather(root)
        else:
            self._gather_channel(root, is_rdf=tag != "rss")

    def draft(self) -> FeedDraft:
        """Return the feed with its entries as drafts."""
        link = absolute_url(_raw(self._link) or "", self._url)
        base = self._url or link
        of_feed = self._people.shown() if self._people and self._is_atom else None
        entries = (
            TreeEntry(item, base, self._around, is_atom=self._is_atom, has_content=has_content).draft(of_feed)
            for item, has_content in self.items
        )
        title = self._title
        return FeedDraft(
            title=Text(title.value, title.is_html, self._url) if title and title.value else NO_TEXT,
            link=link,
            format=self.format,
            entries=tuple(entries),
            language=_raw(self._language),
            warnings=self._warnings,
            ttl_seconds=ttl_seconds(lambda key: _raw(self._texts.get(key))),
        )

    def _root(self, root: Element) -> str | None:
        """Return the language that everything has."""
        for name in root.keys():  # noqa: SIM118  an element is no mapping
            if name.lower() not in {"version", LANGUAGE.lower(), "lang"}:
                raise StrangeFeed
        language = language_of(root, None)
        if root.tag.lower().rpartition("}")[2] in {"rss", "feed"}:
            self._language = language
        return language

    def _gather_channel(self, root: Element, *, is_rdf: bool) -> None:
        """Read the channel, and in RDF what stands beside it."""
        has_channel = False
        for element in root:
            name = name_of(element.tag)
            if name == STRANGE and element.tag.lower().endswith("channel") and not has_channel:
                has_channel = True
                if not {ABOUT}.issuperset(element.keys()):
                    raise StrangeFeed
                self._gather(element)
            elif is_rdf and name == "item":
                self.item(element)
            elif is_rdf and name in {"image", "textinput"}:
                _PARTS[name](self, element)
            else:
                raise StrangeFeed

    def _gather(self, channel: Element) -> None:
        """Take from each element what it says of the feed."""
        for element in channel:
            name = name_of(element.tag)
            if name in _SILENT:
                _check_silent(element, DEEPEST, is_atom=self._is_atom)
            elif name in _PLAIN:
                self._texts[name] = _text(element)
            else:
                _PARTS.get(name, _Tree.strange)(self, element)

    def strange(self, _element: Element) -> None:
        """What only feedparser knows how to read."""
        raise StrangeFeed

    def item(self, element: Element) -> None:
        """An entry."""
        self.items.append((element, self._has_content))
        self._has_content = False

    def language(self, element: Element) -> None:
        """In which language its entries are, as a rule."""
        self._language = _text(element)

    def title(self, element: Element) -> None:
        """What it is called."""
        if self._title is not None:
            raise StrangeFeed
        self._title = text_of(element, PLAIN, is_atom=self._is_atom, base=self._url)

    def link(self, element: Element) -> None:
        """The site that it belongs to."""
        attributes = {name.lower(): value for name, value in element.items()}
        if len(element) or not _LINK.issuperset(attributes):
            raise StrangeFeed
        href = attributes.get("href")
        if href is None:
            self._link = without_references(address_of(element.text))
            return
        rel = attributes.get("rel", "alternate").lower()
        kind = attributes.get("type", "application/atom+xml" if rel == "self" else HTML).lower()
        if rel == "alternate" and (kind in HTML_TYPES or kind in {"html", "xhtml"}):
            self._link = repaired(href)

    def guid(self, element: Element) -> None:
        """The id of a feed is its address where it has no other."""
        if len(element) or element.keys():
            raise StrangeFeed
        if self._link is None:
            self._link = address_of(element.text)

    def description(self, element: Element) -> None:
        """What is said of the feed is not read; that something is said twice decides about its first entry."""
        text_of(element, PLAIN, is_atom=self._is_atom, base=None)
        if self._has_summary:
            self._has_content = True

    def summary(self, element: Element) -> None:
        """The same."""
        self.description(element)
        self._has_summary = True

    def author(self, element: Element) -> None:
        """Who wrote an Atom feed wrote its entries; who edits a channel has not."""
        if self._is_atom:
            self._people = self._people or People()
            self._people.add(element)
        else:
            check_length(element)
            _check_silent(element, DEEPEST, is_atom=False)

    def image(self, element: Element) -> None:
        """Its title and link are its own."""
        _check_parts(element, _OF_AN_IMAGE)

    def text_input(self, element: Element) -> None:
        """As an image."""
        _check_parts(element, _OF_A_TEXT_INPUT)


_PARTS: Final[dict[str, Callable[[_Tree, Element], None]]] = {
    "item": _Tree.item,
    "title": _Tree.title,
    "link": _Tree.link,
    "guid": _Tree.guid,
    "language": _Tree.language,
    "description": _Tree.description,
    "summary": _Tree.summary,
    "author": _Tree.author,
    "image": _Tree.image,
    "textinput": _Tree.text_input,
}
_LINK: Final = frozenset({"href", "rel", "type", "hreflang", "title", "length"})


def _format(root: Element, version: str) -> str:
    """Return what the feed calls itself, as feedparser understands it."""
    tag = root.tag.lower()
    if tag == f"{{{ATOM}}}feed".lower() and version == ATOM.lower():
        return "atom 1.0"
    if tag == f"{{{RDF}}}rdf" and version == _RSS_10:
        return "rss 1.0"
    if tag != "rss" or version not in {"", ATOM.lower()}:
        raise StrangeFeed
    number = next((number for name, number in root.items() if name.lower() == "version"), "")
    return _RSS_VERSIONS.get(number, "rss 2.0" if number.startswith("2.") else "rss")


def _check_parts(element: Element, names: frozenset[str]) -> None:
    """Leave an element with more inside than it should have to feedparser."""
    for part in element:
        if len(part) or name_of(part.tag) not in names:
            raise StrangeFeed


def _check_silent(element: Element, deepest: int, *, is_atom: bool) -> None:
    """Leave an element to feedparser that does not only have such inside as say nothing."""
    name = name_of(element.tag)
    if name == "itunes_owner" and is_atom:  # who is taken for an author there
        raise StrangeFeed
    if name in {SOMEBODY, "itunes_owner"}:
        check_length(element)
    for part in element:
        if not deepest or name_of(part.tag) not in _SILENT:
            raise StrangeFeed
        _check_silent(part, deepest - 1, is_atom=is_atom)


def _text(element: Element) -> str:
    if len(element) or element.keys():
        raise StrangeFeed
    return value_of(element)


def _raw(text: str | None) -> str | None:
    return without_control_characters(text).strip() or None if text else None
