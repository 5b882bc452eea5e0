"""Articles are taken in once, edited where they are edited, and a body that is as before costs them nothing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from haulwright.clock import SECOND
from tests.apps.brief.scenes import LONG, rss
from tests.apps.principals import ACME

FLOOD = {
    "title": "Flood in Ashford",
    "link": "https://a.example/flood",
    "guid": "1",
    "description": "Water rose." + LONG,
}
STRIKE = {
    "title": "Strike at Corvo",
    "link": "https://a.example/strike",
    "guid": "2",
    "description": "Tools down." + LONG,
}


@pytest.mark.proves("IN-17", "RW-04")
def test_reading_a_feed_twice_takes_each_article_in_once(world):
    world.paper("harbour-times")

    (first,) = world.read()
    (again,) = world.read()

    assert first["new"] == first["entries"] > 10
    assert (again["outcome"], again["entries"], again["new"], again["edited"]) == ("unchanged", 0, 0, 0)
    assert len(set(world.rows("select url from raw_articles where url is not null"))) == first["new"]


def test_an_unchanged_feed_is_answered_by_304_and_writes_no_article(world):
    world.paper("harbour-times")
    world.read()
    before = world.rows("select * from brief_articles order by id")

    world.read()

    assert [entry.status for entry in world.sandbox.books.requests(service="feeds")] == [200, 304]
    assert world.rows("select * from brief_articles order by id") == before


def test_a_body_whose_validators_stand_with_its_feed_is_not_kept_a_second_time(world):
    world.paper("harbour-times")

    (first,) = world.read()

    assert first["new"] > 10
    assert world.rows("select count(*) from haulwright_cache") == [(0,)]


def test_a_server_without_validators_is_recognised_by_its_body(world):
    world.sandbox.files.script(tag="none", dated=False)
    world.tell(rss(FLOOD))

    again = world.tell(rss(FLOOD))

    assert again["outcome"] == "unchanged"
    assert world.sandbox.books.count(service="files", status=200) == 2


@pytest.mark.parametrize("tagged", ["strong", "none"], ids=["answered by 304", "answered with the same body"])
def test_a_feed_that_asks_to_be_left_alone_is_left_alone_after_an_unchanged_answer_too(world, tagged):
    world.sandbox.files.script(tag=tagged, dated=False)
    body = rss(FLOOD).replace(b"<channel>", b"<channel><ttl>60</ttl>")
    world.tell(body)
    world.bench.advance("2 h")

    again = world.tell(body)

    (feed,) = world.brief.feeds.all("acme")
    assert again["outcome"] == "unchanged"
    assert feed.due_at == world.bench.clock.now() + 3600 * SECOND


GUISES = {
    "trackers": {"link": "https://a.example/flood?utm_source=mail&fbclid=1"},
    "scheme-and-case": {"link": "HTTP://A.example:80/flood#top"},
    "another-guid": {"guid": "session-77"},
}


@pytest.mark.proves("RW-04")
def test_the_same_article_in_another_guise_is_not_taken_in_again(world):
    for tenant, other in GUISES.items():
        world.tell(rss(FLOOD), tenant=tenant)
        again = world.tell(rss({**FLOOD, **other}, title="Own, again"), tenant=tenant)
        assert (tenant, again["outcome"], again["new"]) == (tenant, "read", 0)

    assert world.rows("select count(*) from raw_articles") == [(len(GUISES),)]


def test_one_article_of_two_feeds_is_one_article_and_only_the_first_feed_edits_it(world):
    world.tell(rss(FLOOD), "one.xml")

    theirs = world.tell(rss({**FLOOD, "guid": "x", "title": "Their own title"}), "two.xml")

    assert (theirs["new"], theirs["edited"]) == (0, 0)
    assert world.titles() == ["Flood in Ashford"]


def test_an_edit_changes_the_article_and_makes_no_other(world):
    world.tell(rss(FLOOD, STRIKE))

    edited = world.tell(rss({**FLOOD, "title": "Flood in Ashford recedes"}, STRIKE))

    assert (edited["new"], edited["edited"]) == (0, 1)
    assert world.titles() == ["Flood in Ashford recedes", "Strike at Corvo"]
    assert world.rows("select edits from raw_articles where title like 'Flood%'") == [(1,)]


def test_articles_that_share_a_guid_are_told_apart_by_their_addresses(world):
    board = [
        {"title": f"Note {n}", "link": f"https://b.example/{n}", "guid": "same", "description": f"{n}"} for n in "123"
    ]

    assert world.tell(rss(*board), "board.xml")["new"] == 3
    assert world.tell(rss(*board, title="later"), "board.xml")["new"] == 0


def test_guids_that_change_with_every_fetch_bring_nothing_twice(world):
    feed = world.brief.add(ACME, f"{world.sandbox.url}/feeds/odd/guids.xml")

    first = world.read()[0]
    remembered = world.rows("select count(*) from brief_seen")
    second = world.read()[0]

    assert (first["new"] > 10, second["outcome"], second["new"]) == (True, "read", 0)
    assert world.rows("select count(*) from brief_seen") == remembered
    assert world.brief.feeds.get("acme", feed.id).failures == 0


def test_tenants_do_not_share_articles(world):
    for tenant in ("acme", "globex"):
        world.tell(rss(FLOOD), tenant=tenant)

    assert world.rows("select tenant_id, title from raw_articles order by 1") == [
        ("acme", "Flood in Ashford"),
        ("globex", "Flood in Ashford"),
    ]


def test_every_format_says_the_same(world):
    world.paper("harbour-times", ending="xml")
    for ending in ("atom", "json", "rdf"):
        world.paper("harbour-times", ending=ending)

    results = world.read()

    assert sum(one["new"] for one in results) == max(one["entries"] for one in results)


def test_a_date_that_cannot_be_true_is_none_and_the_article_counts_as_of_now(world):
    dates = ["Mon, 01 Jan 1024 10:00:00 GMT", "Tue, 01 Jan 2999 10:00:00 GMT", "yesterday"]
    world.tell(rss(*({"title": f"T{n}", "guid": f"{n}", "pubDate": date} for n, date in enumerate(dates))))
    world.tell(rss({"title": "T", "guid": "t", "at": datetime(2023, 12, 31, tzinfo=UTC)}), "dated.xml")

    found = world.rows("select title, published_at is null, at = seen_at from brief_articles order by title")
    assert [tuple(map(bool, row[1:])) for row in found] == [(False, False), (True, True), (True, True), (True, True)]
    warned = world.brief.feeds.get("acme", world.id_of(f"{world.sandbox.url}/files/own.xml")).warnings
    assert any("future" in one for one in warned)
    assert any("cannot be read" in one for one in warned)


@pytest.mark.parametrize("moment", [{"after": "claim"}, {"before": "read"}, {"after": "read"}])
def test_a_crash_loses_no_article_and_doubles_none(world, moment):
    feed = world.paper("harbour-times")
    handle = world.brief.fetch_task.using(tenant="acme").enqueue(feed)
    with world.bench.crash("brief.fetch", **moment):
        world.bench.drain()

    world.bench.advance("3 min")
    world.bench.drain()

    assert handle.state() == "succeeded"
    published = world.sandbox.feeds.articles(world.sandbox.clock.now() - 7 * 86400)
    assert len(world.titles()) == len([one for one in published if one.paper == "harbour-times"][:40])
