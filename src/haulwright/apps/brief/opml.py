"""Lists of feeds in OPML, as readers export them. Nothing is opened or unfolded, whatever the file looks like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from xml.parsers import expat

from haulwright.errors import InvalidValue
from haulwright.sources.tools.decoding import decode

LARGEST_BYTES: Final = 8 * 1024 * 1024
MOST_FEEDS: Final = 20_000
DEEPEST: Final = 100
LONGEST_NAME_CHARS: Final = 200
HINT: Final = "Export the subscriptions of your reader as OPML, and give that file."


@dataclass(frozen=True, slots=True)
class Outline:
    """One feed of a list."""

    url: str
    name: str | None


def read_opml(body: bytes) -> list[Outline]:
    """The feeds of a list, each address once, in its order; refused where the file is none, or could do harm."""
    if len(body) > LARGEST_BYTES:
        raise _refusal(f"has more than {LARGEST_BYTES} bytes")
    text, _ = decode(body)
    reader = _OpmlReader()
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.EntityDeclHandler = reader.entity
    try:
        parser.Parse(text.lstrip("\ufeff \t\r\n").encode("utf-8", "replace"), True)  # noqa: FBT003  it takes no names
    except expat.ExpatError as fault:
        raise _refusal(f"is no XML: {expat.ErrorString(fault.code)} in line {fault.lineno}") from None
    if not reader.outlines:
        raise _refusal("lists no feeds")
    return list(reader.outlines.values())


class _OpmlReader:
    """Collects outlines with an address, and stops at a limit."""

    def __init__(self) -> None:
        self.outlines: dict[str, Outline] = {}
        self._depth = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if self._depth == 0 and name.lower() != "opml":
            raise _refusal(f"begins with <{name[:40]}> instead of <opml>")
        self._depth += 1
        if self._depth > DEEPEST:
            raise _refusal(f"nests deeper than {DEEPEST}")
        fields = {key.lower(): value.strip() for key, value in attributes.items()}
        if name.lower() == "outline" and (url := fields.get("xmlurl")):
            self.outlines.setdefault(url, Outline(url, _name(fields.get("text") or fields.get("title"))))
        if len(self.outlines) > MOST_FEEDS:
            raise _refusal(f"lists more than {MOST_FEEDS} feeds")

    def end(self, _name: str) -> None:
        self._depth -= 1

    def entity(self, *_declared: object) -> None:
        raise _refusal("declares entities, which can unfold without end or read files")


def _name(text: str | None) -> str | None:
    """A name that can be shown, of one line."""
    words = " ".join("".join(c if c.isprintable() else " " for c in text or "").split())
    return words[:LONGEST_NAME_CHARS] or None


def _refusal(why: str) -> InvalidValue:
    return InvalidValue("OPML", "the file", why, hint=HINT)
