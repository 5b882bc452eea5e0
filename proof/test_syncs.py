"""Syncs: a day of 200 tenants with 1,000 connections, while Airbyte fails and workers are killed."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from haulwright.sandbox import Sandbox, SandboxClock
from haulwright.testing.harness import Harness
from proof.syncs.day import Day, Size
from proof.syncs.verdict import DISPATCH_SECONDS, judge
from tests.apps.syncs.scenes import World

FULL = Size(tenants=200, connections=1_000)


@pytest.mark.proves("ENQ-05", "SL-14", "RL-01", "RL-02", "DL-01", "DL-02")
def test_a_day_of_a_thousand_connections_is_synced_in_time_and_never_twice(
    database_url: str, tmp_path: Path, report: list[str], monkeypatch
):
    monkeypatch.setattr("haulwright.sources.vendor.LOOK_SECONDS", 0.01)
    monkeypatch.setattr("haulwright.sources.airbyte.client.LAG_SECONDS", 0.02)
    with (
        closing(Harness(database_url, tmp_path)) as bench,
        Sandbox(seed=7, clock=SandboxClock(lambda: bench.clock.now() / 1_000_000)) as sandbox,
    ):
        day = Day(World.open(bench, sandbox), FULL, seed=1)
        day.begin()
        day.live()
        day.finish()
        verdict = judge(day)

    report.append(f"{database_url.partition(':')[0]}: {verdict}")
    assert verdict.wrong == []
    assert day.requeued
    assert verdict.kills > 20
    assert verdict.worst_dispatch_seconds <= DISPATCH_SECONDS
    assert verdict.worst_sync_seconds <= 3600
