"""New articles join their event once, in a fixed order, and a crash changes nothing about where they belong."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from haulwright.apps.brief import placing
from haulwright.apps.brief.clustering import VERSION, Article, Clustering
from haulwright.testing.harness import START
from tests.apps.brief.scenes import rss
from tests.apps.principals import ACME, SYSTEM

PAPERS = ("harbour-times", "northern-post")
PARTITION = (
    "select c.cluster_id, c.raw_article_id, l.place, l.signature from cluster_articles c "
    "join brief_links l on l.article_id = c.raw_article_id and l.version = c.version order by l.place"
)

OF_BEFORE = "select * from brief_links where version = '1' order by place"


def filled(world):
    for paper in PAPERS:
        world.paper(paper)
    return sum(one["new"] for one in world.read())


@pytest.mark.proves("CL-01", "CL-02", "CL-03")
def test_every_article_has_one_event_and_counts_are_those_of_the_rows(world):
    articles = filled(world)

    placed, again = world.cluster(), world.cluster()

    assert (placed, again) == (articles, 0)
    links = world.rows("select cluster_id, raw_article_id from cluster_articles")
    assert len({article for _, article in links}) == len(links) == articles
    counted = dict(world.rows("select id, article_count from event_clusters"))
    assert sum(counted.values()) == articles
    assert counted == {cluster: sum(one == cluster for one, _ in links) for cluster in counted}
    assert max(counted.values()) > 1


@pytest.mark.proves("CL-01", "CL-02")
def test_a_second_link_of_an_article_is_refused_by_the_database(world):
    filled(world)
    world.cluster()

    with pytest.raises(Exception, match=r"(?i)unique"):
        world.write(
            "insert into brief_links select tenant, version, article_id, 'another', place + 100000, at, signature, "
            "similarity, nearest, duplicate_of, placed_at from brief_links where place = 1"
        )


def test_reports_of_one_event_are_mostly_found_together(world):
    filled(world)
    world.cluster()

    events = {one.id: one.event for one in world.sandbox.feeds.articles(world.sandbox.clock.now() - 8 * 86400)}
    found: dict[str, set[str]] = {}
    for cluster, url in world.rows(
        "select cluster_id, url from cluster_articles join raw_articles on id = raw_article_id"
    ):
        found.setdefault(events[url.rpartition("/")[2]], set()).add(cluster)
    assert sum(len(clusters) == 1 for clusters in found.values()) > 0.5 * len(found)


@pytest.mark.proves("CL-02")
@pytest.mark.parametrize("seed", range(2))
def test_a_crash_at_any_point_changes_nothing_about_where_articles_belong(world, monkeypatch, seed):
    monkeypatch.setattr(placing, "BATCH", 7)
    articles, luck = filled(world), random.Random(seed)  # noqa: S311 - to be foreseen is its purpose
    (handle,) = world.brief.cluster(ACME)
    for _ in range(2):
        done = world.rows("select count(*) from brief_links")[0][0]
        moment = {luck.choice(["before", "after"]): f"after:{done + 1 + 7 * luck.randrange(3)}"}
        with world.bench.crash("brief.place", **moment):
            world.bench.drain()
        world.bench.advance("30 min")
    world.bench.drain()
    world.bench.advance("30 min")
    world.bench.drain()
    disturbed = world.rows(PARTITION)

    world.write("delete from brief_links")
    world.write("update brief_articles set placed = null")
    monkeypatch.setattr(placing, "BATCH", 200)

    assert (handle.state(), world.cluster()) == ("succeeded", articles)
    assert world.rows(PARTITION) == disturbed


@pytest.mark.proves("CL-02")
def test_the_weights_that_are_stored_are_those_of_the_moment_of_placing(world):
    """A replay from the articles alone weighs each word as the job did when it placed them."""
    filled(world)
    unplaced = world.brief.tables.read("articles.unplaced", tenant="acme", version=VERSION, limit=1_000)

    world.cluster()

    replay = Clustering(VERSION)
    replayed = [replay.place(Article(name, text, title, at)).signature for name, title, text, at in unplaced]
    assert [signature for _, _, _, signature in world.rows(PARTITION)] == replayed


def test_articles_come_in_the_order_of_their_publication_whatever_the_order_of_feeds(world):
    world.paper("daily-ledger")
    world.paper("harbour-times")
    world.read()
    world.cluster()

    moments = [at for (at,) in world.rows("select at from brief_links order by place")]
    assert moments == sorted(moments)


def test_an_article_much_older_than_the_news_stands_alone(world):
    def story(day, name):
        at = START - timedelta(days=day)
        text = "A chemical spill closed the beaches of Ashford, and the harbour master Lena Ortiz called it a disgrace."
        return {
            "title": "Spill closes Ashford beaches",
            "link": f"https://a.example/{name}",
            "at": at,
            "description": text,
        }

    world.tell(rss(story(1, "new")))
    world.cluster()
    world.tell(rss(story(40, "old"), story(1.1, "late")), "late.xml")
    world.cluster()

    clusters = dict(world.rows("select url, cluster_id from cluster_articles join raw_articles on id = raw_article_id"))
    assert clusters["https://a.example/late"] == clusters["https://a.example/new"]
    assert clusters["https://a.example/old"] != clusters["https://a.example/new"]


def test_a_new_version_places_everything_anew_and_leaves_the_old_links(world, monkeypatch):
    articles = filled(world)
    world.cluster()

    monkeypatch.setattr("haulwright.apps.brief.clustering.clustering.VERSION", "next")
    world.brief.placing.version = "next"
    placed = world.cluster()

    assert placed == articles
    assert sorted(world.rows("select version, count(*) from cluster_articles group by version")) == [
        (VERSION, articles),
        ("next", articles),
    ]


def test_what_an_older_release_placed_keeps_its_events_and_its_briefs(world):
    articles = filled(world)
    world.cluster()
    world.publish()
    world.write(
        "update brief_links set version = '1', cluster_id = '1-' || substr(cluster_id, 3), signature = '1.AAAA'"
    )
    world.write("update brief_articles set placed = '1'")
    links, briefs = world.rows(OF_BEFORE), world.rows("select * from brief_briefs")

    placed = world.cluster()

    assert placed == articles
    assert world.rows(OF_BEFORE) == links
    assert world.rows("select * from brief_briefs") == briefs
    assert world.rows("select version, count(*) from brief_links group by version order by version") == [
        ("1", articles),
        (VERSION, articles),
    ]


def test_going_back_to_an_earlier_version_places_only_what_that_one_never_placed(world, monkeypatch):
    def cluster_by(version):
        monkeypatch.setattr("haulwright.apps.brief.clustering.clustering.VERSION", version)
        world.brief.placing.version = version
        return world.cluster()

    articles = filled(world)
    first = world.brief.placing.version
    assert [cluster_by(first), cluster_by("next")] == [articles, articles]
    late = {"title": "Storm over Ashford", "link": "https://a.example/storm", "description": "A storm came."}
    world.tell(rss(late))

    placed = [cluster_by(first), cluster_by("next"), cluster_by(first)]

    assert placed == [1, 1, 0]
    assert world.brief.placing.waiting() == []
    assert sorted(world.rows("select version, count(*) from cluster_articles group by version")) == sorted(
        [(first, articles + 1), ("next", articles + 1)]
    )


def test_a_job_of_another_version_leaves_the_articles_to_workers_that_have_it(world):
    filled(world)
    handle = world.brief.place_task.using(tenant="acme").enqueue("another")

    world.bench.drain()

    assert handle.state() == "skipped"
    assert world.rows("select count(*) from brief_links") == [(0,)]


def test_tenants_have_events_of_their_own(world):
    at = datetime(2023, 12, 31, tzinfo=UTC)
    story = {"title": "Storm over Ashford", "link": "https://a.example/storm", "at": at, "description": "A storm came."}
    for tenant in ("acme", "globex"):
        world.tell(rss(story), tenant=tenant)

    handles = world.brief.cluster(SYSTEM)
    world.bench.drain()

    assert [handle.result(timeout=0) for handle in handles] == [1, 1]
    assert world.rows("select tenant_id, article_count from event_clusters order by 1") == [("acme", 1), ("globex", 1)]
