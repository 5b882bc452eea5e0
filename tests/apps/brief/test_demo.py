"""A brief from the sandbox has events of one story each, and the demo's act says `ok` only where that holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from haulwright.application.scenario import World as Stage
from haulwright.apps.brief.demo import PAPERS, BriefAct

PURITY = "brief: events about one story each"


@pytest.fixture
def act(world):
    """The act of the brief, played by a worker without threads."""
    act = BriefAct(Stage(world.app, world.sandbox, Path(), "demo"))
    act.begin()
    while not act.look().is_end:
        world.bench.drain()
    return act


def checks(act):
    return {check.what: check for check in act.checks()}


def test_every_event_of_the_first_brief_is_about_one_story(act, world):
    told = checks(act)

    assert [check.what for check in told.values() if not check.good] == []
    published = world.sandbox.feeds.articles(world.sandbox.clock.now() - 7 * 86_400)
    stories = {article.event for article in published if article.paper in PAPERS}
    assert told[PURITY].value == f"{len(stories)} of {len(stories)}"


def test_an_event_that_mixes_two_stories_is_told(act, world):
    first, second = (
        cluster for (cluster,) in world.rows("select distinct cluster_id from brief_links order by cluster_id limit 2")
    )
    world.write(f"update brief_links set cluster_id = '{first}' where cluster_id = '{second}'")  # noqa: S608 - its own ids

    assert not checks(act)[PURITY].good
