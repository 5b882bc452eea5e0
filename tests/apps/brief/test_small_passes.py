"""The proof of the brief at small size: real workers, killed with -9 while they read."""

from __future__ import annotations

from contextlib import closing

import pytest

from haulwright.sandbox.feeds.bulk import ENTRIES
from proof.brief.passes import Stage
from proof.support.site import Site

FEEDS = 10


@pytest.mark.crash
@pytest.mark.proves("IN-17", "RW-04", "RE-04")
def test_killed_workers_take_each_article_in_once_and_bring_none_back(database_url, tmp_path):
    with closing(Site.prepare(database_url, tmp_path)) as site, Stage(site, FEEDS, workers=1, concurrency=2) as stage:
        first = stage.read(kills=1, seed=1)
        taken = stage.articles()
        second = stage.read(kills=0, seed=2)
        unchanged = stage.articles()
        removed = stage.retain()
        stage.sandbox.feeds.script(rebuild=True)
        third = stage.read(kills=0, seed=3)
        left = stage.articles()

    assert (first.outcomes, taken[:3]) == ({"read": FEEDS}, (FEEDS * ENTRIES, FEEDS * ENTRIES, 0))
    assert (second.outcomes, unchanged) == ({"unchanged": FEEDS}, taken)
    assert removed["brief_articles"] == FEEDS * ENTRIES
    assert (third.outcomes, third.new, left[0]) == ({"read": FEEDS}, 0, 0)
