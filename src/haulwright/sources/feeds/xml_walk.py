"""One walk over an XML document before the parser of feeds sees it: counted, and cut where it would mislead that one.

An image within an entry, or anything else that it does not know, has titles, links and descriptions of its own, which
feedparser takes for those of the entry; so it does with the caption of a picture. Markup that somebody forgot to escape
it leaves out. In the name of an author it looks for mail addresses, which takes quadratic time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import Final, Literal
from xml.parsers import expat

from haulwright.errors import Permanent
from haulwright.sources.feeds.feed import FeedLimits
from haulwright.sources.feeds.tag_count import TagCount, check_broken

LONGEST_PERSON_CHARS: Final = 500
"""The name of an author, or the names of all authors of a paper."""

PERSONS: Final = frozenset({"author", "creator", "publisher", "managingeditor", "webmaster", "owner"})
ENTRIES: Final = frozenset({"item", "entry"})
OF_AN_ENTRY: Final = frozenset(
    {"title", "link", "guid", "id", "description", "summary", "content", "pubdate", "published", "updated"}
)
"""What feedparser takes for the entry's own at any depth."""
TEXTS: Final = frozenset({"description", "summary", "content", "encoded", "body", "fullitem"})
ESCAPED: Final = frozenset({"description", "encoded"})
"""Those of RSS, whose markup is to be escaped."""
STRUCTURES: Final = PERSONS | ENTRIES | {"title", "subtitle", "tagline", "contributor", "source", "div"}
"""Parts of an entry that have elements inside and are read as what they are."""
CAPTIONS: Final = frozenset({"description", "text"})
MEDIA: Final = "mrss"
_PLAIN_NAMESPACES: Final = frozenset(
    {"", "http://www.w3.org/2005/atom", "http://purl.org/rss/1.0/", "http://my.netscape.com/rdf/simple/0.9/",
     "http://backend.userland.com/rss2", "http://purl.org/atom/ns#"}
)  # fmt: skip

_CUT: Final = f"an author has more than {LONGEST_PERSON_CHARS} characters and was cut"
_CDATA: Final = re.compile(rb"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_START_TAG: Final = re.compile(rb"""<(?:[^"'>]|"[^"]*"|'[^']*')*>""")
_ENTRY: Final = re.compile(r"<(?:[A-Za-z_][\w.-]*:)?(?:item|entry)[\s>/]", re.IGNORECASE)
# Only without attributes is an empty element one to the parser for what is not well-formed.
_PERSON: Final = re.compile(
    rf"<(/?)(?:[A-Za-z_][\w.-]*:)?(?:{'|'.join(PERSONS)})(?:(?P<empty>\s*/>)|(?=[\s>/]))", re.IGNORECASE
)
_TAG: Final = re.compile(r"<[^<>!]{1,300}>")

Cut = tuple[int, int, bytes]
"""From here to there, in bytes, and what stands there instead."""


def walk(document: str, limits: FeedLimits) -> tuple[str, tuple[str, ...]]:
    """Return the document as a parser may see it, and what is wrong with it; refuse what is too deep or too much.

    Elements that stand after the first fault cannot be told from text, so every "<" of a faulty document is counted.
    """
    data = document.encode("utf-8")
    parser = expat.ParserCreate("utf-8", namespace_separator=" ")
    walker = _Walker(parser, data, limits)
    try:
        parser.Parse(data, True)  # noqa: FBT003  the C parser takes no names
    except expat.ExpatError as fault:
        walker.check(elements=document.count("<"), entries=sum(1 for _ in _ENTRY.finditer(document)))
        check_broken(document, limits.tags)
        note = f"not well-formed: {expat.ErrorString(fault.code)} in line {fault.lineno}; what could be read was read"
        document, cut = _without_long_persons(document)
        return document, (note, _CUT) if cut else (note,)
    return _without(data, walker.cuts), (_CUT,) if walker.has_long_person else ()


@dataclass(slots=True)
class _Part:
    """A part of an entry, or a person anywhere, that the walk is in."""

    depth: int
    first: int
    """Its first byte."""
    kind: Literal["person", "text", "caption", "other"]
    has_elements: bool = False
    misleads: bool = False
    """Something in it would be taken for what the entry says of itself."""


class _Walker:
    """Counts the elements of a document, stops it at a limit, and notes what is to be cut."""

    def __init__(self, parser: expat.XMLParserType, data: bytes, limits: FeedLimits) -> None:
        self.cuts: list[Cut] = []
        self.has_long_person = False
        self._parser = parser
        self._data = data
        self._limits = limits
        self._depth = self._elements = self._entries = 0
        self._entry_depth: int | None = None
        self._part: _Part | None = None
        self._caption: _Part | None = None
        self._captions: list[Cut] = []
        self._has_text = False
        """The entry has a text of its own, so that no caption is its text."""
        self._words: list[str] = []
        self._tags = TagCount(data, limits.tags)
        parser.StartElementHandler, parser.EndElementHandler = self.start, self.end

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        if len(attributes) > self._limits.attributes:
            raise Permanent(f"The feed has an element with more than {self._limits.attributes} attributes.")
        self._depth += 1
        self._elements += 1
        namespace, _, local = name.lower().rpartition(" ")
        if local in ENTRIES:
            self._entries += 1
            if self._entry_depth is None:
                self._entry_depth, self._has_text = self._depth, False
                self._captions.clear()
        if self._depth > self._limits.depth:
            raise Permanent(f"The feed nests elements deeper than {self._limits.depth}.")
        self.check(elements=self._elements, entries=self._entries)
        self._tags.start(local, self._depth, self._parser.CurrentByteIndex, is_entry=local in ENTRIES)
        if local in CAPTIONS and MEDIA in namespace and self._caption is None:
            self._caption = _Part(self._depth, self._parser.CurrentByteIndex, "caption")
        if self._part is None:
            self._begin(namespace, local)
        else:
            self._part.has_elements = True
            self._part.misleads |= local in PERSONS or (local in OF_AN_ENTRY and namespace in _PLAIN_NAMESPACES)

    def end(self, name: str) -> None:
        """An element ends."""
        local = name.lower().rpartition(" ")[2]
        self._tags.end(local, self._depth, self._parser.CurrentByteIndex, is_entry=local in ENTRIES)
        if self._caption is not None and self._caption.depth == self._depth:
            self._captions += self._inside(self._caption, b"")
            self._caption = None
        if self._part is not None and self._part.depth == self._depth:
            self._leave(self._part)
            self._part = None
        if self._entry_depth == self._depth:
            self._entry_depth = None
            self.cuts += self._captions if self._has_text else []
            self._captions.clear()
        self._depth -= 1

    def check(self, *, elements: int, entries: int) -> None:
        """Refuse more than is allowed."""
        if elements > self._limits.elements:
            raise Permanent(f"The feed has more than {self._limits.elements} elements.")
        if entries > self._limits.entries:
            raise Permanent(f"The feed has more than {self._limits.entries} entries.")

    def _begin(self, namespace: str, local: str) -> None:
        """Look closer at a person, and at what an entry consists of."""
        is_of_entry = self._entry_depth is not None and self._depth == self._entry_depth + 1
        if local in PERSONS:
            self._part = _Part(self._depth, self._parser.CurrentByteIndex, "person")
            self._words.clear()
            self._parser.CharacterDataHandler = self._words.append
        elif is_of_entry and local in TEXTS and MEDIA not in namespace:
            self._has_text = True
            if local in ESCAPED:
                self._part = _Part(self._depth, self._parser.CurrentByteIndex, "text")
        elif is_of_entry and local not in STRUCTURES:
            self._part = _Part(self._depth, self._parser.CurrentByteIndex, "other")

    def _leave(self, part: _Part) -> None:
        """Note what is to be cut of a part between its two tags."""
        self._parser.CharacterDataHandler = None
        if part.kind == "person" and len(name := " ".join("".join(self._words).split())) > LONGEST_PERSON_CHARS:
            self.cuts += self._inside(part, _shortened(name).encode())
            self.has_long_person = True
        elif part.kind == "other" and part.misleads:
            self.cuts += self._inside(part, b"")
        elif part.kind == "text" and part.has_elements:
            self.cuts += self._inside(part, None)

    def _inside(self, part: _Part, instead: bytes | None) -> list[Cut]:
        """The cut of all that a part has inside; None puts its own markup there as text."""
        start_tag, last = _START_TAG.match(self._data, part.first), self._parser.CurrentByteIndex
        if start_tag is None or last <= part.first:
            return []  # an empty element
        markup = _CDATA.sub(rb"\1", self._data[start_tag.end() : last]) if instead is None else b""
        text = markup.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;")
        return [(start_tag.end(), last, text if instead is None else instead)]


def _without(data: bytes, cuts: list[Cut]) -> str:
    """Return the document with what was cut replaced."""
    pieces, end = [], 0
    for first, last, instead in sorted(cuts):
        if first >= end:  # else it stands in what is cut already
            pieces += [data[end:first], instead]
            end = last
    return b"".join([*pieces, data[end:]]).decode("utf-8")


def _without_long_persons(document: str) -> tuple[str, bool]:
    """Cut authors who are no persons but an attack from what is not well-formed; refused where entries stand inside."""
    pieces: list[str] = []
    end = 0
    begun: re.Match[str] | None = None
    for mark in _PERSON.finditer(document):
        if mark["empty"]:
            continue
        if not mark[1]:
            begun = begun or mark
        elif begun is not None:
            inside = document[begun.end() : mark.start()]
            if len(inside) > LONGEST_PERSON_CHARS and len(words := _TAG.sub("", inside)) > LONGEST_PERSON_CHARS:
                if _ENTRY.search(inside):
                    raise Permanent(f"The feed has an author of more than {LONGEST_PERSON_CHARS} characters.")
                pieces += [document[end : begun.end()], ">", _shortened(words.partition(">")[2])]
                end = mark.start()
            begun = None
    return "".join([*pieces, document[end:]]), bool(pieces)


def _shortened(name: str) -> str:
    """Return the beginning of a name, or of several, as it stands in XML."""
    return escape(name[:LONGEST_PERSON_CHARS].rpartition(" ")[0] or name[:LONGEST_PERSON_CHARS], quote=False)
