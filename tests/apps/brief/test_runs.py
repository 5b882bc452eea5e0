"""A run of a scheduled job tells what became of its work, with its rows, and not that the work was handed on."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from haulwright import Permanent, Principal
from haulwright.apps.brief.compat import claim_slot, job_runs
from haulwright.testing.harness import START
from tests.apps.brief.scenes import LONG, QUICK, World, rss

ITEM = {"title": "Flood", "link": "https://a.example/flood", "guid": "1", "description": "Water rose." + LONG}


def subscribe(world, *names, tenant="acme"):
    """Feeds of the outside that answer with one article each."""
    for name in names:
        world.sandbox.files.put(name, rss({**ITEM, "link": f"https://a.example/{tenant}/{name}"}))
        world.add_feed(f"{world.sandbox.url}/files/{name}", tenant=tenant)


def run_of(world, job_name):
    """Have a slot of a job run as far as it goes, and return its run."""
    claim_slot(world.app, job_name, START)
    world.bench.drain()
    (run,) = job_runs(world.app, job_name)
    return run


@pytest.mark.proves("SL-07")
def test_an_ingestion_in_which_every_feed_fails_has_failed(world):
    for name in ("one.xml", "two.xml"):
        world.add_feed(f"{world.sandbox.url}/files/{name}")  # nothing is there: 404

    run = run_of(world, "rss_ingestion")

    assert (run.status, run.rows_processed) == ("failed", None)
    assert run.error_message.startswith("None of 2 feeds was read: 2 failed, 0 wait. See why with: ")
    assert run.finished_at is not None


@pytest.mark.proves("SL-07")
def test_an_ingestion_in_which_some_feeds_fail_succeeds_and_counts_them(world):
    subscribe(world, "one.xml")
    subscribe(world, "other.xml", tenant="globex")
    world.add_feed(f"{world.sandbox.url}/files/none.xml")

    run = run_of(world, "rss_ingestion")

    assert (run.status, run.rows_processed, run.error_message) == ("success", 2, None)
    result = world.result(run.id)
    assert (result["feeds"], result["read"], result["failed"], result["new"]) == (3, 2, 1, 2)


@pytest.mark.proves("SL-07", "JOB-08")
def test_an_ingestion_is_running_until_the_last_of_its_feeds_is_read(world):
    subscribe(world, "one.xml", "two.xml")
    world.sandbox.faults.add("rate_limit", retry_after=120)

    run = run_of(world, "rss_ingestion")
    assert (run.status, run.finished_at, run.error_message, run.rows_processed) == ("running", None, None, None)
    assert (run.started_at, run.worker_instance) == (START, None)

    world.bench.advance("121 s")
    world.bench.drain()
    (run,) = job_runs(world.app, "rss_ingestion")
    assert (run.status, run.rows_processed) == ("success", 2)
    assert (run.started_at, run.finished_at) == (START, START + timedelta(seconds=121))


def test_a_host_that_wants_to_be_left_alone_for_an_hour_holds_up_no_ingestion(bench, sandbox):
    world = World.open(bench, sandbox, replace(QUICK, private_hosts="127.0.0.1,localhost"))
    subscribe(world, "one.xml")
    world.add_feed(f"{sandbox.url.replace('127.0.0.1', 'localhost')}/files/two.xml")
    sandbox.faults.add("rate_limit", retry_after=3600, path="*two.xml")

    assert run_of(world, "rss_ingestion").status == "running"
    bench.advance("10 min")
    bench.drain()

    (run,) = job_runs(world.app, "rss_ingestion")
    assert (run.status, run.rows_processed) == ("success", 1)
    result = world.result(run.id)
    assert (result["feeds"], result["read"], result["waiting"]) == (2, 1, 1)


def test_a_clustering_and_a_brief_count_the_articles_of_all_tenants(world):
    subscribe(world, "one.xml", "two.xml")
    subscribe(world, "other.xml", tenant="globex")
    run_of(world, "rss_ingestion")

    clustering, brief = run_of(world, "event_clustering"), run_of(world, "daily_brief")

    assert (clustering.status, clustering.rows_processed) == ("success", 3)
    assert (brief.status, brief.rows_processed) == ("success", 3)


@pytest.mark.parametrize(("job_name", "part"), [("event_clustering", "placing"), ("daily_brief", "publishing")])
@pytest.mark.proves("SL-07")
def test_what_fails_for_one_tenant_has_failed(bench, sandbox, monkeypatch, job_name, part):
    world = World.open(bench, sandbox, replace(QUICK, attempts=1))
    subscribe(world, "one.xml")
    run_of(world, "rss_ingestion")
    if part == "publishing":
        run_of(world, "event_clustering")

    def broken(*_arguments):
        message = "the disk is full"
        raise Permanent(message)

    monkeypatch.setattr(getattr(world.brief, part), "_write", broken)
    run = run_of(world, job_name)

    assert run.status == "failed"
    assert run.error_message.startswith("For 1 of 1 tenants it was not done. See why with: haulwright job why ")


def test_a_run_whose_worker_dies_while_it_waits_goes_on(world):
    subscribe(world, "one.xml")
    claim_slot(world.app, "rss_ingestion", START)
    with world.bench.crash("brief.fetch", after="claim"):
        world.bench.drain()

    world.bench.advance("3 min")
    world.bench.drain()

    (run,) = job_runs(world.app, "rss_ingestion")
    assert (run.status, run.rows_processed) == ("success", 1)


def test_an_ingestion_that_failed_and_is_requeued_looks_for_feeds_anew(world):
    world.add_feed(f"{world.sandbox.url}/files/one.xml")
    failed = run_of(world, "rss_ingestion")
    assert failed.status == "failed"
    world.sandbox.files.put("one.xml", rss(ITEM))
    world.bench.advance("16 min")

    successor = world.app.operations(Principal.admin("root")).dead_letters.requeue(failed.id).id
    world.bench.drain()

    assert world.result(successor)["read"] == 1


def test_an_ingestion_without_feeds_has_nothing_to_do_and_succeeds(world):
    assert (run_of(world, "rss_ingestion").status, run_of(world, "event_clustering").status) == ("success", "success")
