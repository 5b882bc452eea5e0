from __future__ import annotations

import json
from collections import defaultdict
from xml.etree import ElementTree as ET

import feedparser
import pytest

from haulwright.sandbox.feeds.stories import cast

DAY = 86_400.0


@pytest.mark.parametrize(
    ("ending", "version"), [("xml", "rss20"), ("rss091", "rss091n"), ("rdf", "rss10"), ("atom", "atom10")]
)
def test_each_format_is_what_it_says(sandbox, client, ending, version):
    answer = client.get(f"/feeds/harbour-times.{ending}")

    feed = feedparser.parse(answer.content)

    titles = [article.title for article in sandbox.feeds.articles(sandbox.clock.now() - 7 * DAY)]
    assert (feed.version, feed.bozo) == (version, False)
    assert feed.entries
    assert {entry.title for entry in feed.entries} <= set(titles)


def test_a_json_feed_says_the_same(client):
    feed = client.get("/feeds/harbour-times.json").json()

    assert feed["version"].endswith("1.1")
    assert [item["title"] for item in feed["items"]] == [
        entry.title for entry in feedparser.parse(client.get("/feeds/harbour-times.xml").content).entries
    ]


def test_an_event_is_covered_by_several_papers_in_words_of_their_own(sandbox):
    events = defaultdict(list)
    for article in sandbox.feeds.articles(sandbox.clock.now() - 14 * DAY):
        events[article.event].append(article)
    covered = [articles for articles in events.values() if len(articles) > 1]

    assert 60 <= len(events) <= 125
    assert max(map(len, covered)) <= 6
    assert sum(len({article.text for article in articles}) > 1 for articles in covered) > len(covered) * 0.9


def test_no_two_stories_of_some_weeks_have_a_name_in_common():
    seen = set()
    for number in range(400):
        names = cast(number)
        words = {word for value in names.values() if isinstance(value, str) for word in value.split()}
        assert len(words) == 13
        assert not words & seen
        seen |= words


def test_articles_appear_with_the_clock(sandbox, client):
    before = {entry.id for entry in feedparser.parse(client.get("/feeds/daily-ledger.atom").content).entries}
    sandbox.clock.advance(DAY)
    after = {entry.id for entry in feedparser.parse(client.get("/feeds/daily-ledger.atom").content).entries}

    assert after - before
    assert after & before


def test_an_unchanged_feed_is_not_sent_again_and_a_changed_one_is(sandbox, client):
    first = client.get("/feeds/daily-ledger.xml")
    known = {"If-None-Match": first.headers["ETag"], "If-Modified-Since": first.headers["Last-Modified"]}

    unchanged = client.get("/feeds/daily-ledger.xml", headers=known)
    sandbox.clock.advance(2 * DAY)
    changed = client.get("/feeds/daily-ledger.xml", headers=known)

    assert (unchanged.status_code, changed.status_code) == (304, 200)
    assert unchanged.headers["ETag"] == first.headers["ETag"]


def test_some_articles_are_edited_after_they_were_published(sandbox):
    now = sandbox.clock.now()
    edited = [article for article in sandbox.feeds.articles(now - 7 * DAY) if article.updated > article.published]

    before = {article.id: article for article in sandbox.feeds.articles(now - 7 * DAY, edited[0].updated - 1)}

    assert edited[0].title == f"{before[edited[0].id].title} (updated)"
    assert edited[0].text != before[edited[0].id].text


def test_an_article_has_a_page(sandbox, client):
    article = sandbox.feeds.articles(sandbox.clock.now() - DAY)[0]

    page = client.get(f"/feeds/articles/{article.id}")

    assert article.summary.split(".")[0] in page.text
    assert client.get("/feeds/articles/none").status_code == 404


def test_guids_that_change_belong_to_articles_that_do_not(client):
    first, second = (feedparser.parse(client.get("/feeds/odd/guids.xml").content).entries for _ in range(2))

    assert [entry.link for entry in first] == [entry.link for entry in second]
    assert not {entry.id for entry in first} & {entry.id for entry in second}


def test_hostile_and_broken_feeds_are_as_bad_as_they_should_be(client):
    bodies = {name: client.get(f"/feeds/odd/{name}.xml").content for name in ("bomb", "entity", "latin1", "broken")}

    assert bodies["bomb"].count(b"&l0;" * 10) == 1
    assert bodies["bomb"].count(b"<!ENTITY") == 10
    assert b"SYSTEM" in bodies["entity"]
    assert "Café".encode("latin-1") in bodies["latin1"]
    with pytest.raises(ET.ParseError):
        ET.fromstring(bodies["broken"])  # noqa: S314 - our own, and broken


def test_dates_can_be_unreadable(client):
    dates = [entry.get("published") for entry in feedparser.parse(client.get("/feeds/odd/dates.xml").content).entries]

    assert "Tuesday morning" in dates


def test_feeds_move_and_go(client):
    moved, loop, gone = (client.get(f"/feeds/odd/{name}.xml") for name in ("moved", "loop", "gone"))

    assert (moved.status_code, gone.status_code) == (301, 410)
    assert client.get(moved.headers["Location"]).status_code == 200
    assert loop.headers["Location"].endswith("/feeds/odd/loop.xml")


def test_an_article_can_be_withdrawn(sandbox, client):
    ids = [item["id"] for item in client.get("/feeds/the-lantern.json").json()["items"]]

    sandbox.feeds.script(withdraw=ids[0].removeprefix("urn:sandbox:"))

    assert ids[0] not in json.dumps(client.get("/feeds/the-lantern.json").json())
