"""The brief of a day: ranked events of what came in since the last one; a day has one brief, for ever."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from haulwright.errors import InvalidValue, NotFound
from haulwright.testing.harness import START
from tests.apps.brief.scenes import LONG, QUICK, World, rss
from tests.apps.principals import ACME

PAPERS = ("harbour-times", "northern-post")


@pytest.fixture
def news(world):
    """A few papers, read and gathered into events."""
    for paper in PAPERS:
        world.paper(paper, name=paper)
    world.read()
    world.cluster()
    return world


def test_a_brief_has_the_events_of_the_day_the_most_important_first(news):
    document = news.publish()

    scores = [event["score"] for event in document["events"]]
    assert (document["day"], document["title"]) == ("2024-01-01", "Brief of 1 January 2024")
    assert len(scores) == min(20, news.rows("select count(*) from event_clusters")[0][0])
    assert scores == sorted(scores, reverse=True)
    first = document["events"][0]
    assert first["sources"] == sorted(first["sources"])
    assert first["headline"] == first["reports"][0]["title"]
    assert "new in this brief" in first["why"]
    assert document["articles"] == news.rows("select count(*) from raw_articles")[0][0]


def test_a_summary_is_made_of_sentences_of_the_reports(news):
    document = news.publish()

    texts = " ".join(text for (text,) in news.rows("select text from raw_articles"))
    sentences = [sentence["text"] for event in document["events"] for sentence in event["summary"]]
    assert len(sentences) >= len(document["events"])
    assert all(sentence in texts for sentence in sentences)


def test_publishing_a_day_again_changes_nothing(news):
    first = news.publish()
    before = news.rows("select * from brief_briefs")
    news.tell(rss({"title": "Late", "link": "https://a.example/late", "guid": "l", "description": "Late." + LONG}))
    news.cluster()

    handle = news.brief.publish(ACME)
    news.bench.advance("1 h")
    news.bench.drain()

    assert handle.state() == "skipped"
    assert news.rows("select * from brief_briefs") == before
    assert news.rows("select title from brief_articles where briefed_on is null") == [("Late",)]
    assert news.brief.publishing.get("acme", "2024-01-01") == first


def test_a_late_article_appears_in_the_next_brief_and_no_article_in_two(news):
    news.brief.publishing.most_events = 1000
    news.publish()
    news.bench.advance("20 h")
    news.tell(rss({"title": "Late", "link": "https://a.example/late", "guid": "l", "description": "Late." + LONG}))
    news.read()
    news.cluster()
    news.bench.advance("5 h")

    second = news.publish()

    first = news.brief.publishing.get("acme", "2024-01-01")
    shown = [{one["article_id"] for event in brief["events"] for one in event["reports"]} for brief in (first, second)]
    assert second["day"] == "2024-01-02"
    assert not shown[0] & shown[1]
    assert "Late" in {event["headline"] for event in second["events"]}
    assert {day for (day,) in news.rows("select distinct briefed_on from brief_articles")} == {
        "2024-01-01",
        "2024-01-02",
    }


TAXES = {
    "title": "Parliament votes on taxes",
    "link": "https://a.example/taxes",
    "guid": "taxes",
    "description": "Parliament voted to raise the tax on fuel after a debate that went on until four in the morning.",
}


def quake(name):
    text = "A strong quake hit the town of Ashford at dawn; the harbour wall fell and the ferry pontoon sank."
    title = f"Quake hits Ashford {name}"
    return {"title": title, "link": f"https://a.example/{name}", "guid": name, "description": text}


def test_an_event_that_goes_on_is_less_new_the_next_day(world):
    world.tell(rss(quake("one"), quake("two")))
    world.cluster()
    world.publish()
    world.bench.advance("1 day")
    world.tell(rss(quake("three")), "next.xml")
    world.cluster()

    (event,) = world.publish()["events"]

    assert event["novelty"] == 0.3333
    assert "2 reports told before" in event["why"]


def test_an_event_that_was_left_out_for_want_of_room_was_not_told_before(bench, sandbox):
    world = World.open(bench, sandbox, replace(QUICK, events=1))
    world.tell(rss(quake("one"), quake("two"), TAXES))
    world.cluster()
    (shown,) = world.publish()["events"]
    assert shown["headline"].startswith("Quake")
    world.bench.advance("1 day")
    more = {**TAXES, "title": "Parliament votes on taxes again", "link": "https://a.example/more", "guid": "more"}
    world.tell(rss(more), "next.xml")
    world.cluster()

    (event,) = world.publish()["events"]

    assert (event["headline"], event["novelty"]) == (more["title"], 1)
    assert "new in this brief" in event["why"]


def test_a_backlog_that_is_too_large_for_one_brief_does_not_push_out_the_newest(world, monkeypatch):
    monkeypatch.setattr("haulwright.apps.brief.publishing.MOST_ARTICLES", 2)
    ages = {"Ferry sinks": 3, "Parliament votes on taxes": 2, "Quake hits Ashford": 1}
    items = ({"title": title, "guid": title, "at": START - timedelta(days=age)} for title, age in ages.items())
    world.tell(rss(*items))
    world.cluster()

    shown = {event["headline"] for event in world.publish()["events"]}

    assert shown == {"Parliament votes on taxes", "Quake hits Ashford"}
    assert world.rows("select title from brief_articles where briefed_on is null") == [("Ferry sinks",)]


def test_the_weight_of_a_source_decides_between_events_of_one_size(world):
    for headline, weight in (("Ferry sinks off Ashford", 1.0), ("Parliament votes on taxes", 3.0)):
        name = f"{weight}.xml"
        item = {"title": headline, "link": f"https://a.example/{weight}", "guid": name, "description": headline * 3}
        world.sandbox.files.put(name, rss(item))
        world.brief.add(ACME, f"{world.sandbox.url}/files/{name}", weight=weight)
    world.read()
    world.cluster()

    headlines = [event["headline"] for event in world.publish()["events"]]

    assert headlines == ["Parliament votes on taxes", "Ferry sinks off Ashford"]


def test_without_news_there_is_no_brief(world):
    handle = world.brief.publish(ACME)
    world.bench.drain()

    assert handle.state() == "skipped"
    with pytest.raises(NotFound):
        world.brief.publishing.get("acme")


def test_a_day_of_the_future_and_one_before_the_newest_brief_are_refused(news):
    news.publish()

    for day, why in (("2024-01-02", "future"), ("2023-12-31", "newest"), ("soon", "no day")):
        with pytest.raises(InvalidValue, match=why):
            news.brief.publish(ACME, day)


@pytest.mark.parametrize("moment", [{"before": "publish"}, {"after": "publish"}])
def test_a_crash_leaves_a_whole_brief_or_none(news, moment):
    news.brief.publish(ACME)
    with news.bench.crash("brief.publish", **moment):
        news.bench.drain()
    kept = news.rows("select count(*) from brief_briefs")[0][0]
    shown = news.rows("select count(*) from brief_articles where briefed_on is not null")[0][0]
    assert bool(kept) == bool(shown) == ("after" in moment)

    news.bench.advance("1 h")
    news.bench.drain()

    assert news.rows("select count(*) from brief_briefs") == [(1,)]
    assert news.rows("select count(*) from brief_articles where briefed_on is null") == [(0,)]


def test_a_published_brief_cannot_be_changed_or_removed(news):
    news.publish()

    for sql in ("update brief_briefs set document = '{}'", "delete from brief_briefs"):
        with pytest.raises(Exception, match="published brief"):
            news.write(sql)
