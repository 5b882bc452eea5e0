"""Endurance: a moderate load with faults; memory, handles, threads, connections and logs stay as they are.

`MINUTES=60` and `SEED=7` for another length and another order; an hour on each database where `ONLY=soak` asks for it.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from proof.chaos.campaign import Chaos, Plan
from proof.chaos.places import Place
from proof.faults.server import linux
from proof.soak.gauges import Gauges
from proof.support.minutes import minutes_of, patience_seconds

MINUTES = minutes_of("soak", 60)
SEED = int(os.environ.get("SEED") or random.randrange(1_000_000))
SPARED = 2
KINDS = frozenset(
    {
        "kill -9 of a worker", "SIGTERM to a worker", "kill -9 of a child",
        "immediate restart", "backends terminated", "network cut", "a foreign writer", "a foreign checkpoint",
    }
)  # fmt: skip
PAUSE_SECONDS = (5.0, 40.0)
ENOUGH_MINUTES = 10
"""Until then things warm up: the figures are printed, and not judged."""
SAMPLES = 200
"""How many are taken, however long it lasts."""

pytest_plugins = ("proof.chaos.fixtures",)
pytestmark = [pytest.mark.crash, pytest.mark.timeout(patience_seconds(MINUTES)), linux]


def test_soak_leaves_everything_flat(roomy_place: Place, tmp_path: Path, report: list[str]):
    gauges = Gauges(roomy_place.measure, max(0.5, MINUTES * 60 / SAMPLES))
    findings = Chaos(roomy_place, tmp_path, SEED, Plan(KINDS, SPARED, PAUSE_SECONDS, gauges.watch)).run(MINUTES)

    trends = list(gauges.trends())
    report.append(f"{roomy_place.url.partition(':')[0]}, seed {SEED}: {MINUTES:g} minutes")
    report += [*findings.report(), *map(str, trends)]
    assert findings.harm == []
    if MINUTES >= ENOUGH_MINUTES:
        assert [str(trend) for trend in trends if not trend.is_flat] == []
    assert {trend.gauge for trend in trends} >= {"memory MiB", "handles", "threads", "log MiB"}
