"""Match strength: how surely an offer is of the same kind as an intake."""

from __future__ import annotations

import pytest

from penstock.apps.prices.intakes import Intake
from penstock.apps.prices.matching import CONTRADICTED, STRONG_ENOUGH, match_strength
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


def test_what_a_title_does_not_name_is_not_held_against_it():
    assert match_strength(intake(mintmark="KN"), offer()) == 100


def test_another_thing_is_a_weak_match():
    assert match_strength(intake(), offer(title="Quillan ducat 1703")) < STRONG_ENOUGH


def test_a_misspelt_title_is_still_a_match():
    assert STRONG_ENOUGH <= match_strength(intake(), offer(title="Ardisch Crown 1887")) < 100
