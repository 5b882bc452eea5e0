"""Chaos: random faults of all kinds against everything at once; nothing lost, nothing twice, nothing stuck.

`MINUTES=20` and `SEED=7` for another length and another order; twenty minutes where `ONLY=chaos` asks for it.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from proof.chaos.campaign import Chaos
from proof.chaos.places import Place
from proof.chaos.verdict import REFUSED_WRITES
from proof.faults.server import linux
from proof.support.minutes import minutes_of, patience_seconds

MINUTES = minutes_of("chaos", 20)
SEED = int(os.environ.get("SEED") or random.randrange(1_000_000))
ENOUGH_MINUTES = 5
"""From here on the rare things must have happened."""

pytest_plugins = ("proof.chaos.fixtures",)
pytestmark = [pytest.mark.crash, pytest.mark.timeout(patience_seconds(MINUTES)), linux]


@pytest.mark.proves("GU-01", "GU-02", "GU-03", "GU-04")
def test_chaos_loses_nothing_and_does_nothing_twice(small_place: Place, tmp_path: Path, report: list[str]):
    findings = Chaos(small_place, tmp_path, SEED).run(MINUTES)

    report.append(f"{small_place.url.partition(':')[0]}, seed {SEED}: {MINUTES:g} minutes")
    report += findings.report()
    assert findings.harm == []
    if MINUTES >= ENOUGH_MINUTES:
        assert findings.figures[REFUSED_WRITES] > 0, "no run tried to write after it had lost its lease"
