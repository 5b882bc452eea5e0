"""The gate before a source at small size: the same fleet, the same kills and faults, and fewer of everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.sources.scenes import advance_until_drained, outage, staged, stand_in_line, strike
from proof.support.facts import Facts
from proof.support.site import Site

pytestmark = pytest.mark.xdist_group("fleet")  # one fleet at a time: they are about time


@pytest.fixture(params=["sqlite", pytest.param("durable_postgres", marks=pytest.mark.postgres)])
def site(request, tmp_path: Path):
    """Each database in turn, with the durability settings on, where time goes by as it does."""
    return Site.prepare(request.getfixturevalue(f"{request.param}_url"), tmp_path, clock=False)


@pytest.mark.crash
@pytest.mark.proves("RL-03", "RL-04", "SC-03")
def test_workers_that_are_killed_stay_within_rate_burst_and_permits(site: Site):
    with staged(site, takes_seconds=0.1, slots=2, rate="20/s", burst=3, concurrency=3) as scene:
        left = strike(scene, jobs=40, workers=2, kills=1, every_seconds=0.5)

    assert left.harm == []
    assert left.most_at_once <= 3


@pytest.mark.proves("CB-03", "SC-03")
def test_a_server_that_is_down_sees_one_probe_at_a_time_and_no_job_pays_for_it(site: Site):
    with staged(site, takes_seconds=0.1, rate="20/s", burst=3, breaker="3 failures / 1 s") as scene:
        seen = outage(scene, jobs=30, workers=2, openings=2, kind="status", code=500)

    assert seen.left.harm == []
    assert seen.granted == len(seen.cool_downs) == 2
    assert seen.probes_at_once == 1


@pytest.mark.proves("RL-05", "RL-06", "RT-07")
def test_one_429_keeps_all_jobs_away_for_as_long_as_the_server_says(database_url: str, tmp_path: Path):
    seen = []
    with staged(Site.prepare(database_url, tmp_path), poll="0.02 s", concurrency=2) as scene:
        scene.outside.break_down("rate_limit", times=1, skip=5, retry_after=30)
        scene.fetching.enqueue(scene.fetching.fetch, 30)
        scene.fleet.start(2)
        advance_until_drained(scene, 10, also=lambda: seen.append(len(scene.outside.requests())))
        facts = Facts.read(scene.fetching.app.store)

    assert seen[0] == seen[1] == seen[2] < 30
    assert {(job.state, job.attempts) for job in facts.jobs} == {("succeeded", 1)}


@pytest.mark.proves("RL-05")
def test_no_job_of_a_long_line_is_claimed_more_than_twice(database_url: str, tmp_path: Path):
    with staged(Site.prepare(database_url, tmp_path), poll="0.02 s", rate="600/min") as scene:
        claims = stand_in_line(scene, scene.fetching.stand, jobs=120, workers=2)

    assert sum(claims.values()) == 120
    assert max(claims) <= 2
