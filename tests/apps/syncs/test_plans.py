"""Plans say how often a connection may sync."""

from __future__ import annotations

import pytest

from haulwright.apps.syncs.plans import HOUR_US, PLANS, plan_named
from haulwright.errors import InvalidValue


@pytest.mark.proves("PL-01")
def test_a_free_plan_syncs_every_24_hours_and_nothing_else_can_be_chosen():
    free = PLANS["free"]

    assert free.interval_us(free.cadence_us(None)) == 24 * HOUR_US
    assert free.cadence_us("24 h") == 24 * HOUR_US
    for asked in ("6 h", "25 h"):
        with pytest.raises(InvalidValue, match="cannot be chosen on the plan free"):
            free.cadence_us(asked)


@pytest.mark.proves("PL-02", "PL-03")
@pytest.mark.parametrize(("name", "floor", "too_short"), [("growth", "6 h", "5h59m"), ("enterprise", "1 h", "59 min")])
def test_a_plan_lets_choose_down_to_its_floor(name, floor, too_short):
    plan = PLANS[name]

    assert plan.interval_us(plan.cadence_us(floor)) == plan.floor_us
    assert plan.interval_us(plan.cadence_us("3 days")) == 72 * HOUR_US
    assert plan.interval_us(None) == plan.floor_us
    with pytest.raises(InvalidValue, match="is shorter than"):
        plan.cadence_us(too_short)


def test_what_was_asked_under_another_plan_is_kept_within_this_one():
    assert PLANS["growth"].interval_us(HOUR_US) == 6 * HOUR_US
    assert PLANS["free"].interval_us(HOUR_US) == 24 * HOUR_US
    assert PLANS["enterprise"].interval_us(6 * HOUR_US) == 6 * HOUR_US


def test_a_plan_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(InvalidValue, match="Known are: free, growth, enterprise"):
        plan_named("platinum")
