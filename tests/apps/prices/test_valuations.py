"""Valuations: one for each intake, always that of all committed points, with every version kept."""

from __future__ import annotations

import threading

import pytest

from haulwright.apps.prices.points import Observed
from haulwright.apps.prices.valuations import record
from haulwright.engine.ids import new_id
from tests.apps.prices.scenes import TENANT, offer


def write(world, intake, source, *offers, meanwhile=lambda: None):
    """What the commit of a collection does, with something that happens before it commits."""
    observed = Observed(intake, source, new_id(), "2026-09-01", 1, offers, [])

    def work(writing):
        _, _, version = record(writing, observed)
        meanwhile()
        return version

    return world.prices.tables.transact(work)


@pytest.mark.proves("NM-13")
def test_an_intake_has_one_valuation_and_all_versions_of_it(world):
    intake, source = world.intake(), world.source()

    for number, minor in enumerate((4000, 5000, 6000)):
        write(world, intake, source, offer(external_id=str(number), minor=minor))

    assert world.rows("select intake_id, version, value_cents, count from valuations") == [
        (intake.intake_id, 3, 5000, 3)
    ]
    found = world.prices.valuations.versions(TENANT, intake.intake_id)
    assert [(one.version, one.valuation.centre) for one in found] == [(3, 5000), (2, 4500), (1, 4000)]


def test_a_valuation_that_says_the_same_is_no_new_version(world):
    intake, source = world.intake(), world.source()

    assert write(world, intake, source, offer()) == 1
    assert write(world, intake, source, offer()) is None
    assert world.valued(intake).version == 1


@pytest.mark.proves("NM-13")
def test_two_workers_cannot_interleave_to_a_valuation_that_misses_points(world):
    """The one that waited for the lock sees what the other committed."""
    intake, ours, theirs = world.intake(), world.source(), world.source("collectors-row")
    inside, others = threading.Event(), []

    def other():
        inside.wait(90)
        others.append(write(world, intake, theirs, offer(external_id="theirs", minor=6000)))

    rival = threading.Thread(target=other)
    rival.start()
    write(world, intake, ours, offer(external_id="ours", minor=4000), meanwhile=lambda: (inside.set(), rival.join(0.3)))
    rival.join(10)

    assert others == [2]
    assert world.valued(intake).valuation == world.prices.valuations.recompute(intake)
    assert world.valued(intake).valuation.centre == 5000


def test_a_valuation_names_the_points_that_it_rests_on(world):
    intake, source = world.intake(), world.source()
    amounts = (4000, 4100, 4200, 4300, 4400, 990_000)
    write(world, intake, source, *(offer(external_id=str(minor), minor=minor) for minor in amounts))

    found = world.valued(intake).valuation

    assert [one.minor for one in found.points] == [4000, 4100, 4200, 4300, 4400]
    assert [one.minor for one in found.outliers] == [990_000]
    keys = {one.dedupe_key for one in world.points(intake)}
    assert {one.dedupe_key for one in (*found.points, *found.outliers)} == keys


def test_a_change_of_the_valuation_is_an_event(world):
    intake, source = world.intake(), world.source()
    write(world, intake, source, offer())

    told = world.app.store.events.latest(name="valuation.changed")

    assert [one.data["centre"] for one in told] == [4200]
