"""The rules of a source are checked when they are given: a mistake is refused, naming its place."""

from __future__ import annotations

import copy

import pytest

from penstock.apps.prices.rules import Rules
from penstock.errors import InvalidValue, NotFound
from tests.apps.prices.scenes import json_rules

BASE = "https://shop.example"


def changed(**said):
    return {**copy.deepcopy(json_rules(BASE)), **said}


def without(field):
    rules = changed()
    del rules["listing"]["fields"][field]
    return rules


def test_values_stand_in_their_places_quoted_and_absent_ones_are_empty():
    rules = Rules.from_dict(changed(url="https://shop.example/search?q={title}&year={year}&{{x}}"))

    address = rules.address({"title": "half crown & more/√", "other": "1"})

    assert address == "https://shop.example/search?q=half%20crown%20%26%20more%2F%E2%88%9A&year=&{x}"


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        (changed(url="ftp://shop.example/x"), "no address with a path"),
        (changed(url="https://{title}.example/x"), "no address with a path"),
        (changed(url="https://shop.example/{title.__class__}"), "is no attribute"),
        (changed(url="https://shop.example/{title!r}"), "is no attribute"),
        (changed(url="https://shop.example/{title"), "a brace too many or too few"),
        (changed(price_type="guess"), "is no kind of price"),
        (changed(price_types={"Verkauft": "guess"}), "is no kind of price"),
        (changed(rate="often"), "rate"),
        (changed(max_pages=0), "from 1 to 50"),
        (changed(robots="yes"), "neither true nor false"),
        (changed(drop_params="sid"), "is no list"),
        (changed(urls=BASE), "Did you mean 'url'"),
        (without("price"), "lack 'price'"),
        (without("title"), "lack 'title'"),
        ({"url": f"{BASE}/x"}, "lack 'listing'"),
    ],
)
def test_a_mistake_is_refused_naming_its_place(rules, why):
    with pytest.raises(InvalidValue, match=why):
        Rules.from_dict(rules)


def test_what_is_no_toml_is_refused():
    with pytest.raises(InvalidValue, match="no TOML"):
        Rules.from_toml("url = ")


def test_a_source_is_configured_once_and_changed_in_place(world):
    first = world.source()
    same = world.source()
    other = world.source(max_pages=7)

    assert (first.revision, same.revision, other.revision) == (1, 1, 2)
    assert other.rules.max_pages == 7
    assert [source.name for source in world.prices.sources.all("acme")] == ["coinhall"]


def test_a_source_of_another_tenant_has_a_gate_of_its_own(world):
    ours, theirs = world.source(), world.source(tenant="globex")

    assert (ours.source_id, theirs.source_id) == ("price-coinhall@acme", "price-coinhall@globex")
    with pytest.raises(NotFound):
        world.prices.sources.get("acme", theirs.source_id)
