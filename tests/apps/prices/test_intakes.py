"""Intakes: what is to be valued."""

from __future__ import annotations

import pytest

from haulwright.apps.prices import NewIntake
from haulwright.errors import Conflict, InvalidValue, NotFound


@pytest.mark.parametrize(
    ("words", "heading"),
    [
        ({"title": "Ardish crown", "year": "1887", "mintmark": "S"}, "Ardish crown, 1887, S"),
        ({"title": "Ardish crown 1887", "year": "1887"}, "Ardish crown 1887"),
        ({"title": None, "year": "1887", "denomination": "crown"}, "1887, crown"),
    ],
)
def test_the_heading_of_an_intake_says_what_its_title_leaves_out(world, words, heading):
    assert world.intake(**words).heading == heading


def test_an_intake_is_described_by_whatever_tells_it_from_others(prices):
    new = NewIntake("crown-1", year="1887", mintmark="", denomination="crown", attributes={"metal": " silver  coin "})

    made = prices.intakes.add("acme", new)

    assert prices.intakes.get("acme", "crown-1") == made
    assert made.described == {"year": "1887", "denomination": "crown", "metal": "silver coin"}
    assert made.words == "1887 crown silver coin"


def test_an_intake_of_another_tenant_looks_exactly_like_an_absent_one(prices):
    prices.intakes.add("acme", NewIntake("mine", title="Ardish crown"))

    with pytest.raises(NotFound) as foreign:
        prices.intakes.get("globex", "mine")
    with pytest.raises(NotFound) as absent:
        prices.intakes.get("globex", "nothing")
    assert str(foreign.value).replace("mine", "nothing") == str(absent.value)


def test_an_intake_is_added_once(prices):
    prices.intakes.add("acme", NewIntake("mine", title="Ardish crown"))

    with pytest.raises(Conflict, match="exists already"):
        prices.intakes.add("acme", NewIntake("mine", title="Quillan ducat"))
    assert prices.intakes.get("acme", "mine").title == "Ardish crown"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({}, "described by nothing"),
        ({"title": "x" * 501}, "at most 500"),
        ({"title": "a\0b"}, "printable"),
        ({"title": "crown", "currency": "DOUBLOON"}, "is not known"),
        ({"attributes": {"Metal": "silver"}}, "is no name"),
        ({"attributes": {"year": "1887"}}, "is no name"),
        ({"attributes": {f"a{n}": "x" for n in range(21)}}, "more than 20"),
    ],
)
def test_what_cannot_be_looked_for_is_refused_before_anything_is_written(prices, said, why):
    with pytest.raises(InvalidValue, match=why):
        prices.intakes.add("acme", NewIntake(**said))
    assert list(prices.intakes.all()) == []
