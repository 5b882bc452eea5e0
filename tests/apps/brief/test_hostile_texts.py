"""Whatever a feed says, every format of a brief can be written, and what was said is text in it."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from haulwright.apps.brief.document import build_brief
from haulwright.apps.brief.formats import FORMATS, as_atom, as_json, as_markdown
from haulwright.apps.brief.page import as_html
from haulwright.apps.brief.ranking import NewsReport, rank_events
from haulwright.visible import web_address

NOW = 1_704_067_200_000_000
ATOM = "{http://www.w3.org/2005/Atom}"
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
NO_ADDRESSES = [
    "https:alert(1)", "javascript:alert(1)", "JavaScript://a.example/%0aalert(1)", "data:text/html,<script>", "https://[",
    "https://", "http:///path", "https://a.example:port/", "https://a.example/\x1b[2J", "https://a.example/\ud800",
    "https://a.example/a b", "https://a.example/\n)", "\x01javascript:alert(1)", "https://a.example/\u202egpj.exe",
    "vbscript:x", "//a.example/x", "ftp://a.example/x", "https:\\\\a.example", " https://a.example/", "",
]  # fmt: skip
ADDRESSES = [
    "https://a.example/x", "HTTP://a.example/", "https://münchen.example/ü", "https://a.example:8080/?a=1&b=2#c",
    'https://a.example/?q="><script>alert(1)</script>', "https://a.example/a)b]c(d[e\\f&copy;*_`", "https://[::1]/x",
]  # fmt: skip
PIECES = [
    "\x1b[2J", "\x00", "\x9b", "\x85", "\u2028", "\u202e", "\ud800", "\udfff", "\ufffe", "\r", "\n", "\n\n", "\n# ",
    "\n- ", "\n> ", "\n```\n", "\n---\n", "\n===\n", "1. ", "2) ", "- ", "+ ", "* ", "# ", "    ", "\t", "[", "]", "](",
    ")", "![", "[x](javascript:alert(1))", "<script>alert(1)</script>", "<!--", "-->", "]]>", "<![CDATA[", "&lt;",
    "&#27;", "&", '"', "'", "`", "``", "*", "_", "**", "~~", "|", "\\", "{", "}", "!", "word", "é", "😀",
    "<a href='javascript:1'>",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=8).map("".join)
links = (
    st.none() | st.sampled_from([*ADDRESSES, *NO_ADDRESSES]) | st.builds("https://a.example/{}".format, texts) | texts
)


@st.composite
def documents(draw):
    reports = [
        NewsReport(
            article_id=f"a{number}", title=draw(texts), link=draw(links),
            text=f"{draw(texts)} A dam broke near Ashford.", source=draw(texts), at=NOW, feed_id="f",
            weight=1.0, is_copy=False,
        )
        for number in range(draw(st.integers(1, 3)))
    ]  # fmt: skip
    events = rank_events([(draw(texts) or "event", report) for report in reports], {})
    return build_brief("2024-01-01", events, most_events=20, now=NOW, version="1").document


class Page(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in {"href", "src"}]


def links_of(document):
    every = [place["link"] for event in document["events"] for place in (event, *event["reports"])]
    return [link for link in every if web_address(link)]


@pytest.mark.parametrize("address", [*NO_ADDRESSES, None])
def test_what_is_no_address_of_the_web_is_never_a_link(address):
    assert web_address(address) is None


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_of_the_web_is_a_link(address):
    assert web_address(address) == address


@given(documents())
def test_no_format_raises_and_each_can_be_saved_and_printed(document):
    for write, _ in FORMATS.values():
        text = write(document)

        assert CONTROLS.search(text.replace("\r\n", "\n")) is None
        text.encode()


@given(documents())
def test_a_page_links_to_the_web_alone_and_runs_nothing(document):
    page = Page(as_html(document))

    assert not {"script", "img", "iframe", "object", "form", "base"} & set(page.tags)
    assert page.tags.count("article") == len(document["events"])
    assert page.links == links_of(document)
    assert all(urlsplit(link).scheme in {"http", "https"} and urlsplit(link).netloc for link in page.links)


@given(documents())
def test_markdown_is_not_broken_out_of(document):
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.validateLink = lambda _: True  # nobody filters after us
    tokens = parser.parse(as_markdown(document))
    spans = [span for token in tokens for span in token.children or ()]
    events = document["events"]

    kinds = [token.type for token in tokens]
    assert kinds.count("heading_open") == 1 + len(events)
    assert kinds.count("list_item_open") == sum(len(event["reports"]) for event in events)
    assert not {"html_block", "fence", "code_block", "hr", "blockquote_open", "table_open"} & set(kinds)
    assert not {"html_inline", "image", "code_inline", "strong_open", "s_open"} & {span.type for span in spans}
    assert len([span for span in spans if span.type == "link_open"]) == len(links_of(document))
    assert all(web_address(span.attrs["href"]) for span in spans if span.type == "link_open")


@given(documents())
def test_atom_is_well_formed_and_links_to_the_web_alone(document):
    feed = ET.fromstring(as_atom(document).encode())  # noqa: S314 - we wrote it
    entries = feed.findall(f"{ATOM}entry")

    assert len(entries) == len(document["events"])
    assert [link.get("href") for link in feed.iter(f"{ATOM}link")] == [
        event["link"] for event in document["events"] if web_address(event["link"])
    ]
    assert all(entry.findtext(f"{ATOM}title") is not None for entry in entries)


@given(documents())
def test_json_says_what_was_said(document):
    halves = "surrogatepass"  # two that stand side by side are one character to JSON
    assert json.dumps(json.loads(as_json(document))).encode("utf-16", halves) == json.dumps(
        json.loads(json.dumps(document))
    ).encode("utf-16", halves)
