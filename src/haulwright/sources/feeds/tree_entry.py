"""One entry in a tree of elements: what each of its parts says, in the order in which feedparser would hear it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from xml.etree.ElementTree import Element

from haulwright.sources.feeds.controls import without_control_characters
from haulwright.sources.feeds.element_names import LONGEST_TAG_CHARS, NOTHING, RDF, SOMEBODY, name_of
from haulwright.sources.feeds.feed import NO_TEXT, EntryDraft, Text
from haulwright.sources.feeds.tree_people import People, check_length
from haulwright.sources.feeds.tree_text import (
    HTML,
    HTML_TYPES,
    LANGUAGE,
    LANGUAGES,
    PLAIN,
    StrangeFeed,
    address_of,
    language_of,
    looks_like_html,
    repaired,
    text_of,
    value_of,
    without_references,
)
from haulwright.sources.feeds.xml_feed import leads_to
from haulwright.sources.feeds.xml_walk import MEDIA, TEXTS
from haulwright.sources.tools.urls import absolute_url

DEEPEST: Final = 4
"""Elements within one another, in a part of an entry that says nothing."""
ABOUT: Final = f"{{{RDF}}}about"
BASE: Final = "{http://www.w3.org/xml/1998/namespace}base"
_STRANGE_OF_A_LINK: Final = frozenset({"url", "uri", "base", BASE})
MOST_TAGS: Final = 4_096
"""Tags whose reader is remembered."""
_OF_AN_ITEM: Final = frozenset({ABOUT, LANGUAGE, "lang"})


Tag = tuple[str | None, str | None, str | None]
"""Its term, scheme and label."""
Reader = Callable[["TreeEntry", Element, str | None], None]
"""Reads a part of an entry; given is its text as well where it is ASCII and all that the element has."""


class TreeEntry:
    """What an entry says, gathered from its elements."""

    # What an entry does not say stays here: most entries say little.
    _guid: str | None = None
    _link: str | None = None
    _origin: str | None = None
    _title = NO_TEXT
    _has_title = False
    _language: str | None = None
    _summary: Text | None = None
    _people: People | None = None
    _published: str | None = None
    _updated: str | None = None
    _created: str | None = None
    _last_tag: Tag = (None, None, None)

    def __init__(
        self, element: Element, base: str | None, language: str | None, *, is_atom: bool, has_content: bool
    ) -> None:
        self._element = element
        self._base = base
        self._is_atom = is_atom
        self._around = language
        self._has_content = has_content
        self._links: list[str] = []
        self._contents: list[Text] = []
        self._tags: dict[Tag, None] = {}
        if element.keys():
            if not _OF_AN_ITEM.issuperset(element.keys()):
                raise StrangeFeed
            self._guid = element.get(ABOUT) or None
            self._around = language_of(element, language)

    def draft(self, of_feed: str | None) -> EntryDraft:
        """Return the entry as a draft. The only date of an RSS item is when it was published, whatever its name."""
        for element in self._element:
            value = None
            if not element.keys() and not len(element):
                text = (element.text or "").strip()
                value = text if text.isascii() else None
            _READER_OF[element.tag](self, element, value)
        guid, updated = _raw(self._guid), _raw(self._updated)
        link = _raw(self._origin or self._link)
        if link is None or link == guid or link[0] == "#":
            link = leads_to(_raw(self._origin) or _raw(self._link), guid, map(_raw, self._links))
        summary = self._summary
        return EntryDraft(
            guid,
            absolute_url(link, self._base) if link else None,
            self._title,
            summary if summary and summary.value else NO_TEXT,
            self._content(),
            (self._people.shown() if self._people else None) or of_feed,
            _raw(self._published) or _raw(self._created) or (None if self._is_atom else updated),
            updated,
            self._terms() if self._tags else (),
            self._language,
        )

    def _content(self) -> Text:
        """Return the first content that is HTML, else the first."""
        for text in self._contents:
            if text.is_html:
                return text
        return self._contents[0] if self._contents else NO_TEXT

    def title(self, element: Element, value: str | None) -> None:
        """The first title that says something is that of the entry."""
        title = self._text(element, value, PLAIN)
        if self._has_title:
            return
        self._title = title if title.value else NO_TEXT
        self._has_title = bool(title.value)
        self._language = language_of(element, self._around)

    def media_title(self, element: Element, _value: str | None = None) -> None:
        """The title of a picture is none of the entry, once that has its own."""
        if not self._has_title or len(element):
            raise StrangeFeed

    def link(self, element: Element, value: str | None) -> None:
        """Where the entry leads: as text in RSS, as an attribute in Atom."""
        if value is not None or (not element.keys() and not len(element)):
            address = address_of(element.text) if value is None else repaired(value)
            if "&" in address:
                address = without_references(address.replace("&amp;", "&"))
            self._lead(address)
            return
        if element.keys() == ["href"] and not len(element):
            self._lead(repaired(element.get("href", "")))
            return
        attributes = _attributes(element)
        if len(element) or not _STRANGE_OF_A_LINK.isdisjoint(attributes):
            raise StrangeFeed
        rel = attributes.get("rel", "alternate").lower()
        href = attributes.get("href")
        if href is not None:
            href = repaired(href)
            kind = attributes.get("type", "application/atom+xml" if rel == "self" else HTML).lower()
            if rel == "alternate" and (kind in HTML_TYPES or kind in {"html", "xhtml"}):
                self._link = href
        else:
            href = self._link = without_references(address_of(element.text).replace("&amp;", "&"))
        if href and rel in {"alternate", "related", "via"}:
            self._links.append(href)

    def guid(self, element: Element, value: str | None) -> None:
        """What the feed calls the entry; in RSS an address as well, unless it says otherwise."""
        if value is not None:
            self._guid = repaired(value)
            self._link = self._guid if self._link is None else self._link
            return
        is_link = True
        for name, said in element.items():
            if name.lower() == "ispermalink":
                is_link = said == "true"
            elif name not in LANGUAGES:
                raise StrangeFeed
        if len(element):
            raise StrangeFeed
        self._guid = address_of(element.text) if is_link else value_of(element)
        if is_link and self._link is None:
            self._link = self._guid

    def origin(self, element: Element, value: str | None) -> None:
        """The address of an entry before its feed was handed on."""
        self._origin = _plain(element) if value is None else value

    def published(self, element: Element, value: str | None) -> None:
        """A date."""
        self._published = _plain(element) if value is None else value

    def updated(self, element: Element, value: str | None) -> None:
        """A date."""
        self._updated = _plain(element) if value is None else value

    def created(self, element: Element, value: str | None) -> None:
        """A date."""
        self._created = _plain(element) if value is None else value

    def category(self, element: Element, value: str | None) -> None:
        """A tag: as text in RSS, as attributes in Atom."""
        if value is None and len(element):
            raise StrangeFeed
        if value is None and (keys := element.keys()):
            attributes = dict(element.items()) if keys == ["term"] else _attributes(element)
            scheme = attributes.get("scheme", attributes.get("domain"))
            self._add_tag((attributes.get("term"), scheme, attributes.get("label")))
        if not (value := value_of(element) if value is None else value):
            return
        if self._tags and not self._last_tag[0]:  # its own text, or that of the next one
            del self._tags[self._last_tag]
            self._last_tag = (value, *self._last_tag[1:])
            self._tags[self._last_tag] = None
        else:
            self._add_tag((value, None, None))

    def keywords(self, element: Element, value: str | None) -> None:
        """The tags of a podcast, in one text."""
        for term in (_plain(element) if value is None else value).split(","):
            if term.strip():
                self._add_tag((term.strip(), "http://www.itunes.com/", None))

    def author(self, element: Element, _value: str | None) -> None:
        """One of those who wrote it."""
        self._people = self._people or People()
        self._people.add(element)

    def source(self, element: Element, _value: str | None) -> None:
        """Where it was taken from. What comes after may be another title."""
        if len(element):
            raise StrangeFeed
        self._has_title = False

    def description(self, element: Element, value: str | None) -> None:
        """A summary; the second of them is a content."""
        self._summarize(element, value, HTML)

    def summary(self, element: Element, value: str | None) -> None:
        """The same, usually plain."""
        self._summarize(element, value, PLAIN)

    def content(self, element: Element, value: str | None) -> None:
        """The whole text."""
        self._has_content = True
        self._add_content(self._text(element, value, PLAIN))

    def fullitem(self, element: Element, value: str | None) -> None:
        """The whole text, usually HTML."""
        self._has_content = True
        self._add_content(self._text(element, value, HTML))

    def media_description(self, element: Element, _value: str | None = None) -> None:
        """The caption of a picture, beside a text of the entry's own."""
        if self._summary is None or self._has_content or not self._has_own_text() or len(element):
            raise StrangeFeed
        kind = element.get("type", PLAIN).lower()
        if not {"type"}.issuperset(element.keys()) or kind not in {"plain", "html", PLAIN, HTML}:
            raise StrangeFeed
        self._has_content = True
        self._contents.append(Text("", kind in {"html", HTML}, self._base))

    def contributor(self, element: Element, _value: str | None) -> None:
        """Somebody else."""
        for part in element:
            if len(part) or name_of(part.tag) not in {"name", "email", "uri", "url", "homepage"}:
                raise StrangeFeed

    def somebody(self, element: Element, value: str | None) -> None:
        """A person who is not read."""
        check_length(element)
        self.nothing(element, value)

    def nothing(self, element: Element, _value: str | None) -> None:
        """What says nothing, with everything in it."""
        if len(element):
            self._inside(element, DEEPEST)

    def strange(self, _element: Element, _value: str | None) -> None:
        """What only feedparser knows how to read."""
        raise StrangeFeed

    def _inside(self, element: Element, deepest: int) -> None:
        if not deepest:
            raise StrangeFeed
        for part in element:
            name = name_of(part.tag)
            if name == "media_title":
                self.media_title(part)
            elif name == "media_description":
                self.media_description(part)
            elif name != NOTHING:
                raise StrangeFeed
            if len(part):
                self._inside(part, deepest - 1)

    def _has_own_text(self) -> bool:
        """Whether it has a text that is no caption."""
        tags = (part.tag.lower().rpartition("}") for part in self._element)
        return any(local in TEXTS and MEDIA not in namespace for namespace, _, local in tags)

    def _summarize(self, element: Element, value: str | None, kind: str) -> None:
        if self._summary is not None and not self._has_content:
            self.content(element, value)
        else:
            self._summary = self._text(element, value, kind)

    def _text(self, element: Element, value: str | None, kind: str) -> Text:
        if value is None:
            return text_of(element, kind, is_atom=self._is_atom, base=self._base)
        return Text(value, kind != PLAIN or (not self._is_atom and looks_like_html(value)), self._base)

    def _add_content(self, text: Text) -> None:
        self._contents.append(text)
        if self._summary is None:
            self._summary = Text(text.value, is_html=True, base=self._base)

    def _lead(self, address: str) -> None:
        self._link = address
        if address:
            self._links.append(address)

    def _add_tag(self, tag: Tag) -> None:
        if (tag[0] or tag[1] or tag[2]) and tag not in self._tags:
            self._tags[tag] = None
            self._last_tag = tag

    def _terms(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for term, _, label in self._tags if (name := _raw(label or term))))


def _plain(element: Element) -> str:
    """Return the text of an element that is nothing but text."""
    if len(element) or element.keys():
        raise StrangeFeed
    return value_of(element)


def _attributes(element: Element) -> dict[str, str]:
    """Return the attributes by their names in lower case. To feedparser `house:href` may be a `href`."""
    attributes = {name.lower(): value for name, value in element.items()}
    if any(name[0] == "{" and name != LANGUAGE for name in element.keys()):  # noqa: SIM118  an element is no mapping
        raise StrangeFeed
    return attributes


def _raw(text: str | None) -> str | None:
    if not text:
        return None
    return (text if text.isprintable() else without_control_characters(text)).strip() or None


_READERS: Final[dict[str, Reader]] = {
    "title": TreeEntry.title,
    "media_title": TreeEntry.media_title,
    "link": TreeEntry.link,
    "guid": TreeEntry.guid,
    "feedburner_origlink": TreeEntry.origin,
    "published": TreeEntry.published,
    "updated": TreeEntry.updated,
    "created": TreeEntry.created,
    "category": TreeEntry.category,
    "itunes_keywords": TreeEntry.keywords,
    "author": TreeEntry.author,
    "source": TreeEntry.source,
    "image": TreeEntry.source,
    "description": TreeEntry.description,
    "media_description": TreeEntry.media_description,
    "summary": TreeEntry.summary,
    "content": TreeEntry.content,
    "fullitem": TreeEntry.fullitem,
    "contributor": TreeEntry.contributor,
    "language": TreeEntry.nothing,
    SOMEBODY: TreeEntry.somebody,
    NOTHING: TreeEntry.nothing,
}


class _ReaderOf(dict[str, Reader]):
    """The reader of an element by its tag. Names that nobody would give are not kept in mind."""

    def __missing__(self, tag: str) -> Reader:
        if len(tag) > LONGEST_TAG_CHARS:
            raise StrangeFeed
        if len(self) >= MOST_TAGS:
            self.clear()
        reader = self[tag] = _READERS.get(name_of(tag), TreeEntry.strange)
        return reader


_READER_OF: Final = _ReaderOf()
