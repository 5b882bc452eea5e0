"""Markup of other people, written anew: out comes a few known elements and text, never something that runs.

Nothing is filtered out of the original; a real HTML parser reads it, and only what is on the lists below is written.
"""

from __future__ import annotations

import re
from html import escape
from typing import Final

from haulwright.extras import needs_extra

with needs_extra("http", "Reading a page"):
    from selectolax.lexbor import LexborHTMLParser, LexborNode

from haulwright.sources.feeds.controls import is_line
from haulwright.sources.tools.urls import absolute_url

DEEPEST: Final = 100
"""Elements within one another; deeper ones lose their tags and keep their text."""

INLINE: Final = frozenset(
    {"a", "abbr", "b", "cite", "code", "del", "dfn", "em", "i", "ins", "kbd", "mark", "q", "s", "samp", "small", "span",
     "strong", "sub", "sup", "time", "u", "var"}
)  # fmt: skip
BLOCKS: Final = frozenset(
    {"blockquote", "caption", "dd", "details", "div", "dl", "dt", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5",
     "h6", "li", "ol", "p", "pre", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul"}
)  # fmt: skip
_INLINE_ENDS: Final = frozenset({"", *(f"</{tag}>" for tag in INLINE)})
VOID: Final = frozenset({"br", "hr", "img"})
UNSEEN: Final = frozenset(
    {"applet", "audio", "base", "button", "canvas", "embed", "form", "frame", "frameset", "head", "iframe", "input",
     "link", "math", "meta", "noembed", "noframes", "noscript", "object", "option", "param", "plaintext", "script",
     "select", "style", "svg", "template", "textarea", "title", "video", "xmp"}
)  # fmt: skip
"""Elements that go with everything in them. Any other unknown element loses its tags and keeps its text."""

ADDRESSES: Final = frozenset({"href", "src", "cite"})
ATTRIBUTES: Final = {
    "a": ("href", "title"),
    "abbr": ("title",),
    "blockquote": ("cite",),
    "img": ("src", "alt", "title", "width", "height"),
    "ol": ("start",),
    "q": ("cite",),
    "td": ("colspan", "rowspan"),
    "th": ("colspan", "rowspan"),
    "time": ("datetime",),
}

_TEXT: Final = r"[^<>&\x00\r\f\ud800-\udfff]"
_WORDS: Final = rf"(?:{_TEXT}++|&(?:amp|lt|gt);)*+"
_MARK: Final = "|".join(
    f"<{tag}>{_WORDS}</{tag}>" for tag in ("b", "cite", "code", "em", "i", "small", "strong", "sub", "sup", "u")
)
_LINK: Final = r'<a href="(https?://[A-Za-z0-9._~/?=#%+,:-]+)"(?: (?:class|rel|target)="[^"<>&\x00\r\ud800-\udfff]*")*>'
_RUN: Final = rf"(?:{_TEXT}++|&(?:amp|lt|gt);|<br ?/?>|{_LINK.replace('(https', '(?:https')}{_WORDS}</a>|{_MARK})"
_SIMPLE: Final = re.compile(rf"(?:{_RUN}|<p>{_RUN}*+</p>)*+")
"""Text and paragraphs with a few marks and links that lead somewhere by themselves, nothing within one another."""
_A: Final = re.compile(_LINK)
_BR: Final = re.compile("<br ?/?>")
_OF_BLOCKS: Final = re.compile("</?p>|<br>")
_OF_A_LINE: Final = re.compile("<[^>]*>")


def clean(markup: str, base: str | None = None) -> tuple[str, str]:
    """Return the markup with only known elements, and its plain text in one line."""
    if "<" not in markup and "&" not in markup:
        return escape(markup, quote=False), " ".join(markup.split())
    return _simple(markup, base) or _parsed(markup, base)


def plain_text(html: str) -> str:
    """Return the plain text, in one line, of HTML that is clean already."""
    paragraphs = as_paragraphs(html, is_html=True) if is_line(html) else None
    return (paragraphs or clean(html))[1]


def as_paragraphs(line: str, *, is_html: bool) -> tuple[str, str] | None:
    """Return what comes of one line, with single spaces, that has no marks but paragraphs; None where it has others."""
    if "<" not in line and "&" not in line:
        return line.replace(">", "&gt;"), line
    if not is_html or not line.startswith("<p>"):
        return None
    texts: list[str] = []
    is_spaced = False
    for paragraph in line.split("<p>")[1:]:
        text, end, after = paragraph.partition("</p>")
        if not end or (after and after != " "):
            return None
        texts.append(text)
        is_spaced = is_spaced or not text or text[0] == " " or text[-1] == " "
    text = " ".join(texts) if len(texts) > 1 else texts[0]
    if "<" in text or ">" in text or "&" in text:
        return None
    return line, " ".join(text.split()) if is_spaced else text


def _simple(markup: str, base: str | None) -> tuple[str, str] | None:
    """Return what comes of markup that is clean already, or nearly; None where only a parser knows.

    Most of what feeds contain is a few paragraphs. A parser reads them as they stand, and takes many times as long.
    """
    if not _SIMPLE.fullmatch(markup):
        return None
    if "<a" in markup and any(absolute_url(link, base) != link for link in _A.findall(markup)):
        return None
    html = _A.sub(r'<a href="\1">', markup) if "<a" in markup else markup
    html = _BR.sub("<br>", html).strip() if "<br" in html else html.strip()
    text = _OF_A_LINE.sub("", _OF_BLOCKS.sub(" ", html))
    if "&" in text:
        text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return html, " ".join(text.split())


def _parsed(markup: str, base: str | None) -> tuple[str, str]:
    """Return what comes of any markup, by way of a parser."""
    body = LexborHTMLParser(markup).body
    if body is None:
        return "", ""
    html: list[str] = []
    text: list[str] = []
    _write(body, base, html, text)
    return "".join(html).strip(), " ".join("".join(text).split())


def _write(body: LexborNode, base: str | None, html: list[str], text: list[str]) -> None:
    """Walk the tree once, without recursion: a page may nest deeper than Python does."""
    ends: list[str] = []
    node = body.first_child
    while node is not None:
        inside, end = _open(node, base, html, text, len(ends))
        if inside is not None:
            ends.append(end)
            node = inside
            continue
        html.append(end)
        while (following := node.next) is None and ends:
            end = ends.pop()
            html.append(end)
            text.append("" if end in _INLINE_ENDS else " ")
            node = node.parent or body
        node = following


def _open(
    node: LexborNode, base: str | None, html: list[str], text: list[str], depth: int
) -> tuple[LexborNode | None, str]:
    """Write the beginning of a node; return its first child, if it is to be walked, and how the node ends."""
    words = node.text_content
    if words is not None:
        html.append(escape(words, quote=False))
        text.append(words)
        return None, ""
    tag = node.tag or ""
    if tag in UNSEEN or not node.is_element_node:
        return None, ""
    if tag not in INLINE:
        text.append(" ")
    if tag in VOID:
        html.append(f"<{tag}{_attributes(node, tag, base)}>")
        return None, ""
    if depth >= DEEPEST or (tag not in INLINE and tag not in BLOCKS):
        return node.first_child, ""
    html.append(f"<{tag}{_attributes(node, tag, base)}>")
    return node.first_child, f"</{tag}>"


def _attributes(node: LexborNode, tag: str, base: str | None) -> str:
    """Return the attributes that an element may keep; addresses are absolute http addresses or left out."""
    allowed = ATTRIBUTES.get(tag)
    if allowed is None:
        return ""
    attributes = node.attributes
    kept = []
    for name in allowed:
        value = attributes.get(name)
        if value is not None and name in ADDRESSES:
            value = absolute_url(value, base)
        if value is not None:
            kept.append(f' {name}="{escape(value)}"')
    return "".join(kept)
