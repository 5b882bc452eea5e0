"""The formats of a brief: page, Markdown, JSON and Atom, each written from the same document."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from haulwright.apps.brief.page import as_html
from haulwright.visible import visible_json, web_address, without_controls

_MARKS: Final = re.compile(r"([\\`*_{}\[\]>#|!~])")
_ENTITY: Final = re.compile(r"&(?=#?\w+;)")
_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NOT_IN_LINKS: Final = re.compile(r"[<>\\]")
_START_OF_BLOCK: Final = re.compile(r"^([-+=]|\d{1,9}(?=[.)]))")


def as_json(document: dict[str, Any]) -> str:
    """The document itself."""
    return visible_json(document, indent=2) + "\n"


def as_markdown(document: dict[str, Any]) -> str:
    """The brief for mail, chat and repositories. What comes from a feed is text, never markup."""
    parts = [f"# {_plain(document['title'])}", ""]
    for event in document["events"]:
        parts += [f"## {event['rank']}. {_markdown_link(event['headline'], event['link'])}", ""]
        if event["summary"]:
            parts += [" ".join(_plain(sentence["text"]) for sentence in event["summary"]), ""]
        parts += [
            f"- {_markdown_link(report['title'], report['link'])} ({_plain(report['source'])})"
            for report in event["reports"]
        ]
        if event["reports_not_named"]:
            parts.append(f"- and {event['reports_not_named']} more")
        parts += ["", f"*{_plain(event['why'])}*", ""]
    if document["events_not_shown"]:
        parts += [f"Not shown: {document['events_not_shown']} smaller events.", ""]
    return "\n".join(parts)


def as_atom(document: dict[str, Any]) -> str:
    """The events of a brief as entries of a feed."""
    entries = "".join(_entry(document, event) for event in document["events"])
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f"<id>urn:haulwright:brief:{document['day']}</id><title>{_xml(document['title'])}</title>"
        f"<updated>{document['published_at']}</updated><author><name>Haulwright</name></author>\n{entries}</feed>\n"
    )


FORMATS: Final[dict[str, tuple[Callable[[dict[str, Any]], str], str]]] = {
    "html": (as_html, "html"),
    "markdown": (as_markdown, "md"),
    "json": (as_json, "json"),
    "atom": (as_atom, "atom"),
}
"""How each format is written, and how its files end."""


def _entry(document: dict[str, Any], event: dict[str, Any]) -> str:
    sentences = " ".join(sentence["text"] for sentence in event["summary"]) or event["headline"]
    link = web_address(event["link"])
    linked = f"<link href={quoteattr(_clean(link))}/>" if link else ""
    return (
        f"<entry><id>urn:haulwright:brief:{document['day']}:{_xml(quote(_clean(event['id'])))}</id>"
        f"<title>{_xml(event['headline'])}</title>{linked}<updated>{document['published_at']}</updated>"
        f"<summary>{_xml(sentences)}</summary></entry>\n"
    )


def _plain(text: str) -> str:
    """A text in one line in which nothing is markup, of Markdown or of HTML."""
    line = _ENTITY.sub("&amp;", " ".join(without_controls(text).split()))
    return _START_OF_BLOCK.sub(_escape_start, _MARKS.sub(r"\\\1", line)).replace("<", "&lt;")


def _escape_start(start: re.Match[str]) -> str:
    r"""What would begin a list or underline a heading, as text: `\-`, and `1\.` for a number."""
    return f"{start[0]}\\" if start[0].isdecimal() else f"\\{start[0]}"


def _markdown_link(text: str, address: str | None) -> str:
    """A text that leads somewhere, if that is an address of the web."""
    link = web_address(address)
    if link is None:
        return _plain(text)
    target = _NOT_IN_LINKS.sub(lambda mark: quote(mark[0]), _ENTITY.sub("&amp;", link))
    return f"[{_plain(text)}](<{target}>)"


def _xml(text: str) -> str:
    return escape(_clean(text))


def _clean(text: str) -> str:
    """Without the characters that XML does not allow."""
    return _NOT_XML.sub("", without_controls(text))
