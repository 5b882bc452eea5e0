"""The articles of a feed are written in sets: as many statements, however many there are."""

from __future__ import annotations

import pytest

from tests.apps.brief.scenes import rss

ADD = "insert into brief_articles"
"""On SQLite row by row, where a row costs no trip: long texts come out of a JSON parameter up to four times slower."""


def feed(name, articles, more=""):
    """A feed of so many articles, which may be edited."""
    entries = [
        {
            "title": f"{name} {number}",
            "link": f"https://news.example/{name}/{number}",
            "guid": f"{name}-{number}",
            "description": f"What was said about {name} on that day.{more}",
        }
        for number in range(articles)
    ]
    return rss(*entries)


@pytest.fixture
def taken(world, statements):
    """How many statements about the tables of the brief it takes to read a feed, and what came of it."""

    def read(body, name):
        statements.texts.clear()
        result = world.tell(body, name)
        ours = statements.of("brief_")
        return len([text for text in ours if ADD not in text]) + bool(statements.of(ADD)), result

    return read


def test_the_articles_of_a_feed_are_written_in_a_handful_of_statements(taken):
    taken(feed("first", 1), "first.xml")  # with it, what is looked up once

    few, many = taken(feed("few", 10), "few.xml"), taken(feed("many", 90), "many.xml")
    edits = taken(feed("few", 10, " And more."), "few.xml"), taken(feed("many", 90, " And more."), "many.xml")

    assert (few[1]["new"], many[1]["new"], edits[0][1]["edited"], edits[1][1]["edited"]) == (10, 90, 10, 90)
    assert few[0] == many[0] <= 10
    assert edits[0][0] == edits[1][0] <= 10
