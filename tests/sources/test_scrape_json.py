from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haulwright.errors import InvalidValue, Permanent
from haulwright.sources.scrape import ListingSpec, extract
from haulwright.sources.scrape.json_path import find, parse_path
from haulwright.sources.tools.money import Money

ADDRESS = "https://shop.example/api/offers"
SPEC = ListingSpec.from_dict(
    {
        "format": "json",
        "item": "data.offers",
        "next_page": "data.next",
        "fields": {
            "id": {"select": "id", "type": "int", "required": True},
            "price": {"select": "price.amount", "type": "money", "currency": "EUR", "required": True},
            "image": {"select": "images[0].url", "type": "url"},
            "sold": {"select": "sold", "type": "bool"},
            "tag": {"select": 'tags[*]["name.en"]'},
        },
    }
)
OFFER = {
    "id": 7,
    "price": {"amount": 0.1},
    "images": [{"url": "/i/7.png"}, {"url": "/i/8.png"}],
    "sold": False,
    "tags": [{"name.de": "Taler"}, {"name.en": "thaler"}],
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "price", "amount", "tags"]), inner)
    ),
)


def listing(*offers, **more):
    return json.dumps({"data": {"offers": offers, **more}}).encode()


def test_an_object_becomes_a_record_and_a_price_stays_exact():
    found = extract(SPEC, listing(OFFER, next="?page=2"), ADDRESS)

    assert found.records == (
        {
            "id": 7,
            "price": Money(Decimal("0.10"), "EUR"),
            "image": "https://shop.example/i/7.png",
            "sold": False,
            "tag": "thaler",
        },
    )
    assert found.next_url == "https://shop.example/api/offers?page=2"


def test_a_price_that_no_binary_fraction_can_hold_stays_what_it_is():
    body = listing(OFFER).replace(b"0.1", b"99999999999999.99")

    assert extract(SPEC, body, ADDRESS).records[0]["price"].minor == 9_999_999_999_999_999


@pytest.mark.parametrize(
    "bad", [{}, {**OFFER, "id": "seven"}, {**OFFER, "price": None}, None, 7, ["x"], {**OFFER, "id": 10**30}]
)
def test_an_item_of_the_wrong_shape_is_put_aside(bad):
    found = extract(SPEC, listing(OFFER, bad, OFFER), ADDRESS)

    assert len(found.records) == 2
    assert [rejected.index for rejected in found.rejected] == [1]
    assert found.rejected[0].reasons


@given(st.lists(JSON, max_size=4))
def test_no_listing_is_too_strange_to_be_answered(items):
    found = extract(SPEC, listing(*items), ADDRESS)

    assert len(found.records) + len(found.rejected) == len(items)


@pytest.mark.parametrize(
    ("body", "why"), [(b"<html>", "is no JSON"), (b"", "is no JSON"), (b"[" * 100_000, "nested too deeply")]
)
def test_a_body_that_is_no_json_is_refused(body, why):
    with pytest.raises(Permanent, match=why):
        extract(SPEC, body, ADDRESS)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".", [{"a": [1, {"b.c": 2}], "d": {"a": 3}}]),
        ("$.a", [[1, {"b.c": 2}]]),
        ("a[0]", [1]),
        ("a[-1]['b.c']", [2]),
        ("a[*]", [1, {"b.c": 2}]),
        ("d.a", [3]),
        ("a[5]", []),
        ("d[0]", []),
        ("nothing.here", []),
    ],
)
def test_a_path_leads_to_what_is_there(path, found):
    assert find({"a": [1, {"b.c": 2}], "d": {"a": 3}}, parse_path(path, what="item")) == found


@pytest.mark.parametrize("path", ["a..b", "a[", "a[x]", "a b", "*", "a]", "a" * 400])
def test_what_is_no_path_is_refused_with_examples(path):
    with pytest.raises(InvalidValue, match=r"is no path.*data\.items"):
        parse_path(path, what="item")
