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


IMAGE = "<image><title>Wrong</title><link>https://w.example/</link><description>wrong</description></image>"
RIGHT = "<title>Right</title><link>https://news.example/1</link><description>right</description>"


@pytest.mark.parametrize("channel", ["", IMAGE])
@pytest.mark.parametrize("item", [RIGHT + IMAGE, IMAGE + RIGHT])
def test_what_an_image_of_an_item_says_is_not_said_of_the_item(channel, item):
    body = f"<rss version='2.0'><channel>{channel}<item>{item}</item></channel></rss>"

    entry = parse_feed(body.encode(), url=ADDRESS).entries[0]

    assert (entry.title, entry.url, entry.summary, entry.content) == (
        "Right",
        "https://news.example/1",
        "right",
        "right",
    )


def test_a_title_stays_in_a_feed_that_is_not_well_formed_too():
    body = f"<rss version='2.0'><channel><item>{RIGHT}{IMAGE}</item><item>&</channel></rss>"

    assert parse_feed(body.encode(), url=ADDRESS).entries[0].title == "Right"


@pytest.mark.parametrize("person", ["<author><name>Jo</name><title>Wrong</title><company>Wrong</company></author>"])
def test_the_title_that_an_author_bears_is_not_that_of_the_item(person):
    body = f"<rss version='2.0'><channel><item>{RIGHT}{IMAGE}{person}</item></channel></rss>"

    entry = parse_feed(body.encode(), url=ADDRESS).entries[0]

    assert (entry.title, entry.author) == ("Right", "Jo")


def test_all_authors_of_an_entry_are_named_each_once():
    atom = "<author><name>Ann</name></author><author><name>Bo</name><email>b@n.example</email></author>"
    rss = "<dc:creator>Ann</dc:creator><dc:creator>Bo</dc:creator><author>Ann</author>"

    of_atom = parse_feed(f"<feed xmlns='http://www.w3.org/2005/Atom'><entry><id>1</id>{atom}</entry></feed>".encode())
    of_rss = parse_feed(
        f"<rss version='2.0' xmlns:dc='http://purl.org/dc/elements/1.1/'><channel><item><guid>1</guid>{rss}</item>"
        "</channel></rss>".encode()
    )

    assert of_atom.entries[0].author == "Ann, Bo"
    assert of_rss.entries[0].author == "Ann, Bo"


def test_an_entry_without_an_author_has_that_of_its_feed_in_atom_and_json():
    entries = "<entry><id>1</id></entry><entry><id>2</id><author><name>Bo</name></author></entry>"
    source = "<entry><id>3</id><source><author><name>Cy</name></author></source></entry>"
    atom = (
        f"<feed xmlns='http://www.w3.org/2005/Atom'><author><name>Ann</name></author>{entries}{source}</feed>".encode()
    )
    items = '"authors": [{"name": "Ann"}], "items": [{"id": 1}, {"id": 2, "author": {"name": "Bo"}}]'
    json = f'{{"version": "https://jsonfeed.org/version/1.1", {items}}}'.encode()

    assert [entry.author for entry in parse_feed(atom).entries] == ["Ann", "Bo", "Cy"]
    assert [entry.author for entry in parse_feed(json).entries] == ["Ann", "Bo"]


def test_the_editor_of_an_rss_channel_is_not_the_author_of_its_items():
    channel = "<managingEditor>ed@n.example (Ed)</managingEditor><item><guid>1</guid></item>"

    assert parse_feed(f"<rss version='2.0'><channel>{channel}</channel></rss>".encode()).entries[0].author is None


def test_an_item_that_went_through_feedburner_leads_to_its_own_page():
    item = (
        "<title>t</title><link>https://feedproxy.example/~r/x</link>"
        "<feedburner:origLink>https://news.example/1</feedburner:origLink>"
    )
    namespace = "xmlns:feedburner='http://rssnamespace.org/feedburner/ext/1.0'"

    body = f"<rss version='2.0' {namespace}><channel><item>{item}</item></channel></rss>"

    assert parse_feed(body.encode()).entries[0].url == "https://news.example/1"


CONTAINERS = {
    "an unknown element": "<related><article><title>Wrong</title><link>https://w.example/</link><guid>wrong</guid>"
    "<description>wrong</description><pubDate>Mon, 01 Jan 2001 00:00:00 GMT</pubDate></article></related>",
    "another namespace": "<y:related xmlns:y='urn:y'><link>https://w.example/</link><author>Wrong</author></y:related>",
    "a caption": "<m:content xmlns:m='http://search.yahoo.com/mrss/'><m:title>Wrong</m:title>"
    "<m:description>A caption that is much longer than what the item says.</m:description></m:content>",
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("first", [True, False])
def test_what_stands_inside_another_part_of_an_item_is_not_said_of_the_item(container, first):
    nested = CONTAINERS[container]
    item = nested + RIGHT if first else RIGHT + nested

    entry = parse_feed(f"<rss version='2.0'><channel><item>{item}</item></channel></rss>".encode()).entries[0]

    assert (entry.title, entry.url, entry.guid, entry.author) == ("Right", "https://news.example/1", None, None)
    assert (entry.summary, entry.content, entry.published_at) == ("right", "right", None)


def test_where_the_caption_of_a_video_is_all_that_is_said_it_is_the_summary():
    group = "<m:group><m:title>A video</m:title><m:description>What is seen.</m:description></m:group>"
    body = (
        "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:m='http://search.yahoo.com/mrss/'><entry><id>1</id>"
        f"<title>A video</title>{group}</entry></feed>"
    )

    assert parse_feed(body.encode()).entries[0].summary == "What is seen."


@pytest.mark.parametrize("name", ["description", "content:encoded"])
def test_markup_that_stands_in_a_feed_without_being_escaped_is_read(name):
    text = f"<{name}><div><title>x</title><p>Tolls <link>rise</link></p></div></{name}>"
    namespace = "xmlns:content='http://purl.org/rss/1.0/modules/content/'"

    body = f"<rss version='2.0' {namespace}><channel><item><guid>1</guid>{text}</item></channel></rss>"

    assert "Tolls" in parse_feed(body.encode()).entries[0].summary


def test_escaped_and_forgotten_markup_stand_beside_each_other():
    text = "<description><![CDATA[<p>Tolls & tides</p>]]><br/><b>rise</b></description>"
    more = "<categories><category>ports</category><category>money</category></categories>"

    entry = parse_feed(f"<rss version='2.0'><channel><item>{text}{more}</item></channel></rss>".encode()).entries[0]

    assert (entry.summary, entry.tags) == ("Tolls & tides rise", ("ports", "money"))
