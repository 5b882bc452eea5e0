"""Rows of job_runs live as long as their slots, and are found by the indexes of the document."""

from __future__ import annotations

import re

import pytest

from haulwright.apps.brief.compat import claim_slot, job_runs
from haulwright.runtime.pruner import Pruner
from haulwright.settings import Settings
from haulwright.testing.harness import START

QUERIES = {
    "select * from job_runs where status = 'failed'": "brief_runs_status",
    "select count(*) from job_runs where status = 'running'": "brief_runs_status",
    "select * from job_runs where started_at >= '2024-01-01 00:00:00'": "brief_runs_started",
}

EXPLAIN = {"sqlite": "explain query plan", "postgres": "explain"}
WHOLE_TABLE = re.compile(
    r"SCAN (s|h|haulwright_(slots|history|jobs))\b(?! USING INDEX haulwright_slots_unended)"
    r"|Seq Scan on haulwright_(slots|history)"
)
MANY_RUNS = """
insert into haulwright_slots (
    schedule, scheduled_for, disposition, job_id, revision, actor, opened_at, ending, started_at)
with recursive n (i) as (select 1 union all select i + 1 from n where i < 5000)
select s.schedule, n.i, s.disposition, s.job_id, s.revision, s.actor, s.opened_at, s.ending, n.i
from haulwright_slots s, n where s.schedule = 'rss_ingestion'
"""
"""Runs of long ago."""


def prune(world):
    """What a worker removes by and by."""
    pruner = Pruner(world.bench.store, Settings.load())
    while pruner.prune() is None:
        pass


def run(world, *, broken=False):
    claim_slot(world.app, "rss_ingestion", START)
    if broken:
        world.add_feed(f"{world.sandbox.url}/files/none.xml")
    world.bench.drain()
    return job_runs(world.app)


@pytest.mark.parametrize("broken", [False, True], ids=["success", "failed"])
@pytest.mark.proves("AU-07", "SL-04")
def test_a_run_is_told_in_the_same_words_when_its_job_and_its_worker_are_long_gone(world, broken):
    before = run(world, broken=broken)
    prune(world)
    assert job_runs(world.app) == before

    world.bench.advance("100 days")
    prune(world)

    assert world.rows("select count(*) from haulwright_history where task = 'brief.ingest'") == [(0,)]
    assert job_runs(world.app) == before
    (kept,) = before
    assert (kept.status, kept.worker_instance) == ("failed" if broken else "success", "bench")
    assert (kept.error_message is not None) is broken

    world.bench.advance("81 days")
    prune(world)
    assert job_runs(world.app) == []


def test_a_run_that_is_under_way_is_written_down_when_it_has_ended_and_once(world):
    claim_slot(world.app, "rss_ingestion", START)
    assert world.bench.store.schedules.record_endings() == 0

    world.bench.drain()

    assert [world.bench.store.schedules.record_endings() for _ in range(2)] == [1, 0]


@pytest.mark.proves("HB-08", "SR-01", "JOB-08")
@pytest.mark.parametrize("found_by", ["sweep", "start"])
def test_an_abandoned_run_keeps_its_word(world, found_by):
    claim_slot(world.app, "retention_cleanup", START)
    world.write("update haulwright_jobs set max_attempts = 1 where task = 'brief.retain'")
    with world.bench.crash("brief.retain", after="claim"):
        world.bench.drain()
    ((worker,),) = world.rows("select worker_id from haulwright_jobs where state = 'running'")
    if found_by == "start":
        world.bench.store.recovery.recover([str(worker)])
    else:
        world.bench.advance("31 min")
        world.bench.drain()
    before = job_runs(world.app)
    assert [one.status for one in before] == ["failed" if found_by == "start" else "skipped_timeout"]

    prune(world)

    assert world.rows("select count(*) from haulwright_slots where ending is null and job_id is not null") == [(0,)]
    assert job_runs(world.app) == before


@pytest.mark.proves("SL-05")
@pytest.mark.parametrize("query", QUERIES)
def test_runs_are_found_by_status_and_by_start_through_an_index(world, query):
    run(world)
    prune(world)
    world.write(MANY_RUNS)
    dialect = world.bench.store.database.dialect
    if dialect == "postgres":
        world.write("analyze haulwright_slots")  # as its own upkeep does; SQLite knows no figures unless it is asked

    plan = "\n".join(str(row[-1]) for row in world.rows(f"{EXPLAIN[dialect]} {query}"))

    assert QUERIES[query] in plan
    assert not WHOLE_TABLE.search(plan)
