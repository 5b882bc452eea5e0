"""Each job of the brief can be tuned by settings: grace, coalescing, expected runtime, tries and delays."""

from __future__ import annotations

from dataclasses import replace

import pytest

from haulwright.apps.brief.application import Brief
from haulwright.apps.brief.settings import BriefSettings
from haulwright.client.app import Haulwright
from tests.apps.brief.scenes import QUICK, World
from tests.apps.brief.test_runs import run_of, subscribe

JOBS = {
    "ingest": "rss_ingestion",
    "cluster": "event_clustering",
    "retention": "retention_cleanup",
    "daily": "daily_brief",
}
TASKS = {
    "ingest": ("brief.ingest", "brief.fetch"),
    "cluster": ("brief.cluster", "brief.place"),
    "retention": ("brief.retain",),
    "daily": ("brief.daily", "brief.publish"),
}


@pytest.mark.proves("CF-05")
@pytest.mark.parametrize("prefix", JOBS)
def test_every_figure_of_a_job_can_be_set_in_the_environment(monkeypatch, prefix):
    figures = {
        "GRACE_SECONDS": "77",
        "COALESCE": "false",
        "EXPECTED_RUNTIME_SECONDS": "40",
        "ATTEMPTS": "7",
        "RETRY_SECONDS": "9",
    }
    for name, value in figures.items():
        monkeypatch.setenv(f"HAULWRIGHT_BRIEF_{prefix.upper()}_{name}", value)

    app = Haulwright("sqlite:///never-opened.db")
    Brief(app)

    spec, template = app.schedules[JOBS[prefix]]
    assert (spec.misfire_grace_seconds, spec.coalesce, spec.max_runtime_seconds) == (77, False, 80)
    assert template.max_attempts == 7
    for task in TASKS[prefix]:
        retry = app.tasks[task].options.retry
        assert (retry.attempts, retry.base_us) == (7, 9_000_000)
    others = [app.schedules[name][0] for key, name in JOBS.items() if key != prefix]
    assert all(other.coalesce and other.misfire_grace_seconds >= 300 and other.attempts == 3 for other in others)


def test_attempts_of_all_jobs_are_those_of_each_that_says_none():
    figures = BriefSettings(attempts=2, daily_attempts=9)

    assert [figures.retry(name).attempts for name in JOBS.values()] == [2, 2, 2, 9]


def test_an_ingestion_waits_for_its_feeds_as_long_as_its_settings_say(bench, sandbox):
    world = World.open(bench, sandbox, replace(QUICK, ingest_expected_runtime_seconds=30.0))
    subscribe(world, "one.xml")
    sandbox.faults.add("rate_limit", retry_after=3600)
    assert run_of(world, "rss_ingestion").status == "running"

    bench.advance("60 s")
    bench.drain()

    assert run_of(world, "rss_ingestion").status == "failed"
