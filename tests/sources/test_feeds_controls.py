"""A control character of a feed reaches nobody, whichever format it was written in."""

from __future__ import annotations

import json
import re
from dataclasses import astuple
from html import escape

import pytest

from haulwright.sources.feeds import parse_feed

CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
NASTY = "a\x1b[2J\x00\x07\x9b\x93quoted\x94\x81\x7f\ud800\ufffe b"
MEANT = "a[2J\u203a\u201cquoted\u201d b"


def json_feed(text, *, html=False):
    item = {
        "id": f"1{text}", "title": text, "summary": text, "content_html" if html else "content_text": text,
        "tags": [text], "url": f"https://news.example/{text}", "authors": [{"name": text}],
        "language": f"en{text}",
    }  # fmt: skip
    head = {"version": "https://jsonfeed.org/version/1.1", "title": text, "home_page_url": "https://news.example/"}
    return json.dumps({**head, "items": [item]}).encode()


def rss(text):
    body = (
        "<title>{0}</title><description>{0}</description><author>{0}</author><category>{0}</category><guid>1{0}</guid>"
    )
    return f"<rss version='2.0'><channel><title>{text}</title><item>{body.format(text)}</item></channel></rss>".encode()


BODIES = {
    "json": json_feed(NASTY),
    "json with html": json_feed(f"<p title='{NASTY}'>{NASTY}</p>", html=True),
    "json with references": json_feed("a&#27;[2J&#0;&#155;&#x7f;&#x81;", html=True),
    "rss": rss(NASTY.replace("\ud800", "")),
    "rss with references": rss("a&#27;[2J&#155;&#127;"),
    "rss with html": rss(escape("<p>a&#27;[2J&#155;&#127;</p>")),
}


def texts_in(value):
    if isinstance(value, str):
        return [value]
    return [text for item in value for text in texts_in(item)] if isinstance(value, tuple | list) else []


@pytest.mark.parametrize("form", BODIES)
def test_no_field_of_a_feed_has_a_control_character(form):
    feed = parse_feed(BODIES[form], url="https://news.example/feed")

    assert len(feed.entries) == 1
    assert [text for text in texts_in(astuple(feed)) if CONTROLS.search(text)] == []


@pytest.mark.parametrize("form", ["json", "rss"])
def test_what_was_meant_stays(form):
    feed = parse_feed(BODIES[form], url="https://news.example/feed")
    (entry,) = feed.entries

    assert (feed.title, entry.title, entry.summary, entry.author, entry.tags) == (MEANT, MEANT, MEANT, MEANT, (MEANT,))
