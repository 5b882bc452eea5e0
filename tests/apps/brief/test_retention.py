"""Retention removes articles that are old and that no brief cites, and what it removed never comes back."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from haulwright.apps.brief import retention
from haulwright.apps.brief.retention import PURGE_ALLOWED, RemovalCounts
from haulwright.stores.books import book
from tests.apps.brief.scenes import LONG, PACKAGE, rss
from tests.apps.principals import SYSTEM


def story(number):
    return {"title": f"Story {number}", "link": f"https://a.example/{number}", "guid": f"{number}", "description": LONG}


STORIES = [{**story(n), "description": f"Number {n}." + LONG} for n in range(6)]


def clean(world):
    handle = world.brief.retain(SYSTEM)
    world.bench.drain()
    return handle.result(timeout=0)


@pytest.fixture
def old(world):
    """Six articles of ninety-one days ago, placed, none of them in a brief."""
    world.tell(rss(*STORIES))
    world.cluster()
    world.bench.advance("91 days")
    return world


@pytest.mark.proves("RE-01")
def test_no_statement_removes_rows_of_any_other_table():
    for dialect in ("sqlite", "postgres"):
        pages = [page for folder in ("shared", dialect) for page in (files(PACKAGE) / folder / "books").iterdir()]
        for noun in {page.name.removesuffix(".sql") for page in pages}:
            for name, statements in book(PACKAGE, dialect, noun).items():
                by_person = {"brief_feeds"} if (noun, name) == ("feeds", "remove") else set()
                for table in re.findall(r"delete\s+from\s+(\w+)|truncate\s+(\w+)", " ".join(statements)):
                    assert table[0] in {*PURGE_ALLOWED, *by_person}


@pytest.mark.proves("RE-03")
def test_old_articles_and_their_links_go_and_the_counts_are_logged(old):
    removed = clean(old)

    assert removed == RemovalCounts.of(6, 6)
    assert old.titles() == []
    assert old.rows("select count(*) from event_clusters") == [(0,)]
    ((data,),) = old.rows("select data from haulwright_events where name = 'retention.cleaned'")
    assert '"brief_articles": 6' in data.replace('":6', '": 6')


@pytest.mark.proves("RE-04")
def test_cleaning_again_has_no_further_effect(old):
    clean(old)

    assert clean(old) == RemovalCounts.of(0, 0)


@pytest.mark.proves("RE-02")
def test_what_a_brief_cites_stays_for_ever(world):
    world.tell(rss(*STORIES[:2]))
    world.cluster()
    document = world.publish()
    world.bench.advance("3650 days")

    assert clean(world) == RemovalCounts.of(0, 0)
    cited = {report["article_id"] for event in document["events"] for report in event["reports"]}
    assert cited == {article for (article,) in world.rows("select article_id from brief_citations")}
    with pytest.raises(Exception, match=r"(?i)foreign key"):
        world.write("delete from brief_articles")


def test_young_articles_stay(world):
    world.tell(rss(*STORIES))
    world.bench.advance("89 days")

    assert clean(world) == RemovalCounts.of(0, 0)


@pytest.mark.proves("RE-04", "IN-17")
def test_what_was_removed_does_not_come_back_as_new(old):
    clean(old)

    again = old.tell(rss(*STORIES, title="the same entries in another body"))

    assert (again["entries"], again["new"], again["edited"]) == (6, 0, 0)
    assert old.titles() == []


def test_a_dry_run_counts_the_same_and_removes_nothing(old):
    counted = old.brief.retention.would_remove()

    assert counted == RemovalCounts.of(6, 6)
    assert len(old.titles()) == 6
    assert clean(old) == counted


@pytest.mark.proves("RE-03")
def test_a_crash_between_two_batches_leaves_whole_batches(old, monkeypatch):
    monkeypatch.setattr(retention, "BATCH", 2)
    handle = old.brief.retain(SYSTEM)
    with old.bench.crash("brief.retain", after="batch:1"):
        old.bench.drain()
    assert (len(old.titles()), old.rows("select count(*) from brief_links")) == (2, [(2,)])

    old.bench.advance("20 min")
    old.bench.drain()

    assert handle.state() == "succeeded"
    assert old.titles() == []
