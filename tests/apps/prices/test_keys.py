"""Keys: which two observations are the same. The vectors are published: another program gets the same keys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from haulwright.apps.prices.compat import DocumentPoint, document_key
from haulwright.apps.prices.keys import KEY_VERSION, dedupe_key, listing_key
from tests.apps.prices.scenes import offer

VECTORS = json.loads((Path(__file__).parent / "vectors" / "keys.json").read_text("utf-8"))


@pytest.mark.proves("NM-09", "NM-10")
@pytest.mark.parametrize("vector", VECTORS["ours"], ids=lambda vector: vector["about"])
def test_our_keys_are_those_of_the_published_vectors(vector):
    found = offer(**vector["offer"])

    assert VECTORS["key_version"] == KEY_VERSION
    assert dedupe_key(found, vector["day"]) == vector["dedupe_key"]
    assert listing_key(found) == vector["listing_key"]


@pytest.mark.parametrize("vector", VECTORS["document"], ids=lambda vector: vector["about"])
def test_the_documents_keys_are_those_of_the_published_vectors(vector):
    assert document_key(DocumentPoint(**vector["point"])) == vector["dedupe_key"]


@pytest.mark.proves("NM-09")
def test_a_listing_with_an_id_is_one_whatever_its_title_price_and_address_become():
    first, later = offer(), offer(title="Now cheaper", minor=3900, url="https://shop.example/moved")

    assert dedupe_key(first, "2026-09-01") == dedupe_key(later, "2026-09-01")
    assert dedupe_key(first, "2026-09-01").startswith("ext_")


@pytest.mark.proves("NM-10")
@pytest.mark.parametrize(
    "other",
    [
        {"url": "https://shop.example/items/2"},
        {"title": "Ardish crown 1888"},
        {"minor": 4201},
        {"currency": "EUR"},
        {"price_type": "ask"},
    ],
)
def test_a_listing_without_an_id_is_told_from_others_by_everything_it_says(other):
    words = {"external_id": None, "sold_on": "2026-09-01"}
    one = offer(**words)

    assert dedupe_key(one, "2026-09-03") != dedupe_key(offer(**{**words, **other}), "2026-09-03")
    assert dedupe_key(one, "2026-09-03") != dedupe_key(offer(**{**words, "sold_on": "2026-09-02"}), "2026-09-03")
    assert len(dedupe_key(one, "2026-09-01")) == len("hash_") + 64


@pytest.mark.proves("NM-10")
@pytest.mark.parametrize("external_id", ["1", None], ids=["with an id", "without an id"])
def test_a_sale_has_one_key_on_every_day_it_is_read_and_an_asking_price_one_a_day(external_id):
    sale, asked = offer(external_id=external_id), offer(external_id=external_id, price_type="ask")

    assert dedupe_key(sale, "2026-09-01") == dedupe_key(sale, "2026-09-02")
    assert dedupe_key(asked, "2026-09-01") != dedupe_key(asked, "2026-09-02")


@pytest.mark.parametrize("other", [{"price_type": "ask"}, {"currency": "EUR"}])
def test_ask_and_sold_of_one_listing_are_two_observations_of_it(other):
    one, another = offer(), offer(**other)

    assert dedupe_key(one, "2026-09-01") != dedupe_key(another, "2026-09-01")
    assert listing_key(one) == listing_key(another)


def test_no_two_parts_of_a_key_run_together():
    one, other = offer(external_id="EUR_1"), offer(external_id="1", currency="EUR")

    assert dedupe_key(one, "2026-09-01") != dedupe_key(other, "2026-09-01")
