"""One walk over an XML document before the parser of feeds sees it: counted, and cut where it would mislead that one.

An image within an entry has a title, a link and a description of its own, which feedparser takes for those of its
entry. In the name of an author it looks for mail addresses, which takes quadratic time.
"""

from __future__ import annotations

import re
from html import escape
from typing import Final
from xml.parsers import expat

from haulwright.errors import Permanent
from haulwright.sources.feeds.feed import FeedLimits

LONGEST_PERSON_CHARS: Final = 500
"""The name of an author, or the names of all authors of a paper."""

PERSONS: Final = frozenset({"author", "creator", "publisher", "managingeditor", "webmaster", "owner"})
ENTRIES: Final = frozenset({"item", "entry"})
IMAGE: Final = "image"

_CUT: Final = f"an author has more than {LONGEST_PERSON_CHARS} characters and was cut"
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
        note = f"not well-formed: {expat.ErrorString(fault.code)} in line {fault.lineno}; what could be read was read"
        document, cut = _without_long_persons(document)
        return document, (note, _CUT) if cut else (note,)
    return _without(data, walker.cuts), (_CUT,) if walker.has_long_person else ()


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
        self._begun: tuple[int, int, bool] | None = None
        """Depth and first byte of the image or person that the walk is in, and whether it is a person."""
        self._words: list[str] = []
        parser.StartElementHandler, parser.EndElementHandler = self.start, self.end

    def start(self, name: str, _attributes: dict[str, str]) -> None:
        """An element begins."""
        self._depth += 1
        self._elements += 1
        local = name.rpartition(" ")[2].lower()
        if local in ENTRIES:
            self._entries += 1
            self._entry_depth = self._depth if self._entry_depth is None else self._entry_depth
        if self._depth > self._limits.depth:
            raise Permanent(f"The feed nests elements deeper than {self._limits.depth}.")
        self.check(elements=self._elements, entries=self._entries)
        if self._begun is not None:
            return
        if local in PERSONS:
            self._begun = (self._depth, self._parser.CurrentByteIndex, True)
            self._words.clear()
            self._parser.CharacterDataHandler = self._words.append
        elif local == IMAGE and self._entry_depth is not None:
            self._begun = (self._depth, self._parser.CurrentByteIndex, False)

    def end(self, _name: str) -> None:
        """An element ends."""
        if self._begun is not None and self._begun[0] == self._depth:
            self._leave(self._begun[1], self._parser.CurrentByteIndex, is_person=self._begun[2])
            self._begun = None
        if self._entry_depth == self._depth:
            self._entry_depth = None
        self._depth -= 1

    def check(self, *, elements: int, entries: int) -> None:
        """Refuse more than is allowed."""
        if elements > self._limits.elements:
            raise Permanent(f"The feed has more than {self._limits.elements} elements.")
        if entries > self._limits.entries:
            raise Permanent(f"The feed has more than {self._limits.entries} entries.")

    def _leave(self, first: int, last: int, *, is_person: bool) -> None:
        """Note what is to be cut of an image or a person between its two tags."""
        self._parser.CharacterDataHandler = None
        start_tag = _START_TAG.match(self._data, first)
        if start_tag is None or last <= first:
            return  # an empty element
        if not is_person:
            self.cuts.append((start_tag.end(), last, b""))
        elif len(name := " ".join("".join(self._words).split())) > LONGEST_PERSON_CHARS:
            self.cuts.append((start_tag.end(), last, _shortened(name).encode()))
            self.has_long_person = True


def _without(data: bytes, cuts: list[Cut]) -> str:
    """Return the document with what was cut replaced."""
    pieces, end = [], 0
    for first, last, instead in cuts:
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
