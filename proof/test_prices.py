"""Prices: 5,000 jobs and 8 workers, killed on the way: each point once, one valuation for each intake."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from proof.prices.market import Market
from proof.prices.verdict import judge
from proof.support.site import Site

pytestmark = [pytest.mark.crash, pytest.mark.timeout(3_000)]

INTAKES = 1_250
SOURCES = 4
WORKERS = 8
KILLS = 24


@pytest.mark.proves("NM-11", "NM-13", "TS-04", "TS-05", "GU-03", "HB-13")
def test_five_thousand_jobs_on_eight_workers_that_are_killed_leave_each_point_once(
    durable_url: str, tmp_path: Path, report: list[str]
):
    with closing(Site.prepare(durable_url, tmp_path, clock=False)) as site, Market.open(site) as market:
        jobs = market.prepare(intakes=INTAKES, sources=SOURCES)
        market.work(workers=WORKERS, kills=KILLS)
        verdict = judge(market)

    report.append(f"{site.database}: {verdict}")
    assert verdict.wrong == []
    assert (jobs, verdict.jobs, verdict.valuations) == (5_000, 5_000, INTAKES)
    assert verdict.kills == KILLS
    assert verdict.losses > 0
