"""What is read of a page, with one parser, whoever fetched it. Runs in the peers' environment too."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

AT_ONCE = 50


def parse(body: bytes) -> tuple[str, int]:
    """The title of a page, and how many paragraphs it has."""
    tree = LexborHTMLParser(body)
    title = tree.css_first("title")
    return ("" if title is None else title.text()), len([paragraph.text() for paragraph in tree.css("p")])
