from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from haulwright.apps.brands.retry import COMPILE_RETRY as BRANDS
from haulwright.apps.brief.retry import SLOT_RETRY as BRIEF
from haulwright.apps.documents.retry import FETCH_RETRY as DOCUMENTS
from haulwright.apps.prices.retry import COLLECT_RETRY as PRICES
from haulwright.apps.syncs.retry import SYNC_RETRY as SYNCS
from haulwright.engine.retry import Retry
from haulwright.errors import InvalidValue

SECOND = 1_000_000
SEED = st.integers(0, 2**32)

policies = st.builds(
    lambda attempts, base, factor, longer, jitter, first: Retry(attempts, base, factor, base + longer, jitter, first),
    st.integers(1, 1000),
    st.floats(0, 1e5),
    st.floats(1, 100),
    st.floats(0, 1e7),
    st.floats(0, 1),
    st.integers(0, 100),
)
attempts = st.integers(1, 1000) | st.integers(1, 10**12)


def chance(seed):
    return Random(seed)  # noqa: S311  jitter is no secret


def lowest():
    return 0.0


def middle():
    return 0.5


def highest():
    return 1.0


def waits_in_seconds(policy, rng=middle):
    return [policy.delay_us(attempt, rng) / SECOND for attempt in range(1, policy.attempts)]


@pytest.mark.proves("RT-01", "RT-13")
def test_brands_wait_60_and_120_seconds_and_the_third_failure_is_final():
    assert [waits_in_seconds(BRANDS, rng) for rng in (lowest, middle, highest)] == [[60, 120]] * 3
    assert BRANDS.attempts == 3


@pytest.mark.proves("RT-04")
def test_syncs_wait_a_minute_doubling_and_allow_five_retries():
    assert waits_in_seconds(SYNCS) == [60, 120, 240, 480, 960]
    assert SYNCS.attempts == 1 + 5


@pytest.mark.proves("RT-04")
def test_syncs_are_spread_by_a_quarter_both_ways_under_their_cap():
    assert SYNCS.delay_us(1, lowest) == 45 * SECOND
    assert SYNCS.delay_us(1, highest) == 75 * SECOND
    assert SYNCS.delay_us(7, highest) == 3600 * SECOND
    assert SYNCS.delay_us(7, lowest) == 2700 * SECOND


@pytest.mark.proves("RT-05")
def test_prices_wait_a_minute_doubling_under_a_day_without_jitter():
    assert [waits_in_seconds(PRICES, rng) for rng in (lowest, highest)] == [[60, 120, 240, 480]] * 2
    assert PRICES.delay_us(11, middle) == 1024 * 60 * SECOND
    assert PRICES.delay_us(12, middle) == 24 * 3600 * SECOND
    assert PRICES.attempts == 5


@pytest.mark.proves("RT-13")
def test_documents_run_five_times_and_the_brief_three_times_a_slot():
    assert (DOCUMENTS.attempts, BRIEF.attempts) == (5, 3)


def test_jitter_is_on_unless_a_policy_turns_it_off():
    assert Retry().jitter == 0.25
    assert Retry().delay_us(1, chance(1)) != Retry().delay_us(1, chance(2))


@settings(deadline=None)
@given(policies, attempts, SEED)
def test_a_wait_is_never_negative_and_never_above_the_cap(policy, attempt, seed):
    assert 0 <= policy.delay_us(attempt, chance(seed)) <= policy.cap_us


@settings(deadline=None)
@given(policies, SEED)
def test_a_wait_stays_within_its_jitter(policy, seed):
    plain = replace(policy, jitter=0).delay_us(2, middle)
    assert abs(policy.delay_us(2, chance(seed)) - plain) <= plain * policy.jitter + 1


@settings(deadline=None)
@given(policies, st.lists(attempts, min_size=2, max_size=10))
def test_without_jitter_waits_never_shrink(policy, some_attempts):
    steady = replace(policy, jitter=0)
    waits = [steady.delay_us(attempt, middle) for attempt in sorted(some_attempts)]
    assert all(earlier <= later for earlier, later in pairwise(waits))


@settings(deadline=None)
@given(policies, attempts, SEED)
def test_the_same_chance_gives_the_same_wait(policy, attempt, seed):
    assert policy.delay_us(attempt, chance(seed)) == policy.delay_us(attempt, chance(seed).random)


def test_no_base_means_no_wait_however_many_attempts():
    assert Retry(base=0).delay_us(10**9, highest) == 0


def test_words_and_numbers_make_the_same_policy():
    assert Retry(5, base="1 min", cap="24 h") == Retry(5, base=60, cap=timedelta(days=1))
    assert Retry(5, base="1 min") != Retry(5, base="2 min")
    assert repr(Retry(5, base="1 min", cap="24 h")).startswith("Retry(attempts=5, base='1 min', factor=2.0, cap='24 h'")


@pytest.mark.parametrize(
    "senseless",
    [
        *[{"attempts": value} for value in (0, -1, 1001, 2.5, "5", None, True)],
        *[{"base": value} for value in (-1, "soon", None, float("nan"))],
        *[{"cap": value} for value in ("29 s", -1, "never", float("inf"))],
        *[{"factor": value} for value in (0.99, 0, -2, 101, float("nan"), "2", None)],
        *[{"jitter": value} for value in (-0.01, 1.01, float("nan"), "0.25", None)],
        *[{"first_exponent": value} for value in (-1, 101, 0.5, None)],
    ],
    ids=str,
)
def test_a_senseless_policy_is_refused_when_it_is_written_down(senseless):
    with pytest.raises(InvalidValue, match=rf"^Retry\.{next(iter(senseless))}: "):
        Retry(**senseless)


def test_the_figures_at_the_border_are_accepted():
    assert Retry(1, base=0, cap=0, jitter=1, factor=1).attempts == 1
    assert Retry(1000, base="1 h", cap="1 h", factor=100, first_exponent=100).attempts == 1000


def test_attempts_count_from_one():
    with pytest.raises(InvalidValue, match="count from 1"):
        Retry().delay_us(0, middle)
