from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from haulwright.engine.durations import Rate, rate, seconds, spell, us
from haulwright.errors import InvalidValue


@pytest.mark.parametrize(
    ("words", "length"),
    [
        ("30 s", 30),
        ("2 min", 120),
        ("24 h", 86_400),
        ("7 days", 604_800),
        ("1 day", 86_400),
        ("2 weeks", 1_209_600),
        ("1h30m", 5_400),
        ("1 h 30 min", 5_400),
        ("250 ms", 0.25),
        ("1.5 H", 5_400),
        (" 90 ", 90),
        ("0", 0),
        (45, 45),
        (0.5, 0.5),
        (timedelta(minutes=3), 180),
    ],
)
def test_a_time_is_read_as_people_write_it(words, length):
    assert seconds(words, what="timeout") == pytest.approx(length)


@pytest.mark.parametrize(
    "nonsense",
    [
        *["", " ", "soon", "s", "5 parsecs", "1 month", "-5 s", "5 s 5 s", "30m 1h", "1,5 s", "1e3", "٣ s", "5 s!"],
        *[-1, -0.001, float("nan"), float("inf"), -float("inf"), "9" * 99, "11 years", 4e8],
        *[None, True, b"5 s", [5], timedelta(seconds=-1), timedelta.max],
    ],
)
def test_what_is_no_time_is_refused_early_with_examples(nonsense):
    with pytest.raises(InvalidValue, match=r"^timeout: .*'2 min'") as refusal:
        seconds(nonsense, what="timeout")
    assert refusal.value.what == "timeout"


def test_a_giant_value_is_refused_in_a_short_sentence():
    for giant in (10**9999, -(10**9999), "5 s" * 100_000):
        with pytest.raises(InvalidValue) as refusal:
            seconds(giant, what="timeout")
        assert len(str(refusal.value)) < 400


def test_a_time_outside_its_bounds_is_refused_naming_the_bound():
    assert seconds("1 min", what="lease", minimum=60, maximum=60) == 60
    with pytest.raises(InvalidValue, match="is less than 1 min"):
        seconds("59.9 s", what="lease", minimum=60)
    with pytest.raises(InvalidValue, match="is more than 1 h"):
        seconds("61 min", what="lease", maximum=3600)


def test_microseconds_are_whole():
    assert us("0.1 s", what="wait") == 100_000
    assert us(1 / 3, what="wait") == 333_333


@pytest.mark.parametrize(
    ("words", "meaning"),
    [
        ("30/min", Rate(30, 60)),
        ("5/s", Rate(5, 1)),
        ("1/60 s", Rate(1, 60)),
        ("1 / 60", Rate(1, 60)),
        ("10000/Day", Rate(10_000, 86_400)),
        ("2/1h30m", Rate(2, 5_400)),
    ],
)
def test_a_rate_is_read_as_people_write_it(words, meaning):
    assert rate(words) == meaning


@pytest.mark.parametrize(
    "nonsense",
    ["", "30", "/min", "30/", "0/min", "-1/min", "1.5/min", "30/fortnight", "1/0 s", "9999999/s", "1/min/h", 30, None],
)
def test_what_is_no_rate_is_refused_early(nonsense):
    with pytest.raises(InvalidValue, match=r"^rate of shop: "):
        rate(nonsense, what="rate of shop")


@pytest.mark.parametrize(
    ("length", "words"),
    [
        (0, "0 s"),
        (0.25, "250 ms"),
        (0.9999, "1 s"),
        (1.5, "1.5 s"),
        (59.9996, "1 min"),
        (120, "2 min"),
        (90, "1 min 30 s"),
        (3_599.7, "1 h"),
        (5_400, "1 h 30 min"),
        (86_399.9, "1 day"),
        (93_784, "1 day 2 h"),
        (604_800, "7 days"),
        (-90, "-1 min 30 s"),
    ],
)
def test_a_length_of_time_is_told_in_its_two_largest_units(length, words):
    assert spell(length) == words


@settings(deadline=None)
@given(st.floats(0, 3e8))
def test_what_is_told_can_be_read_back_within_half_of_its_smaller_unit(length):
    assert seconds(spell(length), what="told") == pytest.approx(length, rel=0.5 / 24, abs=0.0006)


@settings(deadline=None)
@given(st.text(alphabet="0123456789. smhdinaywek-/", max_size=30))
def test_any_text_is_read_or_refused_and_nothing_else(text):
    for read in (seconds, rate):
        try:
            read(text, what="word")
        except InvalidValue as refusal:
            assert refusal.hint  # noqa: PT017  either ending is fine; a refusal must help
