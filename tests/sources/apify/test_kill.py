"""The proof of paid runs at small size: real workers, killed with -9 where it costs most."""

from __future__ import annotations

from contextlib import closing

import pytest

from proof.support.orders import apify
from proof.support.site import Site

pytestmark = pytest.mark.crash


@pytest.fixture
def market(database_url, tmp_path):
    with closing(Site.prepare(database_url, tmp_path)) as site, apify(site) as market:
        yield market


def test_a_worker_that_is_killed_while_its_request_is_under_way_pays_once(market):
    handle = market.order("scrape", "acme")
    market.kill_at("during the request, before it is carried out")

    market.finish()

    (paid,) = market.begun()
    assert handle.result(0) == f"{paid.run} SUCCEEDED"
