"""The brief: 2,000 feeds of 50 entries, read three times by workers that are killed; no article twice, none back."""

from __future__ import annotations

import os

import pytest

from haulwright.sandbox.feeds.bulk import ENTRIES
from proof.brief.passes import Stage
from proof.support.site import Site

pytestmark = pytest.mark.crash

FEEDS = int(os.environ.get("PROOF_FEEDS", "2000"))
KILLS = max(2, FEEDS // 100)


@pytest.mark.proves("IN-17", "RW-04", "RE-02", "RE-04")
def test_feeds_read_again_and_again_by_killed_workers_give_each_article_once(site: Site, report: list[str]):
    with Stage(site, FEEDS) as stage:
        first = stage.read(kills=KILLS, seed=1)
        taken = stage.articles()
        second = stage.read(kills=KILLS, seed=2)
        unchanged = stage.articles()
        removed = stage.retain()
        stage.sandbox.feeds.script(rebuild=True)
        third = stage.read(kills=KILLS, seed=3)
        left = stage.articles()

    for name, one in (("first", first), ("second", second), ("third", third)):
        report.append(f"{site.database}, {name} pass: {one}")
    assert first.outcomes == {"read": FEEDS}
    assert taken[:3] == (FEEDS * ENTRIES, FEEDS * ENTRIES, 0)
    assert second.outcomes == {"unchanged": FEEDS}
    assert set(second.statuses) == {304}
    assert unchanged == taken
    assert removed["brief_articles"] == FEEDS * ENTRIES
    assert (third.outcomes, third.new, third.edited) == ({"read": FEEDS}, 0, 0)
    assert left[0] == 0
    assert first.kills + second.kills + third.kills > KILLS
