"""An article is its address: a new address is a new article, whatever else it shares, and nothing is lost."""

from __future__ import annotations

import json

import pytest

from tests.apps.brief.scenes import LONG, rss

NO_ADDRESS = {"link": "mailto:desk@a.example"}
"""A link that leads to no page: such an entry has no address."""
COLUMN = {"title": "The weather column", "description": "Rain, then sun." + LONG}


def column(day, **more):
    """The column of a day: every day under another address."""
    return {**COLUMN, "link": f"https://a.example/column/{day}", "guid": f"column-{day}", **more}


def articles(world):
    return world.rows("select url, title, edits from raw_articles order by url, title")


@pytest.mark.proves("RW-04")
def test_a_column_that_reads_like_yesterdays_is_a_new_article(world):
    world.tell(rss(column(1)))

    second = world.tell(rss(column(2)))

    assert (second["new"], second["edited"], second["repeated"]) == (1, 0, 0)
    assert articles(world) == [
        ("https://a.example/column/1", "The weather column", 0),
        ("https://a.example/column/2", "The weather column", 0),
    ]


@pytest.mark.proves("RW-04")
def test_a_guid_that_never_changes_overwrites_nothing(world):
    world.tell(rss(column(1, guid="today", title="Monday")))

    second = world.tell(rss(column(2, guid="today", title="Tuesday")))

    assert (second["new"], second["edited"]) == (1, 0)
    assert articles(world) == [
        ("https://a.example/column/1", "Monday", 0),
        ("https://a.example/column/2", "Tuesday", 0),
    ]


@pytest.mark.proves("RW-04")
def test_one_link_under_two_guids_is_one_article_with_its_address(world):
    newest, older = column(1, guid="b", title="As corrected"), column(1, guid="a", title="As it was")

    first = world.tell(rss(newest, older))
    again = world.tell(rss(newest, older, title="Own, again"))

    assert (first["entries"], first["new"], first["repeated"]) == (2, 1, 1)
    assert (again["entries"], again["new"], again["edited"], again["repeated"]) == (2, 0, 0, 2)
    assert articles(world) == [("https://a.example/column/1", "As corrected", 0)]


def test_an_entry_without_a_link_is_known_by_its_guid(world):
    entry = {**NO_ADDRESS, "title": "Notice", "guid": "notice-1", "description": "Closed." + LONG}
    world.tell(rss(entry))

    again = world.tell(rss({**entry, "title": "Notice, amended"}))

    assert (again["new"], again["edited"]) == (0, 1)
    assert articles(world) == [(None, "Notice, amended", 1)]


def test_an_entry_without_link_and_guid_is_known_by_what_it_says(world):
    entry = {**NO_ADDRESS, "title": "Notice", "description": "Closed." + LONG}
    world.tell(rss(entry))

    again = world.tell(rss(entry, {**NO_ADDRESS, "title": "Another notice", "description": "Open."}))

    assert (again["entries"], again["new"], again["repeated"]) == (2, 1, 1)


def test_every_entry_of_a_body_is_counted_as_what_became_of_it(world):
    world.tell(rss(column(1), column(2)))
    edited, repeated, same_guid_and_link = column(1, title="Edited"), column(2), column(2)
    nothing, new = {**NO_ADDRESS, "category": "Nothing says who this is."}, column(3)

    result = world.tell(rss(edited, repeated, same_guid_and_link, nothing, new))

    assert result["entries"] == 5
    assert (result["new"], result["edited"], result["repeated"], result["refused"]) == (1, 1, 2, 1)


def test_the_event_of_a_reading_says_how_many_entries_were_repeated_or_refused(world):
    world.tell(rss(column(1), column(1), {**NO_ADDRESS, "category": "Nothing says who this is."}))

    ((fields,),) = world.rows("select event_fields from haulwright_history where task = 'brief.fetch'")
    event = json.loads(fields)
    assert (event["entries"], event["repeated"], event["refused"]) == (3, 1, 1)


def test_one_link_in_two_parts_of_a_long_feed_is_one_article(world):
    many = [column(n) for n in range(150)]

    result = world.tell(rss(column(149, guid="again"), *many))

    assert (result["entries"], result["new"], result["repeated"]) == (151, 150, 1)
    assert len(articles(world)) == 150
