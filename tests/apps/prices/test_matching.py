"""Match strength: how surely an offer is of the same kind as an intake."""

from __future__ import annotations

import pytest

from haulwright.apps.prices.intakes import Intake
from haulwright.apps.prices.matching import CONTRADICTED, STRONG_ENOUGH, match_strength
from tests.apps.prices.scenes import offer


def intake(title="Ardish crown", *, year=None, mintmark=None, **attributes):
    return Intake("acme", "1", year, mintmark, None, None, title, attributes, None, 0)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (intake(), offer(title="ARDISH   Crown 1887, proof, in box")),
        (intake(year="1887"), offer()),
        (intake(year="1887"), offer(title="Ardish crown", attributes={"year": "1887"})),
        (intake(title=None, year="1887", mintmark="KN"), offer(title="Crown 1887 KN Ardish mint")),
        (intake(metal="silver"), offer(attributes={"metal": "Silver"})),
    ],
)
def test_a_listing_may_say_more_than_was_asked_for(wanted, found):
    assert match_strength(wanted, found) == 100


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (intake(year="1887"), offer(title="Ardish crown 1902")),
        (intake(year="1887"), offer(title="Ardish crown", attributes={"year": "1902"})),
        (intake(metal="silver"), offer(attributes={"metal": "gold"})),
    ],
)
def test_a_listing_that_says_something_else_is_a_weak_match(wanted, found):
    assert match_strength(wanted, found) <= CONTRADICTED < STRONG_ENOUGH


@pytest.mark.parametrize(
    ("wanted", "found", "most"),
    [
        (intake("Ardish crown 1887 proof"), offer(title="Crown"), 25),
        (intake("Ardish crown proof", year="1887"), offer(title="Crown 1887"), 34),
        (intake("Ardish crown 1887"), offer(title="Ardish crown 1888"), 67),
        (intake("Ardish crown 1887 proof"), offer(title="Ardish crown"), 50),
        (intake(), offer(title="!"), 0),
    ],
)
def test_a_listing_that_says_less_than_was_asked_for_is_as_sure_as_what_it_says(wanted, found, most):
    assert match_strength(wanted, found) <= most


def test_what_an_attribute_says_need_not_be_in_the_title():
    wanted = intake(None, year="1887", metal="silver")

    assert (
        match_strength(wanted, offer(attributes={"metal": "Silver"})) >= STRONG_ENOUGH > match_strength(wanted, offer())
    )


def test_what_a_title_does_not_name_is_not_held_against_it():
    assert match_strength(intake(mintmark="KN"), offer()) == 100


def test_another_thing_is_a_weak_match():
    assert match_strength(intake(), offer(title="Quillan ducat 1703")) < STRONG_ENOUGH


def test_a_misspelt_title_is_still_a_match():
    assert STRONG_ENOUGH <= match_strength(intake(), offer(title="Ardisch Crown 1887")) < 100
