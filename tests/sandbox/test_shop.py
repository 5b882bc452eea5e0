from __future__ import annotations

from email.utils import parsedate_to_datetime

import pytest
from selectolax.lexbor import LexborHTMLParser

LISTING, API = "/shop/coinhall/coins", "/shop/coinhall/api/listings"


def nodes(client, selector, path=LISTING):
    return [node.text() for node in LexborHTMLParser(client.get(path).text).css(selector)]


def test_the_pages_show_what_the_shop_has(sandbox, client):
    pieces = sandbox.shop.pieces("coinhall")[:20]

    assert nodes(client, "li.item a.title") == [piece.title for piece in pieces]
    assert len(nodes(client, "li.item em.sold")) == sum(piece.sold is not None for piece in pieces)


def test_the_new_layout_says_the_same_in_other_places(sandbox, client):
    old = nodes(client, "li.item .price")
    sandbox.shop.script(shop="coinhall", layout="v2")

    assert nodes(client, "article data.amount") == old
    assert nodes(client, "li.item .price") == []


def test_a_search_is_followed_from_page_to_page(sandbox, client):
    found, address = [], f"{API}?q=crown"
    while address:
        page = client.get(address).json()
        found += [listing["id"] for listing in page["listings"]]
        address = page["next"]

    assert found == [piece.id for piece in sandbox.shop.pieces("coinhall") if "crown" in piece.title]


def test_a_detail_page_belongs_to_a_listing(client):
    listing = client.get(API).json()["listings"][0]

    page = client.get(listing["url"]).text

    assert listing["title"] in page
    assert listing["condition"] in page
    assert client.get("/shop/coinhall/items/none").status_code == 404


def test_prices_change_with_the_days_until_a_piece_is_sold(sandbox):
    before = {piece.id: piece for piece in sandbox.shop.pieces("coinhall")}
    sandbox.clock.advance(86_400)
    after = {piece.id: piece for piece in sandbox.shop.pieces("coinhall")}

    assert any(after[one].price != before[one].price for one in before)
    assert all(after[one].price == before[one].price for one in before if before[one].sold)


def test_each_shop_writes_money_in_its_own_way(client):
    prices = {shop: nodes(client, ".price", f"/shop/{shop}/coins") for shop in ("muenzkontor", "collectors-row")}

    assert all(text.endswith(" €") and text[-5] == "," for text in prices["muenzkontor"])
    assert all(text.startswith("$") and text[-3] == "." for text in prices["collectors-row"])


def test_a_limit_is_announced_and_then_kept(sandbox, client):
    sandbox.shop.script(shop="coinhall", limit={"count": 2, "seconds": 60})
    answers = [client.get(LISTING) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert [answer.headers["X-RateLimit-Remaining"] for answer in answers] == ["1", "0", "0"]
    sandbox.clock.advance(60)
    assert client.get(LISTING).status_code == 200


@pytest.mark.parametrize("form", ["draft", "seconds", "date"])
def test_a_limit_is_told_in_each_of_the_usual_forms(sandbox, client, form):
    sandbox.shop.script(shop="coinhall", limit={"count": 1, "seconds": 30, "form": form})
    first, refused = client.get(API), client.get(API)
    wait = refused.headers["Retry-After"]

    assert ("RateLimit" in first.headers) == (form == "draft")
    seconds = parsedate_to_datetime(wait).timestamp() - sandbox.clock.now() if form == "date" else int(wait)
    assert seconds == 30


def test_robots_are_told_where_not_to_go(client):
    for path in ("/robots.txt", "/shop/coinhall/robots.txt"):
        assert "Disallow: /shop/*/private" in client.get(path).text
