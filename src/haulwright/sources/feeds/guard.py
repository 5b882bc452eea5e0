"""What is refused before a parser makes anything of it: bombs, and what is no feed at all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NoReturn
from xml.parsers import expat

from haulwright.errors import Permanent
from haulwright.sources.feeds.feed import FeedLimits

PROLOG_CHARS: Final = 65_536
"""How far into a document its first element is looked for."""
SHOWN_CHARS: Final = 60
LONGEST_PERSON_CHARS: Final = 500
"""The name of an author: feedparser looks for mail addresses in it, which takes quadratic time."""

_ROOT: Final = re.compile(r"<(?:[A-Za-z_][\w.-]*:)?(?:rss|rdf|feed|channel)[\s>]", re.IGNORECASE)
_PROLOG: Final = re.compile(r"(?:\s+|<\?(?:[^?]|\?(?!>))*\?>|<!--(?:[^-]|-(?!->))*-->)*")
_ENTITY: Final = re.compile(r"<!ENTITY|%[A-Za-z]\w*;", re.IGNORECASE)
_ILLEGAL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_ENTRY: Final = re.compile(r"<(?:[A-Za-z_][\w.-]*:)?(?:item|entry)[\s>/]", re.IGNORECASE)
_PERSON: Final = re.compile(
    r"<(/?)(?:[A-Za-z_][\w.-]*:)?(?:author|creator|publisher|managingeditor|webmaster|owner)(?=[\s>/])", re.IGNORECASE
)
_TAG: Final = re.compile(r"<[^<>!]{1,300}>")
_ENTRY_NAMES: Final = ("item", "entry")

_SIGNATURES: Final = (
    (b"\x1f\x8b", "gzip data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"PK\x03\x04", "a zip file"),
    (b"%PDF", "a PDF"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
)
_HINT: Final = "Open the address in a browser: it may have moved, ask for a login, or be a page that links to its feed."


@dataclass(frozen=True, slots=True)
class Document:
    """An XML document from its first element on: without a prolog there is nothing that entities could come from."""

    text: str
    warnings: tuple[str, ...] = ()


def check_size(body: bytes, limits: FeedLimits) -> None:
    """Refuse a body that is empty, too big, or plainly something else."""
    if not body.strip():
        raise Permanent("There is no feed: the body is empty.", hint=_HINT)
    if len(body) > limits.size_bytes:
        raise Permanent(f"The feed has {len(body)} bytes; {limits.size_bytes} are allowed.")
    for signature, what in _SIGNATURES:
        if body.startswith(signature):
            raise Permanent(f"There is no feed: the body is {what}.", hint=_HINT)


def check_xml(text: str, limits: FeedLimits) -> Document:
    """Return the document without its prolog, or refuse it: entities, too deep, too much, or no feed."""
    start = _PROLOG.match(text[:PROLOG_CHARS])
    after = start.end() if start else 0
    root = _ROOT.search(text, after, after + PROLOG_CHARS)
    if _ENTITY.search(text, 0, root.start() if root else after + PROLOG_CHARS):
        raise Permanent(
            "The feed declares entities, which can unfold without end or read files.",
            hint="A feed needs none. Ask its publisher to leave the <!ENTITY> declarations out.",
        )
    if root is None:
        refuse_as_no_feed(text)
    notes = []
    if junk := _before_root(text[after : root.start()]):
        notes.append(f"something stands before the feed: {junk[:SHOWN_CHARS]!r}")
    document, removed = _ILLEGAL.subn("", text[root.start() :])
    if removed:
        notes.append(f"{removed} characters that XML does not allow were removed")
    _check_people(document)
    if problem := _count(document, limits):
        notes.append(f"not well-formed: {problem}; what could be read was read")
    return Document(document, tuple(notes))


def refuse_as_no_feed(text: str) -> NoReturn:
    """Say what was found where a feed should be."""
    head = text[:PROLOG_CHARS].lower()
    element = re.search(r"<([a-z_][\w.:-]{0,40})", head)
    if "<html" in head or "<!doctype html" in head:
        what = "an HTML page"
    elif element:
        what = f"a document that begins with <{element[1]}>"
    else:
        what = f"text that begins with {' '.join(text[:SHOWN_CHARS].split())!r}"
    raise Permanent(f"There is no feed: the body is {what}.", hint=_HINT)


def _before_root(text: str) -> str:
    """Return what stands before the first element and is no document type."""
    return re.sub(r"<!DOCTYPE[^>]*>|<\?[^>]*\?>", "", text, flags=re.IGNORECASE).strip()


def _check_people(document: str) -> None:
    """Refuse an author who is no person but an attack, wherever the element begins and ends."""
    begun: int | None = None
    for mark in _PERSON.finditer(document):
        if not mark[1]:
            begun = mark.start() if begun is None else begun
        elif begun is not None:
            inside = document[begun : mark.start()]
            if len(inside) > LONGEST_PERSON_CHARS and len(_TAG.sub("", inside)) > LONGEST_PERSON_CHARS:
                raise Permanent(f"The feed has an author of more than {LONGEST_PERSON_CHARS} characters.")
            begun = None


def _count(document: str, limits: FeedLimits) -> str | None:
    """Refuse what is too deep or too much; return why the document is not well-formed, None if it is.

    Elements that stand after the first fault cannot be told from text, so every "<" of a faulty document is counted.
    """
    counter = _Counter(limits)
    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = counter.start, counter.end
    try:
        parser.Parse(document, True)  # noqa: FBT003  the C parser takes no names
    except expat.ExpatError as fault:
        counter.check(elements=document.count("<"), entries=sum(1 for _ in _ENTRY.finditer(document)))
        return f"{expat.ErrorString(fault.code)} in line {fault.lineno}"
    return None


class _Counter:
    """Counts the elements of a document and stops it at a limit."""

    def __init__(self, limits: FeedLimits) -> None:
        self.limits = limits
        self.depth = self.elements = self.entries = 0

    def start(self, name: str, _attributes: dict[str, str]) -> None:
        self.depth += 1
        self.elements += 1
        if name.endswith(_ENTRY_NAMES):
            self.entries += 1
        if self.depth > self.limits.depth:
            raise Permanent(f"The feed nests elements deeper than {self.limits.depth}.")
        self.check(elements=self.elements, entries=self.entries)

    def end(self, _name: str) -> None:
        self.depth -= 1

    def check(self, *, elements: int, entries: int) -> None:
        """Refuse more than is allowed."""
        if elements > self.limits.elements:
            raise Permanent(f"The feed has more than {self.limits.elements} elements.")
        if entries > self.limits.entries:
            raise Permanent(f"The feed has more than {self.limits.entries} entries.")
