"""The document's own tests, with real processes: two workers and twenty jobs, and a worker that dies."""

from __future__ import annotations

from contextlib import closing

import pytest

from proof.prices.market import Market
from proof.prices.verdict import judge
from proof.support.site import Site


@pytest.fixture
def market(database_url, tmp_path):
    with closing(Site.prepare(database_url, tmp_path, clock=False)) as site, Market.open(site) as market:
        yield market


@pytest.mark.crash
@pytest.mark.line("104-110", "two workers that run at once process twenty jobs, each once")
@pytest.mark.proves("TS-04", "GU-03", "NM-11", "NM-13")
def test_twenty_jobs_and_two_workers_process_each_once_and_store_no_duplicate(market):
    assert market.prepare(intakes=10, sources=2) == 20

    market.work(workers=2)

    verdict = judge(market)
    assert (verdict.wrong, verdict.jobs, verdict.losses) == ([], 20, 0)
    assert market.rows("select sum(attempts), sum(fence) from haulwright_history") == [(20, 20)]


@pytest.mark.crash
@pytest.mark.line("158-166", "a worker is killed with its job, and another one finishes it")
@pytest.mark.proves("TS-05", "HB-13")
def test_what_a_killed_worker_held_is_finished_by_another_and_nothing_is_there_twice(market):
    market.prepare(intakes=1, sources=1)
    market.sandbox.faults.add("hang", path="/shop/*", seconds=600)
    first = market.hire()
    market.sandbox.books.wait_for(lambda books: books.count(path="/shop/*"), timeout=60)
    first.kill()
    first.wait()

    market.work(workers=1)

    verdict = judge(market)
    assert (verdict.wrong, verdict.jobs, verdict.losses) == ([], 1, 1)
    assert market.rows("select status, locked_by, attempts from scrape_jobs") == [("succeeded", "worker-2", 2)]
