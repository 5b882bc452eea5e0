"""Offers: what a listing says, exact, or a reason why it cannot be used."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from haulwright.apps.prices.offers import Unusable, read_offer
from haulwright.apps.prices.rules import Rules
from tests.apps.prices.scenes import json_rules

TODAY = "2026-09-01"
ANY = Rules.from_dict(json_rules("https://shop.example", price_types={"Verkauft": "sold"}, drop_params=["sid"]))


def rules(**price):
    given = json_rules("https://shop.example")
    fields = {**given["listing"]["fields"], "price": {"select": "p", "type": "money", **price}}
    return Rules.from_dict({**given, "listing": {**given["listing"], "fields": fields}})


def record(**said):
    known = {"id": "1", "title": "Ardish crown", "url": "https://shop.example/i?id=1", "price": "£42.00"}
    return {**known, **said}


@pytest.mark.parametrize(
    ("text", "said", "minor", "currency"),
    [
        ("$1,234.56", {}, 123456, "USD"),
        ("1.234,56 €", {}, 123456, "EUR"),
        ("1 234,56 EUR", {}, 123456, "EUR"),
        ("CHF 1'234.56", {}, 123456, "CHF"),
        ("¥1,234", {"currency": "JPY"}, 1234, "JPY"),
        ("1.234", {"currency": "KWD", "decimal_mark": "."}, 1234, "KWD"),
        ("1.234", {"currency": "EUR", "decimal_mark": ","}, 123400, "EUR"),
    ],
)
def test_every_way_of_writing_a_price_becomes_its_minor_units(text, said, minor, currency):
    offer = read_offer(rules(**said), record(price=text), TODAY)

    assert (offer.minor, offer.currency) == (minor, currency)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"price": "1.234 €"}, "can be read with"),
        ({"price": "12 kr"}, "may be in"),
        ({"price": "42.00"}, "has no currency"),
        ({"price": "on request"}, "has no currency"),
        ({"price": "£1 or £2"}, "several numbers"),
        ({"price": "£0.00"}, "is no price"),
        ({"price": "-£5"}, "is no price"),
        ({"price": "42.00", "currency": "doubloon"}, "'DOUBLOON' is not known"),
        ({"price": "$42.00", "currency": "EUR"}, "is not in EUR"),
        ({"title": "x" * 1001}, "more than 1000 characters"),
        ({"id": "x" * 201}, "id: it is not of 1 to 200"),
        ({"id": None, "url": None}, "neither an id nor an address"),
        ({"id": None, "url": "https:///x"}, "url:"),
        ({"price_type": "maybe"}, "'maybe' is no kind of price"),
        ({"price_type": "sold", "date": datetime(2026, 9, 2, tzinfo=UTC)}, "2026-09-02 is in the future"),
    ],
)
def test_what_is_not_certain_is_refused_with_its_reason(said, why):
    with pytest.raises(Unusable, match=why):
        read_offer(ANY, record(**said), TODAY)


def test_a_listing_may_be_in_another_currency_than_its_source_if_it_says_so():
    offer = read_offer(rules(currency="EUR"), record(price="42.00", currency="usd"), TODAY)

    assert (offer.minor, offer.currency) == (4200, "USD")


@pytest.mark.parametrize(
    ("word", "kind"), [("Sold", "sold"), ("for_sale", "ask"), ("BID", "bid"), ("Verkauft", "sold"), (None, "ask")]
)
def test_the_words_of_a_source_are_kinds_of_prices(word, kind):
    assert read_offer(ANY, record(price_type=word), TODAY).price_type == kind


def test_only_parameters_that_say_nothing_are_dropped_from_an_address():
    found = read_offer(ANY, record(url="https://shop.example/i?utm_source=x&id=7&sid=9#top"), TODAY)

    assert found.url == "https://shop.example/i?id=7"


def test_a_sale_has_its_own_day_and_an_offer_has_none():
    moment = datetime(2026, 8, 1, 23, 30, tzinfo=UTC)

    assert read_offer(ANY, record(price_type="sold", date=moment), TODAY).sold_on == "2026-08-01"
    assert read_offer(ANY, record(price_type="ask", date=moment), TODAY).sold_on is None
