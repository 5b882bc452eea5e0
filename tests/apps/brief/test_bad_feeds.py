"""A feed that cannot be read is written down on the feed, and the rest goes on."""

from __future__ import annotations

import json

from tests.apps.brief.scenes import rss
from tests.apps.principals import ACME

GOOD = {"title": "Good", "link": "https://a.example/1", "guid": "1"}


def failing(world, name="own.xml"):
    return world.brief.feeds.get("acme", world.id_of(f"{world.sandbox.url}/files/{name}"))


NO_FEEDS = {
    "is empty": b"",
    "HTML page": b"<html><body>Please log in</body></html>",
    "PDF": b"%PDF-1.7",
    "entities": b'<!DOCTYPE rss [<!ENTITY a "b">]><rss><channel><title>&a;</title></channel></rss>',
    "deeper": b"<rss>" + b"<x>" * 1000 + b"</rss>",
    "JSON": b'{"items": [',
    "begins with 'hello'": b"hello",
}


def test_what_is_no_feed_is_said_on_the_feed_and_writes_no_article(world):
    for number, (why, body) in enumerate(NO_FEEDS.items()):
        result = world.tell(body, f"{number}.xml")

        feed = failing(world, f"{number}.xml")
        assert (result["outcome"], why in (feed.last_error or "")) == ("failed", True)
        assert (feed.failures, feed.checked_at, feed.etag) == (1, None, None)
    assert world.titles() == []


def test_a_body_of_fifty_megabytes_is_not_read_to_its_end(world):
    world.brief.add(ACME, f"{world.sandbox.url}/files/big.xml?size={50 * 1024 * 1024}")

    (result,) = world.read()

    assert result["outcome"] == "failed"
    assert result["error"].endswith("the body has 52428800 bytes; 16777216 are allowed.")


def test_the_oddities_of_the_world_keep_no_other_feed_from_being_read(world):
    odd = [f"{world.sandbox.url}/feeds/odd/{name}.xml" for name in ("bomb", "entity", "page", "gone", "loop")]
    for url in odd:
        world.brief.add(ACME, url)
    good = world.paper("daily-ledger")

    world.read()

    assert [world.brief.feeds.get("acme", world.id_of(url)).failures for url in odd] == [1] * len(odd)
    assert world.brief.feeds.get("acme", good).failures == 0
    assert world.titles()


def test_what_is_broken_but_readable_is_read_and_said(world):
    for name in ("latin1", "dates", "same-guid", "broken"):
        feed = world.brief.add(ACME, f"{world.sandbox.url}/feeds/odd/{name}.xml")
        assert world.brief.feeds.get("acme", feed.id).warnings == ()

    results = world.read()

    assert [result["outcome"] for result in results] == ["read"] * 4
    assert max(result["new"] for result in results) > 5
    assert all(feed.warnings for feed in world.brief.feeds.all("acme"))


def test_a_feed_that_moved_is_read_where_it_is(world):
    world.brief.add(ACME, f"{world.sandbox.url}/feeds/odd/moved.xml")

    (result,) = world.read()

    assert (result["outcome"], result["new"] > 5) == ("read", True)


def test_a_feed_that_fails_is_left_alone_ever_longer_and_is_well_again_after_one_success(world):
    world.tell(b"")
    waits = []
    for _ in range(3):
        feed = failing(world)
        waits.append((feed.due_at - world.bench.clock.now()) // 60_000_000)
        world.tell(b" ")

    world.tell(rss(GOOD))

    assert waits == [15, 30, 60]
    assert (failing(world).failures, failing(world).last_error) == (0, None)
    events = world.rows("select data from haulwright_events where name = 'feed.failed' order by seq")
    assert [json.loads(data)["failures"] for (data,) in events] == [1, 2, 3, 4]


def test_a_server_that_fails_is_written_down_and_asked_again_by_a_later_slot(scheduled):
    feed = scheduled.paper("harbour-times")
    scheduled.sandbox.faults.add("status", path="/feeds/*", code=503)

    (failed,) = scheduled.read()
    scheduled.bench.advance("15 min")
    scheduled.bench.drain()

    assert failed["outcome"] == "failed"
    assert scheduled.brief.feeds.get("acme", feed).failures == 0
    assert scheduled.titles()


def test_text_that_no_database_could_hold_is_taken_in_without_it(world):
    items = [{"id": "1", "title": "nul \x00 and \ud800 half", "content_text": "x\x00y"}]
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": "t", "items": items}

    result = world.tell(json.dumps(feed).encode(), "own.json")

    assert result["new"] == 1
    assert "\x00" not in world.titles()[0]


def test_entries_without_guid_or_date_or_link_are_taken_in_by_what_they_have(world):
    bare = [{"title": "Only a title"}, {"link": "https://a.example/only-a-link"}, {"description": "a text"}]

    first = world.tell(rss(*bare))
    again = world.tell(rss(*bare, title="again"))

    assert (first["new"], again["new"]) == (3, 0)
