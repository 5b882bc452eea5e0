"""Brands: a compile whose workers are killed buys each source once, and ends as an undisturbed one."""

from __future__ import annotations

import pytest

from proof.brands.compiles import KILLS_EACH, SOURCES, Stage

pytestmark = pytest.mark.crash

KILLS = 50


def test_workers_killed_at_random_points_cost_no_run_and_change_no_item(site, report):
    with Stage(site) as stage:
        calm = stage.compile(kills=0, seed=0)
        endings = [stage.compile(kills=KILLS_EACH, seed=seed) for seed in range(KILLS // KILLS_EACH)]

    killed = sum(ending.kills for ending in endings)
    report.append(
        f"{site.database}: {len(endings)} compiles, {killed} workers killed in them, {len(SOURCES)} sources each"
    )
    assert calm.run.status == "succeeded"
    assert len(calm.items) == 50 * len(SOURCES)
    assert [ending.run.status for ending in endings] == ["succeeded"] * len(endings)
    for ending in endings:
        assert ending.paid == calm.paid == dict.fromkeys(calm.paid, 1)
        assert ending.items == calm.items
        assert ending.snapshot == calm.snapshot
    assert killed > KILLS * 0.8
