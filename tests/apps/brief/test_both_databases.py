"""The same feeds give the same articles, events and brief, whichever database they are in."""

from __future__ import annotations

from contextlib import closing

import pytest

from haulwright.testing.harness import Harness
from tests.apps.brief.scenes import World

ARTICLES = "select id, title, at, content_hash from brief_articles order by id"
LINKS = "select article_id, cluster_id, place, signature, similarity, duplicate_of from brief_links order by place"


@pytest.mark.postgres
def test_both_databases_come_to_the_same(made_sqlite_url, made_postgres_url, tmp_path, outside):
    sandbox, time = outside
    contents = []
    for url in (made_sqlite_url, made_postgres_url):
        with closing(Harness(url, tmp_path)) as bench:
            time.bench = bench
            sandbox.reset()
            sandbox.clock.set(time.now())
            world = World.open(bench, sandbox)
            for paper in ("harbour-times", "daily-ledger", "metro-wire"):
                world.paper(paper)
            world.read()
            world.cluster()
            contents.append((world.rows(ARTICLES), world.rows(LINKS), world.publish()))

    assert contents[0] == contents[1]
    assert len(contents[0][1]) > 30
