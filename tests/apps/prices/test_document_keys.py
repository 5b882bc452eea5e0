"""Document 003, lines 73 to 100, each executed or compared: which prices are the same, and which of them stays."""

from __future__ import annotations

import re

import pytest

from haulwright.apps.prices.compat import DocumentPoint, document_key
from haulwright.apps.prices.keys import dedupe_key
from haulwright.apps.prices.points import Observed, put
from haulwright.engine.ids import new_id
from tests.apps.prices.scenes import listed, offer

line = pytest.mark.line
PAGE = "applications/prices.md"
POINT = {
    "external_id": None,
    "url": "https://shop.example/items/1?ref=mail#top",
    "title": "  Ardish   CROWN ",
    "price_cents": 4200,
    "date": "2026-09-01",
    "price_type": "sold",
}


@line(
    "80",
    "a point with an external id has the key ext_ and that id",
    differs="type, day and currency are in it too: an asking price and its sale are two; document_key gives theirs",
    page=f"{PAGE}#which-prices-are-the-same",
)
def test_the_key_of_a_point_with_an_id():
    assert dedupe_key(offer(external_id="123456"), "2026-09-01") == "ext_123456"


@line("80", "document_key gives ext_ and the external id")
@line("87", "document_key gives hash_ and the first 16 digits of a SHA-256")
def test_the_keys_of_the_document():
    assert document_key(DocumentPoint(**{**POINT, "external_id": "123456"})) == "ext_123456"
    assert re.fullmatch(r"hash_[0-9a-f]{16}", document_key(DocumentPoint(**POINT)))


@line(
    "87",
    "a point without an id has the key hash_ and 16 digits",
    differs="all 64 digits of it: 16 collide sooner",
    page=f"{PAGE}#which-prices-are-the-same",
)
def test_the_key_of_a_point_without_an_id():
    assert re.fullmatch(r"hash_[0-9a-f]{16}", dedupe_key(offer(external_id=None), "2026-09-01"))


@pytest.mark.parametrize(
    ("change", "same"),
    [
        pytest.param(
            {"url": "https://shop.example/items/1"},
            True,
            marks=line("82", "query and fragment of the URL do not count"),
        ),
        pytest.param({"url": "https://shop.example/items/2"}, False, marks=line("82", "the URL counts")),
        pytest.param({"title": "ardish crown"}, True, marks=line("83", "case and spaces of the title do not count")),
        pytest.param({"title": "ardish penny"}, False, marks=line("83", "the title counts")),
        pytest.param({"price_cents": 4201}, False, marks=line("84", "the price in cents counts")),
        pytest.param({"date": "2026-09-02"}, False, marks=line("85", "the day counts")),
        pytest.param({"price_type": "ask"}, False, marks=line("86", "the kind of price counts: sold, ask or bid")),
    ],
)
def test_what_the_document_makes_its_key_of(change, same):
    assert (document_key(DocumentPoint(**POINT)) == document_key(DocumentPoint(**{**POINT, **change}))) is same


@line(
    "82",
    "all parameters of the URL are removed from ours too",
    differs="only those that say who sent the visitor: shops name their items in the others",
    page=f"{PAGE}#which-prices-are-the-same",
)
def test_the_whole_query_is_removed(world):
    world.page()
    world.answer("odd", *(listed(id=None, url=f"https://shop.example/item?id={number}") for number in (1, 2)))
    intake = world.intake()
    world.collect(intake)

    assert len(world.points(intake)) == 1


@pytest.fixture
def observe(world):
    """Writes what one collection saw, and how many points of the intake there are then, with price and match."""
    intake, source = world.intake(year="1887"), world.source()

    def write(*offers, at=1):
        observed = Observed(intake, source, new_id(), "2026-09-01", at, offers, [])
        world.prices.tables.transact(lambda writing: put(writing, observed))
        return [(one.minor, one.match_strength) for one in world.points(intake)]

    return write


@line("89", "intake, source and key are unique together")
def test_intake_source_and_key_are_unique_together(world, observe):
    observe(offer())
    indexes = {
        "sqlite": "select group_concat(name) from pragma_table_info('prices_points') where pk",
        "postgres": "select string_agg(attname, ',') from pg_index join pg_attribute on attrelid = indrelid and "
        "attnum = any(indkey) where indisprimary and indrelid = 'prices_points'::regclass",
    }
    ((columns,),) = world.rows(indexes[world.bench.store.database.dialect])

    assert set(columns.split(",")) == {"tenant", "intake_id", "source_id", "dedupe_key"}


@line("91-92", "a stronger match replaces the row that is there")
def test_a_stronger_match_replaces(observe):
    observe(offer(title="Ardisch krown 1887", minor=1))

    assert observe(offer(minor=2)) == [(2, 100)]


@line("93", "a weaker match changes nothing")
def test_a_weaker_match_changes_nothing(observe):
    observe(offer(minor=2))

    assert observe(offer(title="Ardisch krown 1887", minor=1), at=2) == [(2, 100)]


@line(
    "93",
    "an equal match changes nothing",
    differs="of two equal matches the newer one stays",
    page=f"{PAGE}#which-prices-are-the-same",
)
def test_an_equal_match_changes_nothing(observe):
    observe(offer(minor=1), at=1)

    assert observe(offer(minor=2), at=2) == [(1, 100)]


@line("85", "a sale that tells no day is one point, however often it is seen")
def test_a_sale_without_a_date_is_one_point(world):
    world.page(cache="0 s")
    intake = world.intake()
    for _ in range(3):
        world.answer("odd", listed(sold_at=None))
        world.collect(intake)
        world.bench.advance("1 day")

    assert len(world.points(intake)) == 1


@line("97-99", "an intake has one valuation, by a constraint of the database")
@line("100", "a new one updates it")
def test_an_intake_has_one_valuation(world):
    world.source()
    intake = world.intake()
    for _ in range(2):
        world.collect(intake)
        world.bench.advance("2 days")
    keys = {
        "sqlite": "select group_concat(name) from pragma_table_info('prices_valuations') where pk",
        "postgres": "select string_agg(attname, ',') from pg_index join pg_attribute on attrelid = indrelid and "
        "attnum = any(indkey) where indisprimary and indrelid = 'prices_valuations'::regclass",
    }

    assert world.rows("select intake_id from valuations") == [(intake.intake_id,)]
    ((columns,),) = world.rows(keys[world.bench.store.database.dialect])
    assert set(columns.split(",")) == {"tenant", "intake_id"}
