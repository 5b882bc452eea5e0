"""The words for what a source allows are parsed once, and refused early."""

from __future__ import annotations

import pytest

from haulwright.clock import SECOND
from haulwright.engine.source import gate_name, gate_of, source_key, source_limits
from haulwright.errors import InvalidValue


def test_a_rate_becomes_an_interval_and_what_one_second_admits_may_pass_at_once():
    slow, quick = source_limits(rate="30/min"), source_limits(rate="600/min")

    assert (slow.interval_us, slow.burst, slow.per_minute) == (2 * SECOND, 1, 30)
    assert (quick.interval_us, quick.burst, quick.per_minute) == (SECOND // 10, 10, 600)


def test_an_interval_that_is_no_whole_number_is_rounded_to_the_polite_side():
    assert source_limits(rate="7/s").interval_us == 142_858


@pytest.mark.proves("RL-01")
def test_a_minimum_interval_holds_beside_a_faster_rate_and_admits_one_by_one():
    both = source_limits(rate="600/min", min_interval="60 s")

    assert (both.interval_us, both.burst) == (60 * SECOND, 1)


@pytest.mark.proves("CB-01", "CB-02")
def test_five_failures_open_the_breaker_for_five_minutes_unless_told_otherwise():
    told, untold, none = source_limits(breaker="3 failures / 90 s"), source_limits(), source_limits(breaker=None)

    assert (untold.breaker_failures, untold.breaker_cool_down_us) == (5, 300 * SECOND)
    assert (told.breaker_failures, told.breaker_cool_down_us) == (3, 90 * SECOND)
    assert none.breaker_failures is None


@pytest.mark.parametrize(
    "said",
    [
        {"rate": "fast"},
        {"burst": 5},
        {"rate": "30/min", "burst": 0},
        {"rate": "30/min", "burst": 3, "min_interval": 1},
        {"concurrency": 0},
        {"budget": "many/day"},
        {"budget": -1},
        {"breaker": "five failures"},
        {"breaker": "0 failures / 5 min"},
        {"cache": "soon"},
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_when_it_is_declared(said):
    with pytest.raises(InvalidValue):
        source_limits(**said)


def test_an_account_has_a_row_of_its_own():
    assert source_key("shop.example") == "shop.example"
    assert source_key("shop.example", "acme") == "shop.example@acme"
    with pytest.raises(InvalidValue):
        source_key("shop@example")


def test_a_job_waits_on_a_gate_by_a_name_that_can_be_read_back():
    assert gate_of(gate_name("shop.example@acme:eu", "rate")) == ("shop.example@acme:eu", "rate")
    assert gate_of("concurrency:source:x") is None
    assert gate_of("task:unknown") is None
