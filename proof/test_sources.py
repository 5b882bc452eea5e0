"""Sources: one gate for the whole fleet, whoever is killed, whatever the server answers, however long the line is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proof.sources.scenes import outage, staged, stand_in_line, strike, too_many
from proof.support.site import Site

KILLS = 15
LINE = 10_000
STEADY: dict[str, Any] = {"rate": "20/s", "burst": 5, "concurrency": 8}


@pytest.fixture
def site(durable_url: str, tmp_path: Path):
    """A durable database, where time goes by as it does."""
    return Site.prepare(durable_url, tmp_path, clock=False)


@pytest.mark.crash
@pytest.mark.proves("RL-03", "RL-04", "SC-03")
def test_eight_workers_that_are_killed_one_by_one_stay_within_rate_burst_and_permits(site: Site, report: list[str]):
    with staged(site, takes_seconds=0.3, **STEADY) as scene:
        left = strike(scene, jobs=1_300, workers=8, kills=KILLS, every_seconds=4)

    report.append(f"{site.database}: {left}")
    assert left.harm == []
    assert left.most_at_once <= STEADY["concurrency"]
    assert len(left.deaths) == KILLS
    assert sum(job.losses for job in left.jobs) > 0


@pytest.mark.proves("CB-01", "CB-03", "SC-03")
@pytest.mark.parametrize("how", [{"kind": "status", "code": 500}, {"kind": "refuse"}], ids=["answers 500", "drops"])
def test_a_server_that_is_down_sees_one_probe_at_a_time_and_no_job_pays_for_it(site: Site, how, report: list[str]):
    with staged(site, takes_seconds=0.2, rate="20/s", burst=5, breaker="5 failures / 5 s") as scene:
        seen = outage(scene, jobs=400, workers=4, openings=3, **how)

    report.append(f"{site.database}, {how['kind']}: {seen}")
    assert seen.left.harm == []
    assert seen.cool_downs == [5, 10, 20]
    assert seen.granted == len(seen.probes) == 3
    assert seen.probes_at_once == 1
    assert seen.recovery_seconds < seen.cool_downs[-1] + 2


@pytest.mark.proves("RL-05", "RL-06", "RT-07")
def test_one_429_keeps_five_hundred_jobs_away_for_thirty_seconds_and_costs_them_nothing(site: Site, report: list[str]):
    with staged(site, takes_seconds=0.05, rate="50/s", burst=10) as scene:
        seen = too_many(scene, jobs=500, workers=4, after=100, retry_after=30)

    report.append(f"{site.database}: {seen}")
    assert seen.left.harm == []
    assert seen.seconds == 30
    assert seen.disturbed == []
    assert {job.attempts for job in seen.left.jobs} == {1}


@pytest.mark.proves("RL-05")
def test_none_of_ten_thousand_jobs_behind_ten_a_second_is_claimed_more_than_twice(
    durable_url: str, tmp_path: Path, report: list[str]
):
    site = Site.prepare(durable_url, tmp_path)
    with staged(site, poll="0.02 s", rate="600/min") as scene:
        claims = stand_in_line(scene, scene.fetching.stand, jobs=LINE, workers=4)

    report.append(f"{site.database}: {LINE} jobs by how often they were claimed: {dict(sorted(claims.items()))}")
    assert sum(claims.values()) == LINE
    assert max(claims) <= 2
