"""The text of a page of HTML as a reader sees it: no scripts, no styles, one line a block."""

from __future__ import annotations

from typing import Final, NamedTuple

from haulwright.extras import needs_extra

with needs_extra("apps", "Reading a document"):
    from selectolax.lexbor import LexborHTMLParser

NOT_TEXT: Final = ("script", "style", "template", "noscript", "svg")
"""What a page has beside its text: nobody reads it, and what is new in every answer makes equal pages differ."""
_BLOCKS: Final = (
    "address,article,aside,blockquote,caption,center,dd,details,dialog,div,dl,dt,fieldset,figcaption,figure,footer,"
    "form,h1,h2,h3,h4,h5,h6,header,hr,legend,li,main,menu,nav,ol,option,p,pre,section,summary,table,tr,ul"
)
_TITLE: Final = "head title"
_TITLES: Final = ('meta[property="og:title"]', 'meta[name="title"]')
_HEADING: Final = "h1"
_BREAK: Final = "\u2029"
"""Ends a line; what a line holds may be broken in the source as it likes."""


class PageText(NamedTuple):
    """What a page says."""

    title: str
    text: str


def read_page(html: str) -> PageText:
    """The title and the text of a page. Words that only markup divides stay whole, and blocks apart."""
    page = LexborHTMLParser(html)
    page.strip_tags(list(NOT_TEXT), recursive=True)
    title = _title(page)
    if page.body is None:
        return PageText(title, "")
    for block in page.body.css(_BLOCKS):
        block.insert_before(_BREAK)
        block.insert_after(_BREAK)
    for line_end in page.body.css("br"):
        line_end.insert_before(_BREAK)
    for cell in page.body.css("td,th"):
        cell.insert_after(" ")
    lines = (" ".join(line.split()) for line in page.body.text(separator="").split(_BREAK))
    return PageText(title, "\n".join(line for line in lines if line))


def _title(page: LexborHTMLParser) -> str:
    """The title that a page gives itself; else the one for those who link to it; else its first heading."""
    title = page.css_first(_TITLE)
    if title is not None and title.text().strip():
        return title.text()
    for selector in _TITLES:
        meta = page.css_first(selector)
        if meta is not None and (content := (meta.attributes.get("content") or "").strip()):
            return content
    heading = page.css_first(_HEADING)
    return heading.text(separator="") if heading is not None else ""
