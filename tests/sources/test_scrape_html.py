from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from haulwright.errors import Permanent
from haulwright.sources.scrape import ListingSpec, extract
from haulwright.sources.tools.money import Money

ADDRESS = "https://shop.example/coins/"
SPEC = ListingSpec.from_toml("""
format = "html"
item = "li.offer"
next_page = "a[rel=next]"
version = 3

[fields.id]
attribute = "data-id"
required = true

[fields.title]
select = "h2"
required = true

[fields.url]
select = "h2 a"
attribute = "href"
type = "url"

[fields.price]
select = ".price"
type = "money"
currency = "EUR"
required = true

[fields.bids]
select = ".bids"
regex = '(\\d+) bids'
type = "int"
default = 0

[fields.seen]
select = "time"
attribute = "datetime"
type = "date"

[fields.sold]
select = ".state"
regex = "(?i)sold"
type = "bool"
default = false
""")
GOOD = """<li class=offer data-id=7><h2><a href="../c/7">One  Thaler</a></h2><b class=price>1.234,56&nbsp;€</b>
<i class=bids>1 or 12 bids</i><time datetime="2026-11-14T10:00:00+01:00">today</time><i class=state>Sold out</i></li>"""


def page(*items, foot=""):
    return f"<!doctype html><meta charset=utf-8><ul>{''.join(items)}</ul>{foot}".encode()


def offer(number, price="5,00 €", title="A coin"):
    return f"<li class=offer data-id={number}><h2>{title}</h2><b class=price>{price}</b></li>"


def test_an_item_becomes_a_record_of_typed_values():
    (record,) = extract(SPEC, page(GOOD), ADDRESS).records

    assert record == {
        "id": "7",
        "title": "One Thaler",
        "url": "https://shop.example/c/7",
        "price": Money(Decimal("1234.56"), "EUR"),
        "bids": 12,
        "seen": datetime(2026, 11, 14, 9, tzinfo=UTC),
        "sold": True,
    }


def test_what_an_item_does_not_say_has_its_default():
    (record,) = extract(SPEC, page(offer(1)), ADDRESS).records

    assert (record["bids"], record["sold"], record["url"]) == (0, False, None)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (offer(2, price="call us"), "price: 'call us' has no number"),
        (offer(2, price="1.234 €"), "price: '1.234 €' can be read with '.' as decimal mark or as thousands mark"),
        (offer(2, price="$5"), "price: '$5' is not in EUR"),
        (offer(2, price="12<sup>99</sup> €"), "price: '12 99 €' is no number that is grouped by thousands"),
        (offer(2, title=" "), "title: nothing was found at 'h2'"),
        ("<li class=offer data-id=2><h2>x</h2>", "price: nothing was found at '.price'"),
    ],
)
def test_a_bad_item_is_put_aside_with_its_reason_and_spoils_no_other(bad, reason):
    found = extract(SPEC, page(offer(1), bad, offer(3)), ADDRESS)

    assert [record["id"] for record in found.records] == ["1", "3"]
    (rejected,) = found.rejected
    assert (rejected.index, rejected.reasons) == (1, (reason,))
    assert "data-id" in rejected.excerpt


def test_a_bad_value_of_a_field_that_is_not_required_is_left_out_with_a_warning():
    odd = (
        offer(1)
        .replace("<h2>", "<h2><a href='javascript:x'>y</a>")
        .replace("</li>", "<time datetime=soon></time></li>")
    )

    found = extract(SPEC, page(odd), ADDRESS)

    assert (found.records[0]["url"], found.records[0]["seen"]) == (None, None)
    assert found.warnings == (
        "item 0: url: 'javascript:x' leads to no http address",
        "item 0: seen: the date 'soon' cannot be read",
    )


def test_the_next_page_is_known_by_its_absolute_address():
    assert extract(SPEC, page(offer(1), foot="<a rel=next href='?p=2'>"), ADDRESS).next_url == f"{ADDRESS}?p=2"
    assert extract(SPEC, page(offer(1)), ADDRESS).next_url is None


@pytest.mark.parametrize(
    ("href", "warning"), [(ADDRESS, "the next page is this one"), ("mailto:x", "leads to no http address")]
)
def test_a_next_page_that_leads_nowhere_new_ends_the_listing_with_a_warning(href, warning):
    found = extract(SPEC, page(offer(1), foot=f"<a rel=next href='{href}'>"), ADDRESS)

    assert found.next_url is None
    assert warning in found.warnings[0]


def test_links_start_from_the_base_that_the_page_states():
    body = page(GOOD).replace(b"<ul>", b"<base href='https://cdn.example/a/b/'><ul>")

    assert extract(SPEC, body, ADDRESS).records[0]["url"] == "https://cdn.example/a/c/7"


def test_a_page_without_items_says_that_it_may_have_changed():
    found = extract(SPEC, b"<html><body>We moved!</body></html>", ADDRESS)

    assert (found.records, found.rejected) == ((), ())
    assert found.warnings == ("nothing was found at 'li.offer': the page may have changed",)


def test_records_are_kept_beside_the_version_of_their_rules():
    assert extract(SPEC, page(offer(1)), ADDRESS).version == 3


def test_items_beyond_the_limit_are_left_out_with_a_warning():
    spec = ListingSpec.from_dict({"format": "html", "item": "li", "fields": {"text": {}}, "max_items": 2})

    found = extract(spec, page("<li>a</li>", "<li>b</li>", "<li>c</li>"), ADDRESS)

    assert [record["text"] for record in found.records] == ["a", "b"]
    assert found.warnings == ("1 items beyond the first 2 were left out",)


def test_a_page_in_an_old_encoding_is_read():
    body = page(offer(1, title="Grüße")).replace(b"utf-8", b"windows-1252").decode().encode("windows-1252")

    assert extract(SPEC, body, ADDRESS).records[0]["title"] == "Grüße"


@pytest.mark.parametrize("body", [b"<div>" * 100_001, b"x" * (16 * 1024 * 1024 + 1)])
def test_a_page_that_is_too_much_is_refused(body):
    with pytest.raises(Permanent, match="The page has"):
        extract(SPEC, body, ADDRESS)


@pytest.mark.parametrize("junk", [b"", b"\x00\xff\xfe", b"<li class=offer", b"%PDF-1.7 \xde\xad"])
def test_no_body_is_too_strange_to_be_answered(junk):
    assert extract(SPEC, junk, ADDRESS).records == ()
