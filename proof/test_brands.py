"""Brands: compiles whose workers are killed buy each source once, and end as an undisturbed one."""

from __future__ import annotations

import time

import pytest

from proof.brands.compiles import SOURCES, Stage
from proof.support.site import Site

pytestmark = pytest.mark.crash

KILLS = 50
KILLS_A_WAVE = 25
BRANDS_A_WAVE = 4
MOST_WAVES = 8


@pytest.mark.proves("HB-13", "GU-02")
def test_workers_killed_at_random_points_cost_no_run_and_change_no_item(site: Site, report: list[str]):
    began, endings = time.monotonic(), []
    with Stage(site) as stage:
        (calm,) = stage.compile()
        for seed in range(MOST_WAVES):
            wanted = min(KILLS - stage.kills, KILLS_A_WAVE)
            endings += stage.compile(brands=BRANDS_A_WAVE, kills=wanted, seed=seed) if wanted else []

    report.append(
        f"{site.database}: {len(endings)} compiles of {len(SOURCES)} sources each, {stage.kills} workers killed in"
        f" them, {time.monotonic() - began:.0f} s"
    )
    assert (calm.run.status, len(calm.items)) == ("succeeded", 50 * len(SOURCES))
    assert [ending.run.status for ending in endings] == ["succeeded"] * len(endings)
    for ending in endings:
        assert ending.paid == calm.paid == dict.fromkeys(calm.paid, 1)
        assert ending.items == calm.items
        assert ending.snapshot == calm.snapshot
    assert stage.kills == KILLS
