"""Apify: one paid run for each order, whatever dies or gets lost while it is started."""

from __future__ import annotations

import pytest

from proof.support.orders import FAULTS, MOMENTS, POINTS, apify
from proof.support.site import Site

pytestmark = pytest.mark.crash


@pytest.fixture
def market(site: Site):
    with apify(site) as market:
        yield market


@pytest.mark.proves("GU-02")
@pytest.mark.parametrize("point", [*POINTS, "before jobs.settle"])
def test_a_worker_that_dies_at_any_point_of_a_start_pays_once(market, point, report: list[str]):
    handle = market.order("scrape", "acme")
    market.die_at(point)
    before = len(market.begun())

    market.finish()

    report.append(f"{market.site.database:10}  {point:46}  {before} paid before, {len(market.begun())} in all")
    (paid,) = market.begun()
    assert handle.result(0) == f"{paid.run} SUCCEEDED"


@pytest.mark.proves("GU-02")
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_worker_that_is_killed_while_its_request_is_under_way_pays_once(market, moment, report: list[str]):
    handle = market.order("scrape", "acme")
    market.kill_at(moment)

    market.finish()

    report.append(f"{market.site.database:10}  {moment:46}  {len(market.begun())} paid in all")
    (paid,) = market.begun()
    assert handle.result(0) == f"{paid.run} SUCCEEDED"


@pytest.mark.parametrize("fault", FAULTS)
def test_whatever_becomes_of_the_request_it_is_paid_for_once(market, fault, report: list[str]):
    handle = market.order("scrape", "acme")
    market.fail(**FAULTS[fault])

    market.finish()

    report.append(f"{market.site.database:10}  {fault:46}  {len(market.begun())} paid in all")
    (paid,) = market.begun()
    assert handle.result(0) == f"{paid.run} SUCCEEDED"


@pytest.mark.parametrize("dies", [False, True], ids=["its worker lives", "its worker dies after the start"])
def test_a_run_that_takes_too_long_is_aborted_and_costs_no_more(market, dies):
    market.sandbox.apify.script(ending="NEVER")
    handle = market.order("hurry", "acme")
    if dies:
        market.die_at("after the commit of effects.settle")

    market.finish()

    (paid,) = market.begun()
    assert handle.result(0) == f"{paid.run} ABORTED"
