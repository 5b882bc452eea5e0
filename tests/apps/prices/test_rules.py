"""The rules of a source are checked when they are given: a mistake is refused, naming its place."""

from __future__ import annotations

import copy

import pytest

from haulwright.apps.prices.rules import Rules
from haulwright.errors import InvalidValue, NotFound
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
        (changed(rate=0), "is no rate"),
        (changed(concurrency=0), "concurrency"),
        (changed(breaker=0), "is no breaker"),
        (changed(cache=-1), "cache"),
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


@pytest.mark.parametrize("nothing", [0, "0 s", False])
def test_a_cache_of_no_time_keeps_nothing(nothing):
    assert Rules.from_dict(changed(cache=nothing)).source_limits(3_600).cache_ttl_us == 0


def test_a_limit_that_is_false_is_none():
    allowed = Rules.from_dict(changed(rate=False, concurrency=False, breaker=False)).source_limits(0)

    assert (allowed.rate_count, allowed.concurrency, allowed.breaker_failures) == (None, None, None)


def test_a_mistake_in_an_address_is_named_without_its_secret():
    with pytest.raises(InvalidValue) as refusal:
        Rules.from_dict(changed(url="https://shop.example/{title!r}?api_key=hush-hush"))

    assert "hush" not in str(refusal.value)


def test_what_is_no_toml_is_refused():
    with pytest.raises(InvalidValue, match="no TOML"):
        Rules.from_toml("url = ")


@pytest.mark.parametrize("host", ["10.0.0.1", "[::1]", "169.254.169.254", "192.168.1.1:8080"])
def test_a_private_address_is_refused_unless_somebody_named_it(world, host):
    with pytest.raises(InvalidValue, match="HAULWRIGHT_PRICES_PRIVATE_HOSTS"):
        world.prices.sources.put("acme", "inside", json_rules(f"http://{host}"))

    assert world.prices.sources.all("acme") == []


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
