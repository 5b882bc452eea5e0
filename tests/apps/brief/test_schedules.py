"""The scheduled jobs of the brief, and the run table of the document with its four states."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from haulwright.apps.brief.application import Brief
from haulwright.apps.brief.compat import (
    JOBS,
    MAX_RUNTIME_THRESHOLD,
    JobOptions,
    claim_slot,
    job_runs,
    max_runtime_threshold,
    status,
)
from haulwright.apps.brief.settings import BriefSettings
from haulwright.client.app import Haulwright
from haulwright.engine.transitions import State
from haulwright.errors import InvalidValue, Retryable, TimedOut
from haulwright.testing.harness import START
from tests.apps.brief.scenes import QUICK, USUAL, World
from tests.apps.principals import ACME

TABLE = [
    (State.RUNNING, {}, "running"),
    (State.RUNNING, {"error_class": "LeaseLost"}, "running"),
    (State.SUCCEEDED, {}, "success"),
    (State.SKIPPED, {"reason": "nothing to do"}, "success"),
    (State.CANCELLED, {"reason": "by hand"}, "failed"),
    (State.DEAD, {"error_class": "ValueError"}, "failed"),
    (State.QUEUED, {"error_class": "ValueError"}, "failed"),
    (State.DEAD, {"error_class": "TimedOut"}, "skipped_timeout"),
    (State.QUEUED, {"error_class": "TimedOut"}, "skipped_timeout"),
    (State.DEAD, {"reason": "lease_exhausted", "error_class": "LeaseLost", "detected_by": "sweep"}, "skipped_timeout"),
    (State.QUEUED, {"error_class": "LeaseLost", "detected_by": "sweep"}, "skipped_timeout"),
    (State.DEAD, {"error_class": "LeaseLost", "detected_by": "worker_startup_recovery"}, "failed"),
    (State.QUEUED, {"error_class": "LeaseLost", "detected_by": "worker_startup_recovery"}, "failed"),
]


@pytest.mark.proves("JOB-08")
@pytest.mark.parametrize(("state", "event_fields", "word"), TABLE)
def test_every_state_has_its_word(state, event_fields, word):
    assert status(state, **event_fields) == word


def test_the_table_is_total():
    assert {row[0] for row in TABLE} == set(State)


@pytest.mark.proves("SL-09", "SL-10", "SL-11", "SL-13", "HB-09")
def test_every_job_says_its_options_in_the_documents_words(world):
    assert list(JOBS) == ["rss_ingestion", "event_clustering", "retention_cleanup", "daily_brief"]
    for name, options in JOBS.items():
        spec = world.app.schedules[name][0]
        assert (spec.coalesce, spec.misfire_grace_seconds) == (options.coalesce, options.misfire_grace_time)
        assert (options.max_instances, spec.overlap) == (1, "skip")
        assert spec.max_runtime_seconds == MAX_RUNTIME_THRESHOLD[name] == 2 * options.expected_runtime
    assert max_runtime_threshold(5 * 60) == 10 * 60
    with pytest.raises(InvalidValue, match="never overlap"):
        JobOptions(coalesce=True, misfire_grace_time=300, max_instances=2, expected_runtime=1)


@pytest.mark.proves("SL-13", "SL-03", "SL-07")
def test_an_hour_of_schedules_reads_places_and_publishes_by_itself(bench, sandbox):
    world = World.open(bench, sandbox, replace(USUAL, retention_cron="30 0 * * *", cron="40 0 * * *"))
    world.paper("harbour-times")

    for _ in range(12):
        bench.advance("5 min")
        bench.drain()

    assert world.brief.publishing.newest_day("acme") == "2024-01-01"
    runs = job_runs(world.app, limit=1000)
    assert {(run.job_name, run.status) for run in runs} == {(name, "success") for name in JOBS}
    assert all(run.scheduled_for.tzinfo is UTC and run.finished_at >= run.started_at for run in runs)
    assert len({(run.job_name, run.scheduled_for) for run in runs}) == len(runs)


@pytest.mark.proves("SL-01")
def test_only_workers_open_slots(scheduled):
    scheduled.paper("harbour-times")
    scheduled.bench.advance("15 min")

    scheduled.brief.ingest(ACME)
    scheduled.brief.cluster(ACME)
    assert scheduled.rows("select count(*) from haulwright_slots") == [(0,)]

    scheduled.bench.drain()
    assert scheduled.rows("select count(*) from haulwright_slots") == [(2,)]


@pytest.fixture
def once(bench, sandbox):
    """The brief by the document's rule: a slot is run at most once."""
    return World.open(bench, sandbox, replace(QUICK, attempts=1))


def opened(world, name="retention_cleanup"):
    """Claim a slot by hand, and return it."""
    slot = START - timedelta(hours=1)
    return slot, claim_slot(world.app, name, slot)


@pytest.mark.proves("MT-01", "MT-02", "SL-06")
def test_a_slot_is_claimed_once_by_hand_and_its_run_is_in_the_table(world):
    slot, job_id = opened(world)

    assert claim_slot(world.app, "retention_cleanup", slot) is None
    assert job_runs(world.app) == []
    world.bench.drain()

    (run,) = job_runs(world.app, "retention_cleanup")
    assert (run.id, run.scheduled_for, run.status, run.worker_instance) == (job_id, slot, "success", "bench")
    with pytest.raises(InvalidValue, match="rss_ingestion"):
        claim_slot(world.app, "cleanup", slot)
    with pytest.raises(InvalidValue, match="zone"):
        claim_slot(world.app, "retention_cleanup", datetime(2024, 1, 1))  # noqa: DTZ001 - what is refused


@pytest.mark.proves("JOB-08", "SL-07")
def test_a_run_that_fails_is_failed_with_its_error(once, monkeypatch):
    def broken(*_said):
        message = "the disk is full"
        raise Retryable(message)

    monkeypatch.setattr(once.brief.retention, "_batch", broken)
    opened(once)
    once.bench.drain()

    (run,) = job_runs(once.app)
    assert (run.status, run.error_message) == ("failed", "the disk is full")
    assert run.finished_at is not None


@pytest.mark.proves("HB-08", "JOB-08")
def test_a_run_that_was_abandoned_is_skipped_timeout_once_the_sweep_finds_it(once):
    opened(once)
    with once.bench.crash("brief.retain", after="claim"):
        once.bench.drain()
    assert [run.status for run in job_runs(once.app)] == ["running"]

    once.bench.advance("31 min")
    once.bench.drain()

    (run,) = job_runs(once.app, "retention_cleanup")
    assert run.status == "skipped_timeout"
    assert run.finished_at == once.bench.now.replace(microsecond=0)


@pytest.mark.proves("HB-08")
def test_a_run_past_its_longest_time_is_skipped_timeout(once, monkeypatch):
    def slow(*_said):
        message = "the run passed its time limit"
        raise TimedOut(message)

    monkeypatch.setattr(once.brief.retention, "_batch", slow)
    opened(once)
    once.bench.drain()

    assert [run.status for run in job_runs(once.app)] == ["skipped_timeout"]


@pytest.mark.proves("SR-01", "SR-04")
def test_a_run_that_the_start_of_a_worker_finds_abandoned_is_failed_at_once(once):
    opened(once)
    with once.bench.crash("brief.retain", after="claim"):
        once.bench.drain()
    ((worker,),) = once.rows("select worker_id from haulwright_jobs where state = 'running'")

    once.bench.store.recovery.recover([str(worker)])

    (run,) = job_runs(once.app)
    assert (run.status, run.error_message) == ("failed", "worker_startup_recovery")


@pytest.mark.proves("SL-08")
def test_an_abandoned_run_with_attempts_left_goes_on_and_succeeds(world):
    opened(world)
    with world.bench.crash("brief.retain", after="claim"):
        world.bench.drain()
    world.bench.advance("31 min")

    world.bench.drain()

    assert [run.status for run in job_runs(world.app, "retention_cleanup")] == ["success"]


@pytest.mark.proves("SL-04")
def test_the_queries_of_the_document_run(world):
    opened(world)
    world.bench.drain()

    columns = ("id", "job_name", "scheduled_for", "started_at", "finished_at", "status", "worker_instance")
    listed = f"select {', '.join(columns)}, error_message from job_runs where status = 'success' order by started_at"  # noqa: S608
    assert len(world.rows(listed)) == 1
    assert world.rows("select count(*) from job_runs where status = 'running'") == [(0,)]
    assert world.rows("select url from raw_articles") == []
    assert world.rows("select cluster_id, raw_article_id from cluster_articles") == []


def test_a_bad_cron_line_is_refused_when_the_brief_is_installed():
    with closing(Haulwright("sqlite:///never-opened.db")) as app, pytest.raises(InvalidValue, match="cron"):
        Brief(app, figures=BriefSettings(cron="every morning"))
