"""The day of the proof at small size."""

from __future__ import annotations

import pytest

from proof.syncs.day import Day, Size
from proof.syncs.verdict import DISPATCH_SECONDS, judge

SMALL = Size(tenants=5, connections=20, hours=4, step_seconds=150, fault_share=0.2, kill_share=0.1)


@pytest.mark.proves("TS-03")
def test_a_day_of_a_few_tenants_is_synced_in_time_and_never_twice(world):
    day = Day(world, SMALL, seed=3)

    day.begin()
    day.live()
    day.finish()

    verdict = judge(day)
    assert verdict.wrong == []
    assert (verdict.kills > 0, bool(day.requeued)) == (True, True)
    assert verdict.worst_dispatch_seconds <= DISPATCH_SECONDS
