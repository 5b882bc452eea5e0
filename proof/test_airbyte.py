"""Airbyte: one sync for each order, whatever dies or gets lost while it is started."""

from __future__ import annotations

import pytest

from proof.support.orders import FAULTS, MOMENTS, POINTS, airbyte
from proof.support.site import Site

pytestmark = pytest.mark.crash
SECOND_EFFECT = 2
"""The first is a look at what there is already."""


@pytest.fixture
def market(site: Site):
    with airbyte(site) as market:
        yield market


@pytest.fixture
def connection(market):
    return next(one.id for one in market.sandbox.airbyte.connections.values() if one.status == "active")


@pytest.mark.parametrize("point", POINTS)
def test_a_worker_that_dies_at_any_point_of_a_start_has_one_sync(market, connection, point, report: list[str]):
    handle = market.order("sync", connection)
    market.die_at(point, SECOND_EFFECT)
    before = len(market.begun())

    market.finish()

    report.append(f"{market.site.database:10}  {point:46}  {before} begun before, {len(market.begun())} in all")
    (begun,) = market.begun()
    assert handle.result(0) == f"{begun.id} succeeded"


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_worker_that_is_killed_while_its_request_is_under_way_has_one_sync(
    market, connection, moment, report: list[str]
):
    handle = market.order("sync", connection)
    market.kill_at(moment)

    market.finish()

    report.append(f"{market.site.database:10}  {moment:46}  {len(market.begun())} begun in all")
    (begun,) = market.begun()
    assert handle.result(0) == f"{begun.id} succeeded"


@pytest.mark.parametrize("fault", FAULTS)
def test_whatever_becomes_of_the_request_there_is_one_sync(market, connection, fault, report: list[str]):
    handle = market.order("sync", connection)
    market.fail(**FAULTS[fault])

    market.finish()

    report.append(f"{market.site.database:10}  {fault:46}  {len(market.begun())} begun in all")
    (begun,) = market.begun()
    assert handle.result(0) == f"{begun.id} succeeded"
