from __future__ import annotations

import pytest

from haulwright.errors import InvalidValue
from haulwright.sources.scrape import FieldSpec, ListingSpec

GOOD = {"format": "html", "item": "li", "fields": {"title": {"select": "h2"}}}


def field(**options):
    return {**GOOD, "fields": {"price": options}}


def test_a_listing_may_be_written_as_a_mapping_or_as_toml():
    from_toml = ListingSpec.from_toml('format = "html"\nitem = "li"\n[fields]\ntitle = {select = "h2"}')

    assert from_toml == ListingSpec.from_dict(GOOD)
    assert from_toml.fields == {"title": FieldSpec(select="h2")}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({**GOOD, "itme": "li"}, "listing: 'itme' is no option here. Did you mean 'item'?"),
        ({**GOOD, "format": "htm"}, "listing.format: 'htm' is not known. Did you mean 'html'?"),
        ({**GOOD, "format": "csv"}, "listing.format: 'csv' is not known. Known are: html, json."),
        ({**GOOD, "item": "li["}, "listing.item: 'li[' is no CSS selector. Write one such as li.offer > h2."),
        ({**GOOD, "next_page": "a >"}, "listing.next_page: 'a >' is no CSS selector"),
        ({**GOOD, "version": "3"}, "listing.version: '3' must be a whole number."),
        ({**GOOD, "version": True}, "listing.version: True must be a whole number."),
        ({**GOOD, "max_items": 0}, "listing.max_items: 0 must be at least 1."),
        ({**GOOD, "fields": {}}, "fields: {} must be a table of 1 to 100 fields."),
        ({**GOOD, "fields": {"title": "h2"}}, "fields.title: 'h2' must be a table."),
        ({"format": "html", "fields": {"title": {}}}, "lacks 'item'"),
        (field(selector="b"), "fields.price: 'selector' is no option here. Did you mean 'select'?"),
        (field(type="mony"), "fields.price.type: 'mony' is not known. Did you mean 'money'?"),
        (field(type="money", currency="EURO"), "fields.price.currency: 'EURO' is not known. Did you mean 'EUR'?"),
        (field(type="money", decimal_mark=";"), "fields.price.decimal_mark: ';' is not known. Known are: ., ,."),
        (field(regex="("), "fields.price.regex: '(' is no regular expression"),
        (field(required="yes"), "fields.price.required: 'yes' must be true or false."),
        ({**field(attribute="href"), "format": "json"}, "fields.price.attribute: 'href' is only for HTML."),
        ({**field(select="a..b"), "format": "json"}, "fields.price.select: 'a..b' is no path"),
    ],
)
def test_a_mistake_is_refused_early_naming_its_place_and_what_was_meant(given, sentence):
    with pytest.raises(InvalidValue) as refusal:
        ListingSpec.from_dict(given)
    assert sentence in str(refusal.value)


def test_what_is_no_toml_is_refused_with_its_line():
    with pytest.raises(InvalidValue, match=r"is no TOML: .*line 2"):
        ListingSpec.from_toml('format = "html"\nitem = \n')
