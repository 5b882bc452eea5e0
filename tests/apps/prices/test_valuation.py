"""The rule of a valuation: sold prices first, the median, what lies too far out, and how sure it is."""

from __future__ import annotations

import random

import pytest

from haulwright.apps.prices.valuation import Priced, valuate


def priced(*amounts, kind="sold", strength=100, currency="GBP", first=0):
    return [
        Priced("shop", f"ext_{kind}_{currency}_{first + number}", amount, currency, kind, strength)
        for number, amount in enumerate(amounts)
    ]


def test_sold_prices_come_before_what_is_asked():
    found = valuate([*priced(100, 110, 120), *priced(900, 950, kind="ask")])

    assert (found.basis, found.centre, found.low, found.high, found.spread) == ("sold", 110, 105, 115, 10)
    assert found.left_out == {"weak": 0, "other_currency": 0, "other_basis": 2}


def test_without_sales_it_rests_on_what_is_asked_and_is_less_sure():
    sold, asked = valuate(priced(*range(100, 110))), valuate(priced(*range(100, 110), kind="ask"))

    assert asked.basis == "ask"
    assert asked.confidence < sold.confidence


def test_a_price_that_lies_too_far_out_is_named_and_does_not_count():
    found = valuate(priced(100, 101, 102, 103, 104, 9_900))

    assert [one.minor for one in found.outliers] == [9_900]
    assert (found.centre, len(found.points)) == (102, 5)


def test_where_most_prices_are_equal_a_small_difference_is_none():
    found = valuate(priced(1000, 1000, 1000, 1000, 1010, 2000))

    assert [one.minor for one in found.outliers] == [2000]


def test_with_few_points_nobody_is_called_an_outlier():
    assert valuate(priced(100, 101, 9_900)).outliers == ()


def test_weak_matches_and_other_currencies_are_left_out_and_counted():
    found = valuate([*priced(100, 110), *priced(5, strength=59), *priced(700, currency="EUR")])

    assert (found.currency, found.centre) == ("GBP", 105)
    assert found.left_out == {"weak": 1, "other_currency": 1, "other_basis": 0}


def test_the_currency_of_the_intake_decides_where_it_names_one():
    points = [*priced(100, 110, 120), *priced(700, currency="EUR")]

    assert (valuate(points).currency, valuate(points, "EUR").centre) == ("GBP", 700)
    assert valuate(points, "JPY").centre is None


def test_nothing_to_compare_is_no_valuation_and_no_guess():
    found = valuate(priced(100, strength=10))

    assert (found.basis, found.centre, found.confidence) == (None, None, 0)


def test_the_same_points_in_any_order_give_the_same_valuation():
    luck = random.Random(4)  # noqa: S311 - chance here is a seed
    points = priced(*(luck.randrange(100, 300) for _ in range(40)))
    shuffled = luck.sample(points, len(points))

    assert valuate(points) == valuate(shuffled)


@pytest.mark.parametrize(
    ("fewer", "more"),
    [
        (priced(100), priced(100, 100, 100)),
        (priced(50, 100, 150), priced(99, 100, 101)),
        (priced(100, 100, strength=70), priced(100, 100)),
    ],
    ids=["more points", "closer together", "better matched"],
)
def test_it_is_surer_with_better_evidence(fewer, more):
    assert valuate(fewer).confidence < valuate(more).confidence


def test_halves_are_rounded_to_the_even_unit():
    assert [valuate(priced(*pair)).centre for pair in ((100, 101), (101, 102))] == [100, 102]
