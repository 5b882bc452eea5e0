"""A brief is the same in every format, and what comes from feeds is text in all of them."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from haulwright.apps.brief.document import build_brief
from haulwright.apps.brief.formats import as_atom, as_json, as_markdown
from haulwright.apps.brief.page import as_html
from haulwright.apps.brief.ranking import NewsReport, rank_events
from haulwright.apps.brief.summary import summarise
from haulwright.sources.feeds import parse_feed

NOW = 1_704_067_200_000_000
EVIL = '<script>alert(1)</script> & "quotes" [link](javascript:alert(1)) *stars* \x01'


def report(name, text="Nobody knows why it happened. The mayor of Ashford spoke of luck.", **fields):
    words = {"title": f"Title {name}", "link": f"https://a.example/{name}", "at": NOW, "feed_id": "f", "source": "Post"}
    return NewsReport(**{"article_id": name, "text": text, "weight": 1.0, "is_copy": False, **words, **fields})


def document(*reports, before=None, most=20):
    events = rank_events([(one.article_id.partition("/")[0], one) for one in reports], before or {})
    return build_brief("2024-01-01", events, most_events=most, now=NOW, version="1").document


class Reader(HTMLParser):
    """Collects what a page is made of."""

    def __init__(self):
        super().__init__()
        self.tags, self.links, self.attributes = [], [], set()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value for name, value in attrs if name in {"href", "src"}]


@pytest.fixture
def evil():
    return document(
        report("a", EVIL * 3, title=EVIL, link="javascript:alert(1)", source=EVIL),
        report("b", title="", link='https://a.example/?a=1&b="><script>'),
    )


def test_a_page_runs_nothing_and_loads_nothing_whatever_feeds_say(evil):
    page = as_html(evil)

    reader = Reader()
    reader.feed(page)
    assert "script" not in reader.tags
    assert not any(name.startswith("on") for name in reader.attributes)
    assert all(link.startswith("https://") for link in reader.links)
    assert not {"img", "link", "iframe", "object"} & set(reader.tags)
    assert "default-src 'none'" in page


def test_a_page_can_be_read_on_a_phone_and_in_the_dark(evil):
    page = as_html(evil)

    assert "width=device-width" in page
    assert "prefers-color-scheme: dark" in page
    assert page.count("<h1>") == 1


def test_markdown_has_no_markup_but_its_own(evil):
    text = as_markdown(evil)

    assert "<script" not in text
    assert not re.search(r"(?<!\\)\]\(<?javascript", text)
    assert r"\*stars\*" in text
    assert re.findall(r"^#+ ", text, re.MULTILINE) == ["# ", "## ", "## "]


def test_atom_is_a_feed_that_our_own_reader_reads(evil):
    feed = parse_feed(as_atom(evil).encode(), url="https://a.example/atom")

    assert (feed.format, feed.title) == ("atom 1.0", "Brief of 1 January 2024")
    assert len(feed.entries) == 2
    assert feed.warnings == ()
    assert {entry.url for entry in feed.entries} <= {None, 'https://a.example/?a=1&b="><script>'}


def test_json_is_the_document_itself(evil):
    assert json.loads(as_json(evil)) == evil


def test_a_brief_names_the_largest_events_and_counts_the_rest():
    brief = document(report("a/1"), report("a/2", source="Star"), report("b/1"), report("c/1"), most=1)

    assert [event["id"] for event in brief["events"]] == ["a"]
    assert (brief["events_not_shown"], brief["articles"]) == (2, 4)
    assert "2 smaller events are not shown" in as_html(brief)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([report("a/1"), report("a/2")], [report("b/1")]),
        ([report("a/1", weight=2.0)], [report("b/1")]),
        ([report("a/1")], [report("b/1", at=NOW + 1)]),
        ([report("a/1"), report("a/2")], [report("b/1"), report("b/2", is_copy=True)]),
    ],
    ids=["more reports", "a weightier source", "told first", "no copies"],
)
def test_events_are_ranked_by_what_the_brief_says(first, second):
    brief = document(*second, *first)

    assert [event["id"] for event in brief["events"]] == ["a", "b"]


def test_an_event_that_was_told_before_comes_after_a_new_one():
    brief = document(report("a/1"), report("b/1", at=NOW + 1), before={"a": 5})

    assert [event["id"] for event in brief["events"]] == ["b", "a"]
    assert brief["events"][1]["why"] == "1 report by 1 source, 5 reports told before, source weight 1: score 0.5833"


def test_a_summary_says_what_most_reports_say_and_nothing_twice():
    texts = [
        "A dam broke near Ashford on Monday morning. My cousin likes tea and biscuits a lot.",
        "Near Ashford a dam broke on Monday morning. Rescue teams brought ninety people from Ashford to safety.",
        "Rescue teams brought ninety people from Ashford to safety. The dam near Ashford was built in 1911.",
    ]

    sentences = [sentence.text for sentence in summarise("Disaster", texts)]

    assert sentences[0] == "A dam broke near Ashford on Monday morning."
    assert "Rescue teams brought ninety people from Ashford to safety." in sentences
    assert not any("cousin" in one for one in sentences)
    assert sum("broke" in one for one in sentences) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Short.",
        "word " * 500,
        "。" * 300,
        "東京で大きな地震があった。被害は小さいと市長は語り、人々に落ち着くよう求めた。",
    ],
)
def test_a_summary_of_anything_is_sentences_of_it_or_nothing(text):
    assert all(sentence.text in " ".join(text.split()) for sentence in summarise("", [text]))
