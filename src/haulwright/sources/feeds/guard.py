"""What is refused before a parser makes anything of it: bombs, and what is no feed at all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NoReturn

from haulwright.errors import Permanent
from haulwright.sources.feeds.feed import FeedLimits
from haulwright.sources.feeds.xml_walk import walk

PROLOG_CHARS: Final = 65_536
"""How far into a document its first element is looked for."""
SHOWN_CHARS: Final = 60

_ROOT: Final = re.compile(r"<(?:[A-Za-z_][\w.-]*:)?(?:rss|rdf|feed|channel)[\s>]", re.IGNORECASE)
_PROLOG: Final = re.compile(r"(?:\s+|<\?(?:[^?]|\?(?!>))*\?>|<!--(?:[^-]|-(?!->))*-->)*")
_ENTITY: Final = re.compile(r"<!ENTITY|%[A-Za-z]\w*;", re.IGNORECASE)
_ILLEGAL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")

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


def without_prolog(text: str) -> Document:
    """Return the document from its first element on, or refuse it: it declares entities, or is no feed."""
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
    return Document(text[root.start() :], tuple(notes))


def check_xml(document: Document, limits: FeedLimits) -> Document:
    """Return the document as a parser may see it, or refuse it: too deep, or too much."""
    text, removed = _ILLEGAL.subn("", document.text)
    notes = [f"{removed} characters that XML does not allow were removed"] if removed else []
    text, remarks = walk(text, limits)
    return Document(text, (*document.warnings, *notes, *remarks))


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
    return re.sub(r"<!DOCTYPE[^>]{0,999}>|<\?[^>]{0,999}\?>", "", text, flags=re.IGNORECASE).strip()
