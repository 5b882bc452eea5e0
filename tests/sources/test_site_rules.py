"""A source that obeys robots.txt: asked through its own gate, kept for a day, and its delay taken as an interval."""

from __future__ import annotations

import asyncio

import pytest

from haulwright import Haulwright
from haulwright.clock import CLOCK_VARIABLE, SECOND, TESTING_VARIABLE
from haulwright.engine.transitions import State
from haulwright.errors import Throttled
from haulwright.sources import site_rules
from haulwright.sources.http import Policy, ServerFailed
from haulwright.sources.robots import Disallowed

FILE = "/robots.txt"
PAGES = "/shop/coinhall/coins"
PRIVATE = "/shop/coinhall/private"


@pytest.fixture
def polite(bench, app, shop, monkeypatch):
    """Declares a source that obeys robots.txt, whose cache goes by the clock of the bench."""
    monkeypatch.setenv(CLOCK_VARIABLE, str(bench.clock._path))
    monkeypatch.setenv(TESTING_VARIABLE, "1")

    def declare(**said):
        source = shop(robots=True, **said)
        bench.use(app)
        return source

    return declare


def test_a_page_that_is_not_for_robots_is_refused_with_the_rule_and_not_asked_for(polite, outside):
    source = polite()

    with pytest.raises(Disallowed, match=r"'Disallow: /shop/\*/private'") as refused:
        source.get(outside.url + PRIVATE)

    assert refused.value.rule == "/shop/*/private"
    assert [entry.path for entry in outside.books.requests()] == [FILE]


def test_a_download_is_refused_in_the_same_way(polite, outside):
    source = polite()

    async def download():
        async with source.http, source.astream(outside.url + PRIVATE):
            pass

    with pytest.raises(Disallowed):
        asyncio.run(download())
    assert outside.books.count(path=PRIVATE) == 0


def test_the_rules_are_asked_for_once_and_through_the_gate(polite, outside):
    source = polite()

    statuses = [source.get(outside.url + PAGES, params={"page": page}).status for page in (1, 2)]

    assert statuses == [200, 200]
    assert outside.books.count(path=FILE) == 1
    assert source.row().standing.tickets == 3


def test_the_rules_are_kept_for_all_processes_and_for_a_day(bench, polite, outside, monkeypatch):
    monkeypatch.setattr(site_rules, "REMEMBERED_SECONDS", 0.0)
    source = polite()
    other = bench.use(Haulwright()).source("files", policy=Policy(private=True), robots=True)
    for one in (source, other, source):
        one.get(outside.url + PAGES)
        bench.advance("10 s")
    assert outside.books.count(path=FILE) == 1

    bench.advance("1 day")
    source.get(outside.url + PAGES)
    other.http.close()

    assert outside.books.count(path=FILE) == 2


def test_a_site_without_rules_is_open_and_is_not_asked_for_them_again(polite, outside, monkeypatch):
    monkeypatch.setattr(site_rules, "REMEMBERED_SECONDS", 0.0)
    outside.faults.add("status", path=FILE, code=404, times=None)
    source = polite()

    assert [source.get(outside.url + PRIVATE).status for _ in range(3)] == [200, 200, 200]

    assert outside.books.count(path=FILE) == 1


@pytest.mark.parametrize(
    ("fault", "error"),
    [({"kind": "status", "code": 503}, ServerFailed), ({"kind": "rate_limit", "retry_after": 30}, Throttled)],
    ids=["failing", "busy"],
)
def test_while_the_rules_cannot_be_had_nothing_is_asked_for(bench, polite, outside, fault, error):
    source = polite()
    outside.faults.add(path=FILE, **fault)

    with pytest.raises(error):
        source.get(outside.url + PAGES)
    assert outside.books.count(path=PAGES) == 0

    bench.advance("31 s")
    assert source.get(outside.url + PAGES).status == 200


@pytest.mark.parametrize(
    ("said", "seconds", "by"),
    [
        ({}, 1, "robots.txt"),
        ({"rate": "5/s"}, 1, "robots.txt"),
        ({"rate": "20/min", "burst": 10}, 3, "robots.txt"),
        ({"rate": "20/min"}, 3, None),
        ({"min_interval": "3 s"}, 3, None),
    ],
    ids=["nothing", "faster", "in bursts", "slower", "a longer interval"],
)
def test_the_delay_that_a_site_asks_for_is_the_interval_where_it_is_longer(polite, outside, said, seconds, by):
    source = polite(**said)

    with pytest.raises(Disallowed):
        source.get(outside.url + PRIVATE)

    row = source.row()
    assert (row.figures.interval_us, row.figures.burst) == (seconds * SECOND, 1)
    assert row.overridden_by == by


def test_the_delay_holds_for_everybody_and_outlives_a_restart(bench, polite, outside):
    source = polite(rate="5/s")
    source.get(outside.url + PAGES)

    bench.store.sources.declare("files", source.figures)

    assert bench.store.sources.get("files").figures.interval_us == 1 * SECOND


def test_a_person_has_the_last_word_about_the_interval(polite, bench, outside):
    source = polite()
    source.row()
    bench.store.sources.override("files", {"min_interval_us": 100_000, "burst": 1}, actor="admin:root")

    source.get(outside.url + PAGES)

    assert (source.row().figures.interval_us, source.row().overridden_by) == (100_000, "admin:root")


def test_a_job_for_a_page_that_is_not_for_robots_is_dead_at_once(bench, app, polite, outside):
    source = polite()

    @app.task(source=source)
    def fetch(path: str) -> int:
        return source.get(outside.url + path).status

    handles = [fetch.enqueue(path) for path in (PRIVATE, PAGES)]
    for _ in range(3):
        bench.drain()
        bench.advance("5 s")

    row = handles[0].job()
    assert (row.state, row.reason, row.error_code) == (State.DEAD, "permanent", "disallowed")
    assert "Disallow: /shop/*/private" in row.error_message
    assert handles[1].result(0) == 200


def test_a_source_asks_for_no_rules_unless_it_is_told_to(bench, app, shop, outside):
    source = shop()
    bench.use(app)

    assert source.get(outside.url + PRIVATE).status == 200
    assert outside.books.count(path=FILE) == 0
