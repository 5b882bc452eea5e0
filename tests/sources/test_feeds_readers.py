"""Two readers of XML feeds: the quick one is right where it says what feedparser says, and leaves the rest to it."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from haulwright.errors import Permanent
from haulwright.sandbox.feeds import world
from haulwright.sandbox.feeds.formats import Channel, atom, rss091, rss1, rss2
from haulwright.sources.feeds import FeedLimits, parse_feed, reading
from haulwright.sources.feeds.guard import check_xml, without_prolog
from haulwright.sources.feeds.markup import _parsed, _simple, as_paragraphs
from haulwright.sources.feeds.tree_feed import read_tree
from haulwright.sources.feeds.xml_feed import read_xml
from haulwright.sources.tools.dates import _general, _usual
from haulwright.sources.tools.decoding import decode
from tests.sources.feed_pieces import feeds

WRITTEN = sorted((Path(__file__).parent / "feeds_written").glob("*.xml"))
LIMITS = FeedLimits()
SEVERAL = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
RSS = "<rss version='2.0' {}><channel><title>t</title><item><title>One</title>{}</item></channel></rss>"


def both(text, url="https://n.example/feed"):
    document = without_prolog(text)
    quick = read_tree(document, url, LIMITS)
    return quick, None if quick is None else read_xml(check_xml(document, LIMITS), url)


def sandbox_feed(write):
    articles = world.articles(7, 1_790_856_000.0 - world.WEEK, 1_790_856_000.0)[:40]
    return write(Channel("The Harbour Times", "https://news.example", "harbour", articles))


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.name)
def test_every_written_feed_is_read_as_feedparser_reads_it(path):
    quick, usual = both(decode(path.read_bytes())[0])

    assert quick == usual


@pytest.mark.parametrize("write", [rss2, rss091, rss1, atom])
def test_a_feed_as_it_should_be_is_read_without_feedparser_and_the_same(write, monkeypatch):
    body = sandbox_feed(write)
    quick, usual = both(body.decode())
    monkeypatch.setattr(reading, "read_xml", lambda *_: pytest.fail("feedparser was asked"))

    assert quick == usual
    assert len(parse_feed(body).entries) == 40


@SEVERAL
@given(text=feeds(), url=st.sampled_from([None, "https://n.example/feed"]))
def test_whatever_a_publisher_puts_together_both_readers_say_the_same(text, url):
    quick, usual = both(text, url)

    assert quick == usual


@pytest.mark.parametrize(
    ("head", "inside"),
    [
        ("", "<link>https://n.example/1</link><br/>&"),  # not well-formed
        ("", "<description><b>bold</b></description>"),  # markup that nobody escaped
        ("xmlns:dc='https://house.example/'", "<dc:creator>Jo</dc:creator>"),  # a prefix that misleads
        ("xmlns='https://house.example/'", "<creator>Jo</creator>"),
        ("", "<x xml:base='https://b.example/'>y</x><link>z</link>"),  # a base that stays in force
        ("", f"<author>{'Jo ' * 200}</author>"),  # a name that is cut
        ("", "</item></channel><channel><item><title>Two</title>"),
        ("", "<date>2026-11-14</date>"),
        (
            "xmlns:h='https://house.example/'",
            "<link h:href='/1'>/2</link>",
        ),  # a name that is its own to feedparser alone
        ("xmlns:h='https://house.example/'", "<category h:term='a'>b</category>"),
        ("", "<x xmlns:y='https://one.example/'/><z xmlns:y='https://two.example/'/>"),
    ],
)
def test_what_only_feedparser_knows_to_read_is_left_to_it(head, inside):
    assert both(RSS.format(head, inside)) == (None, None)


def test_a_feed_over_the_limits_is_refused_by_whoever_reads_it():
    body = RSS.format("", "<x>" * 20 + "</x>" * 20).encode()

    for limits in (FeedLimits(depth=10), FeedLimits(elements=20), FeedLimits(entries=0)):
        with pytest.raises(Permanent, match=r"deeper than|more than"):
            parse_feed(body, limits=limits)


def test_articles_that_speak_of_namespaces_are_read_quickly_all_the_same():
    code = '<description><![CDATA[<svg xmlns="http://www.w3.org/2000/svg">]]></description>'

    quick, usual = both(RSS.format("", code))

    assert quick is not None
    assert quick == usual


@pytest.mark.parametrize(
    "hostile",
    [
        "<x>" + "xmlns:" * 100_000 + "</x>",
        "<x>" + "xmlns=' " * 100_000 + "</x>",
        "<x a='xmlns'>" + "<![CDATA[" * 100_000,
        "<x>" + "base " * 100_000 + " " * 100_000 + "</x>",
        "<a>" * 100_000 + "</a>" * 100_000,
        "<link>x</link>" * 100_000,
        "<content>x</content>" * 100_000,
        "".join(f"<category>{number}</category>" for number in range(100_000)),
        "".join(f"<author><name>{number}</name></author>" for number in range(50_000)),
    ],
    ids=lambda hostile: hostile[:20],
)
def test_hostile_elements_take_the_quick_reader_no_long_time(hostile):
    document = without_prolog(RSS.format("", hostile))

    started = time.process_time()
    read_tree(document, None, LIMITS)

    assert time.process_time() - started < 5


MARKUP = st.lists(
    st.sampled_from(
        ["<p>", "</p>", "<p>Tolls rise.</p>", " ", "  ", "\n", "\t", "text", "&amp;", "&lt;", "&gt;", "&nbsp;", "&#27;",
         "<b>", "</b>", "<em>so</em>", "<br>", "<br />", '<a href="https://n.example/a?b=1">there</a>', "</a>", ">",
         '<a href="https://n.example/a?" rel="x" target="_blank">t</a>', '<a href="http://n.example:80/../x#">q</a>',
         '<a href="https://N.example">u</a>', '<p class="x">', "<p>a<b>b</b>c</p>", "&amp;lt;", "\x85", "\x1c", "\x0b",
         "\xe9", "\u2019", "'", '"', "&", "<div>", "<script>x</script>", "\x00", "\ud800"]
    ),
    max_size=7,
).map("".join)  # fmt: skip


@settings(max_examples=3_000, deadline=None)
@given(markup=MARKUP, base=st.sampled_from([None, "https://n.example/q/"]))
def test_simple_markup_comes_out_as_from_the_parser(markup, base):
    quick = _simple(markup, base)

    assert quick is None or quick == _parsed(markup, base)


@settings(max_examples=2_000, deadline=None)
@given(markup=MARKUP)
def test_a_line_of_paragraphs_comes_out_as_from_the_parser(markup):
    quick = as_paragraphs(" ".join(markup.split()), is_html=True) if markup.isascii() and markup.isprintable() else None

    assert quick is None or quick == _parsed(" ".join(markup.split()), None)


MOMENTS = st.builds(
    "{}-{:02}-{:02}T{:02}:{:02}:{:02}{}".format,
    st.sampled_from([1900, 1970, 2026, 9999, "0001"]), st.integers(0, 13), st.integers(0, 32), st.integers(0, 25),
    st.integers(0, 61), st.integers(0, 61), st.sampled_from(["Z", "+00:00", "-09:30", "+14:59", "+15:00", ""]),
)  # fmt: skip
MAILED = st.builds(
    "{}{} {} {} {:02}:{:02}:{:02} {}".format,
    st.sampled_from(["", "Sat, ", "Mon, ", "Son, "]), st.integers(0, 32), st.sampled_from(["Jan", "Mar", "Nov", "Foo"]),
    st.sampled_from([1900, 2026, 26, 9999]), st.integers(0, 25), st.integers(0, 61), st.integers(0, 61),
    st.sampled_from(["GMT", "UTC", "+0000", "-0930", "+1459", "+1500", "EST", ""]),
)  # fmt: skip


def moment(read, written):
    try:
        return read(written)
    except (ValueError, OverflowError):
        return "no date"


@settings(max_examples=1_000, deadline=None)
@given(written=MOMENTS | MAILED)
def test_a_usual_date_stands_for_what_the_shapes_say(written):
    quick = moment(_usual, written)

    assert quick is None or quick == "no date" or (quick, None) == moment(_general, written)
    assert quick != "no date" or moment(_general, written) == "no date"
    assert not isinstance(quick, datetime) or quick.tzinfo is UTC
