from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from haulwright.sources.feeds import parse_feed

WRITTEN = Path(__file__).parent / "feeds_written"
ADDRESS = "https://news.example/feed"
NOW = datetime(2026, 11, 15, tzinfo=UTC)


def read(name):
    return parse_feed((WRITTEN / name).read_bytes(), url=ADDRESS, now=NOW)


@pytest.mark.parametrize(
    ("name", "written_as"),
    [
        ("rss091.xml", "rss 0.91"),
        ("rss10.xml", "rss 1.0"),
        ("rss20.xml", "rss 2.0"),
        ("atom10.xml", "atom 1.0"),
        ("feed11.json", "json feed 1.1"),
    ],
)
def test_a_feed_reads_the_same_in_every_format(name, written_as):
    feed = read(name)

    assert feed.format == written_as
    assert feed.title.startswith("Harbour")
    assert feed.link == "https://news.example/"
    assert len(feed.entries) == 1
    assert feed.entries[0].canonical_url.startswith("https://news.example/")
    assert feed.entries[0].title
    assert feed.entries[0].summary


def test_an_rss_item_becomes_an_entry():
    feed = read("rss20.xml")
    entry = feed.entries[0]

    assert (feed.language, feed.ttl_seconds, feed.warnings) == ("en", 5_400, ())
    assert entry.title == "Tolls & tides"
    assert entry.url == "https://news.example/tolls?utm_source=rss&id=7#top"
    assert entry.canonical_url == "https://news.example/tolls?id=7"
    assert (entry.guid, entry.guid_alt) == ("news-7", "news-7")
    assert entry.published_at == datetime(2026, 11, 14, 9, tzinfo=UTC)
    assert entry.author == "A. Writer"
    assert entry.tags == ("ports", "money")
    assert entry.summary == "Tolls rise again."
    assert entry.content == '<p>Tolls rise <a href="https://news.example/tides">with the tides</a>.</p>'
    assert entry.warnings == ()


def test_an_atom_entry_is_read_by_its_own_base_and_kinds_of_text():
    feed = read("atom10.xml")
    entry = feed.entries[0]

    assert (feed.title, feed.language) == ("Harbour <News>", "en")
    assert entry.title == "1 < 2 & <b>"
    assert entry.url == "https://news.example/blog/gates"
    assert entry.published_at == datetime(2026, 11, 14, 9, 0, 0, 250_000, tzinfo=UTC)
    assert entry.updated_at == datetime(2026, 11, 14, 10, tzinfo=UTC)
    assert (entry.author, entry.tags, entry.summary) == ("A. Writer", ("Ports",), "At last.")
    assert entry.content == '<p>They <em>open</em>. <img src="https://news.example/blog/g.png" alt="gate"></p>'


def test_a_json_feed_item_becomes_an_entry_and_what_is_none_is_counted():
    feed = read("feed11.json")
    entry = feed.entries[0]

    assert feed.warnings == ("1 items are no objects and were left out",)
    assert (entry.guid, entry.url) == ("7", "https://news.example/gates")
    assert entry.content == '<p>At <a href="https://news.example/last">last</a>.</p>'
    assert (entry.summary, entry.author, entry.tags) == ("At last.", "A. Writer, B. Writer", ("ports",))
    assert entry.updated_at == datetime(2026, 11, 14, 10, tzinfo=UTC)


def test_an_rdf_feed_says_how_often_it_wants_to_be_read():
    assert read("rss10.xml").ttl_seconds == 43_200
    assert read("rss10.xml").entries[0].published_at == datetime(2026, 11, 14, 8, 30, tzinfo=UTC)


@pytest.mark.parametrize("bad", ["", "soon", "-5", "0", "1.5"])
def test_a_senseless_ttl_is_none(bad):
    body = b"<rss version='2.0'><channel><title>t</title><ttl>%s</ttl></channel></rss>" % bad.encode()

    assert parse_feed(body).ttl_seconds is None


def test_a_feed_without_entries_is_a_feed():
    feed = parse_feed(b"<rss version='2.0'><channel><title>Quiet</title></channel></rss>")

    assert (feed.title, feed.entries, feed.warnings) == ("Quiet", (), ())


@pytest.mark.parametrize("home", ["https://news.example/", "/"])
def test_relative_links_start_from_the_site_when_the_address_of_the_feed_is_not_known(home):
    body = (
        b"<rss version='2.0'><channel><link>%s</link><item><title>t</title><link>/x</link></item></channel></rss>"
        % home.encode()
    )

    assert parse_feed(body).entries[0].url == ("https://news.example/x" if home != "/" else None)
