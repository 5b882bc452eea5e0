"""Price points: every observation once, stronger ones first, then newer ones, by the database's own rule."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import permutations

import pytest

from haulwright.apps.prices.points import Observed, put
from haulwright.engine.ids import new_id
from tests.apps.prices.scenes import offer

DAY = "2026-09-01"


@pytest.fixture
def observe(world):
    """Writes what one collection saw of an intake, and says how many points were new and how many changed."""
    intake, source = world.intake(year="1887"), world.source()

    def write(*offers, at=1, day=DAY):
        observed = Observed(intake, source, new_id(), day, at, offers, [])
        return world.prices.tables.transact(lambda writing: put(writing, observed))

    write.intake = intake
    return write


def kept(world, observe):
    return [(one.minor, one.match_strength, one.observed_at) for one in world.points(observe.intake)]


@pytest.mark.proves("NM-11")
def test_the_same_observation_is_stored_once(world, observe):
    assert observe(offer(), at=1) == (1, 0)
    assert observe(offer(), at=1) == (0, 0)
    assert kept(world, observe) == [(4200, 100, 1)]


@pytest.mark.proves("NM-12")
def test_a_stronger_match_replaces_a_weaker_one_and_never_the_other_way_round(world, observe):
    weak, strong = offer(title="Ardisch krown 1887", minor=1), offer(minor=2)

    observe(weak, at=1)
    observe(strong, at=1)
    observe(weak, at=2)

    assert kept(world, observe) == [(2, 100, 1)]


@pytest.mark.proves("NM-12")
def test_of_two_equal_matches_the_newer_one_stays(world, observe):
    observe(offer(minor=1), at=1)
    assert observe(offer(minor=2), at=2) == (0, 1)
    assert observe(offer(minor=3), at=1) == (0, 0)

    assert kept(world, observe) == [(2, 100, 2)]


def test_what_stays_does_not_depend_on_who_came_first(world, observe):
    seen = [(offer(minor=5, external_id="x"), 2), (offer(minor=9, external_id="x"), 2), (offer(minor=7), 1)]
    endings = set()
    for number, order in enumerate(permutations(seen)):
        for one, at in order:
            observe(offer(external_id=f"{one.external_id}-{number}", minor=one.minor), at=at)
        rows = [one for one in world.points(observe.intake) if one.dedupe_key.endswith(f"-{number}")]
        endings.add(tuple(sorted((one.minor, one.observed_at) for one in rows)))

    assert endings == {((7, 1), (9, 2))}


@pytest.mark.proves("NM-11")
def test_two_who_write_the_same_points_at_once_leave_each_once(world, observe):
    many = [offer(external_id=str(number)) for number in range(30)]

    with ThreadPoolExecutor(4) as pool:
        counts = list(pool.map(lambda at: observe(*many, at=at), [1] * 4))

    assert sum(new for new, _ in counts) == 30
    duplicates = "select count(*) from price_points group by intake_id, source_id, dedupe_key having count(*) > 1"
    assert world.rows(duplicates) == []


def test_a_listing_that_stands_on_two_pages_counts_once_with_its_better_match(world, observe):
    assert observe(offer(title="Ardisch krown 1887", minor=1), offer(minor=2)) == (1, 0)
    assert kept(world, observe) == [(2, 100, 1)]


def test_every_day_of_a_listing_is_kept_and_the_last_one_is_current(world, observe):
    for day, minor in (("2026-09-01", 4200), ("2026-09-03", 3900), ("2026-09-02", 4100)):
        observe(offer(price_type="ask", minor=minor), day=day)

    current = world.prices.points.current("acme", observe.intake.intake_id)
    assert [(one.day, one.minor) for one in world.points(observe.intake)] == [
        ("2026-09-03", 3900), ("2026-09-02", 4100), ("2026-09-01", 4200),
    ]  # fmt: skip
    assert [one.minor for one in current] == [3900]


def test_every_observation_is_told_however_many_there_are(world, observe, monkeypatch):
    monkeypatch.setattr("haulwright.apps.prices.points.PAGE", 2)
    for day in (3, 1, 2):
        observe(
            offer(external_id="a", price_type="ask"), offer(external_id="b", price_type="ask"), day=f"2026-09-0{day}"
        )

    told = [(one.day[-1], one.dedupe_key[-1]) for one in world.points(observe.intake)]

    assert told == [("3", "a"), ("3", "b"), ("2", "a"), ("2", "b"), ("1", "a"), ("1", "b")]


def test_a_sale_outranks_every_offer_of_the_same_listing(world, observe):
    observe(offer(price_type="ask", minor=4200), day="2026-09-02")
    observe(offer(price_type="sold", minor=4000, sold_on="2026-09-01"), day="2026-09-02")

    (current,) = world.prices.points.current("acme", observe.intake.intake_id)
    assert (current.price_type, current.minor) == ("sold", 4000)


@pytest.mark.parametrize("column", ["source_id", "dedupe_key", "intake_id"])
def test_no_part_of_a_key_can_be_missing(world, observe, column):
    observe(offer())

    with pytest.raises(Exception, match=r"(?i)null"):
        world.bench.store.database.transact(
            lambda connection: connection.execute(f"update prices_points set {column} = null")  # noqa: S608 - as above
        )
