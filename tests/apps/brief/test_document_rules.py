"""Document 001, lines 143 to 249, each executed or compared: idempotency, options, runs by hand, what is logged."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta

import pytest

from haulwright.apps.brief import retention
from haulwright.apps.brief.compat import JOBS, claim_slot, job_runs
from haulwright.apps.brief.retention import PURGE_ALLOWED
from haulwright.apps.brief.settings import BriefSettings
from haulwright.clock import CLOCK_VARIABLE, TESTING_VARIABLE
from haulwright.engine.transitions import State
from haulwright.testing.harness import START
from tests.apps.brief.scenes import LONG, QUICK, USUAL, World, rss
from tests.apps.brief.test_run_records import prune
from tests.apps.principals import ACME, SYSTEM

line = pytest.mark.line
PAGE = "applications/brief.md"
SLOT = START - timedelta(hours=8)


def story(number, **said):
    words = {"title": f"Story {number}", "link": f"https://a.example/{number}", "guid": f"g-{number}"}
    return {**words, "description": f"Number {number}.{LONG}", **said}


def clean(world):
    handle = world.brief.retain(SYSTEM)
    world.bench.drain()
    return handle.result(timeout=0)


@line("10", "ingestion can be repeated")
@line("38", "ingestion and clustering can be repeated")
@line("152-153", "an article that is there already is passed over, without an error")
@line("155", "it is safe to read again")
def test_a_feed_that_is_read_again_brings_nothing_new(world):
    body = rss(story(1), story(2))
    first, again = world.tell(body), world.tell(body + b"<!-- the same, in other bytes -->")

    assert (first["new"], again["new"]) == (2, 0)
    assert len(world.titles()) == 2


@line("151", "raw_articles.url is unique")
def test_the_url_of_an_article_is_unique(world):
    world.tell(rss(story(1), story(2)))
    world.tell(rss(story(1, guid="another")), name="second.xml")

    assert sorted(url for (url,) in world.rows("select url from raw_articles")) == [
        "https://a.example/1",
        "https://a.example/2",
    ]
    with pytest.raises(Exception, match=r"(?i)unique"):
        world.write("update brief_articles set url = 'https://a.example/1'")


@line("151", "an address that two entries of one feed share is one article")
def test_an_address_that_two_entries_share_is_one_article(world):
    world.tell(rss(story(1), story(1, guid="another", title="Story 1 again")))

    assert [url for (url,) in world.rows("select url from raw_articles")] == ["https://a.example/1"]


@line("151", "an article is its address: a new one is a new article")
def test_a_new_address_is_a_new_article(world):
    world.tell(rss(story(1)))
    world.tell(rss(story(1, link="https://a.example/tomorrow", guid="tomorrow")))

    assert len(world.titles()) == 2


@line("163", "a cluster has an article once, in the database")
def test_a_cluster_has_an_article_once(world):
    world.tell(rss(story(1)))
    world.cluster()

    with pytest.raises(Exception, match=r"(?i)unique"):
        world.write("insert into brief_links select * from brief_links")


@line("164", "clustering again doubles no link")
@line("165", "article_count grows only with a link")
@line("167", "it is safe to cluster again")
def test_clustering_again_doubles_no_link(world):
    world.tell(rss(story(1), story(2)))
    counts = []
    for _ in range(2):
        world.cluster()
        counts.append(
            world.rows("select count(*), (select sum(article_count) from event_clusters) from cluster_articles")
        )

    assert counts[0] == counts[1] == [(2, 2)]


@line(
    "164",
    "the assignment of an article is evaluated anew",
    differs="not within a version of the clustering: an article that was placed stays; a new version places all anew",
    page="explanation/differences.md#brief",
)
def test_an_edited_article_is_evaluated_anew(world):
    other = "The harbour of Zell was flooded at night and forty ships sank beside the old lighthouse." * 3
    world.tell(rss(story(1), story(2, title="Flood in Zell", description=other)))
    world.cluster()
    world.tell(rss(story(1, title="Flood in Zell", description=other + " All crews are safe.")))
    world.cluster()

    assert world.rows("select count(*) from event_clusters") == [(1,)]


@pytest.fixture
def old(world):
    """Four articles of ninety-one days ago, placed."""
    world.tell(rss(*(story(number) for number in range(4))))
    world.cluster()
    world.bench.advance("91 days")
    return world


@line("175", "only tables that may be purged are")
def test_only_listed_tables_are_purged(old):
    tables = ("brief_feeds", "brief_seen", "brief_articles", "brief_links", "brief_briefs", "brief_citations")

    def counts():
        return {name: old.rows(f"select count(*) from {name}")[0][0] for name in tables}  # noqa: S608 - as above

    before = counts()
    clean(old)

    assert {name for name, count in counts().items() if count != before[name]} == set(PURGE_ALLOWED)


@line("176", "a row that something permanent refers to stays")
def test_what_a_brief_cites_stays(world):
    world.tell(rss(story(1)))
    world.cluster()
    world.publish()
    world.bench.advance("3650 days")
    clean(world)

    assert world.titles() == ["Story 1"]


@line("177", "removal is a transaction: all of it or nothing")
def test_a_removal_is_a_transaction(old, monkeypatch):
    monkeypatch.setattr(retention, "BATCH", 2)
    old.brief.retain(SYSTEM)
    with old.bench.crash("brief.retain", before="batch:1"):
        old.bench.drain()

    assert old.rows("select count(*) from brief_links") == [(len(old.titles()),)]


@line("178", "the counts of what was removed are on record")
def test_the_counts_are_on_record(old):
    clean(old)

    (event,) = old.app.store.events.latest(name="retention.cleaned")
    assert (event.data["brief_articles"], event.data["brief_links"]) == (4, 4)


@line("180", "removing again does nothing more")
def test_removing_again_does_nothing(old):
    clean(old)

    assert (clean(old).brief_articles, old.tell(rss(*(story(number) for number in range(4))))["new"]) == (0, 0)


@line("188", "coalesce is said for each job")
@line("189", "misfire_grace_time is said for each job")
@line("192", "ingestion and clustering coalesce")
@line("193", "a frequent job may start 300 seconds late")
def test_the_options_of_each_job(world):
    specs = {name: world.app.schedules[name][0] for name in JOBS}

    assert all(spec.coalesce is not None and spec.misfire_grace_seconds for spec in specs.values())
    frequent = [specs[name] for name in ("rss_ingestion", "event_clustering")]
    assert [(spec.coalesce, spec.misfire_grace_seconds) for spec in frequent] == [(True, 300), (True, 300)]


@line("191", "they can be tuned for each job")
def test_the_options_of_a_job_are_settings():
    assert [figure for figure in BriefSettings.figures() if "grace" in figure.name]


@line("195", "these options add to the claims in the database, and replace none")
def test_the_options_add_to_the_claims(scheduled):
    scheduled.bench.advance("15 min")
    scheduled.bench.drain()

    assert claim_slot(scheduled.app, "rss_ingestion", START + timedelta(minutes=15)) is None


@line("203", "a run by hand keeps to the same rule")
@line("204", "it claims a slot by its scheduled_for")
@line("205", "nothing goes around the checks")
def test_a_run_by_hand_claims_its_slot(world):
    job_id = claim_slot(world.app, "retention_cleanup", SLOT)
    world.bench.drain()

    (run,) = job_runs(world.app)
    assert (run.id, run.scheduled_for) == (job_id, SLOT)
    assert claim_slot(world.app, "retention_cleanup", SLOT) is None


@line("204", "scheduled_for has to be said")
def test_a_run_by_hand_has_to_say_its_slot():
    from haulwright.cli.schedules import command  # noqa: PLC0415 - beside its only use

    (option,) = [param for param in command.commands["trigger"].params if param.name == "scheduled_for"]
    assert option.required


@line("204", "a slot that nobody ran can be claimed by hand")
def test_a_slot_that_was_missed_can_be_run_by_hand(bench, sandbox):
    world = World.open(bench, sandbox, replace(QUICK, retention_cron="0 * * * *"))
    bench.advance("3 days")
    bench.drain()

    assert claim_slot(world.app, "retention_cleanup", START + timedelta(hours=5)) is not None


@line("204", "a slot that has not come yet is refused")
def test_a_slot_in_the_future_is_refused(world):
    try:
        claimed = claim_slot(world.app, "daily_brief", START + timedelta(days=3650))
    except ValueError:
        claimed = None

    assert claimed is None


LINES = {}
"""What the worker of the brief wrote about a cleanup, on each database: a process takes longer than all who read it."""


@pytest.fixture
def told(world, database_url, tmp_path):
    """The lines of a worker of its own about one cleanup, which removed two articles and their links."""
    dialect = world.bench.store.database.dialect
    if dialect not in LINES:
        world.tell(rss(story(1), story(2)))
        world.cluster()
        world.bench.advance("91 days")
        job_id = claim_slot(world.app, "retention_cleanup", SLOT)
        environ = {**os.environ, "HAULWRIGHT_DATABASE_URL": database_url, TESTING_VARIABLE: "1"}
        environ[CLOCK_VARIABLE] = str(tmp_path / "haulwright-clock")
        command = [sys.executable, "-m", "haulwright.apps.brief", "--until-empty", "--queues", "brief"]
        ended = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=100, check=True)
        LINES[dialect] = [text for text in ended.stderr.splitlines() if job_id in text]
    return LINES[dialect]


@line("214", "the worker logs the end of a job")
@line("215", "and its duration")
def test_the_end_of_a_run_is_logged_with_its_duration(told):
    assert [text for text in told if "succe" in text and "seconds=" in text]


@line("213", "the worker logs the start of a job")
def test_the_start_of_a_run_is_logged(told):
    assert [text for text in told if "run started" in text]


@line("216", "the worker logs the rows that a job processed")
def test_the_rows_of_a_run_are_logged(told):
    assert [text for text in told if "brief_articles=" in text or "rows=" in text]


@line("178", "the log has the counts of what was removed")
def test_the_counts_of_a_removal_are_logged(told):
    assert [text for text in told if "articles=" in text]


@line("217", "errors are in the table of runs and in the log")
def test_the_error_of_a_run_is_on_record(bench, sandbox, monkeypatch, caplog):
    world = World.open(bench, sandbox, replace(QUICK, attempts=1))

    def broken(*_):
        message = "the disk is full"
        raise OSError(message)

    monkeypatch.setattr(world.brief.retention, "_batch", broken)
    job_id = claim_slot(world.app, "retention_cleanup", SLOT)
    with caplog.at_level("INFO"):
        bench.drain()

    assert bench.store.listing.get(job_id).state is State.DEAD
    assert [run.error_message for run in job_runs(world.app)] == ["the disk is full"]


@line("219", "job_runs is an audit log: a run stays in it as long as its slot")
def test_a_run_stays_in_the_table(world):
    claim_slot(world.app, "retention_cleanup", SLOT)
    world.bench.drain()
    world.bench.advance("40 days")
    prune(world)

    assert world.rows("select count(*) from haulwright_history") == [(0,)]
    assert len(job_runs(world.app)) == 1
    assert world.rows("select count(*) from haulwright_history where task = 'brief.retain'") == [(0,)]


@line("219", "job_runs tells what happened to each slot that began")
def test_the_table_tells_what_happened(bench, sandbox):
    world = World.open(bench, sandbox, replace(USUAL, retention_cron="30 0 * * *", cron="40 0 * * *"))
    for _ in range(9):
        bench.advance("5 min")
        bench.drain()

    runs = job_runs(world.app, limit=1000)
    assert {(run.job_name, run.status) for run in runs} == {(name, "success") for name in JOBS}


@line("230", "no data is doubled by whatever happens to a run")
def test_a_run_that_dies_doubles_nothing(world):
    world.tell(rss(story(1)))
    world.brief.cluster(ACME)
    with world.bench.crash("brief.place", before="settle"):
        world.bench.drain()
    world.bench.advance("20 min")
    world.bench.drain()

    assert world.rows("select count(*) from cluster_articles") == [(1,)]
