"""Rights that are used late: not once the source was closed, and for as long as nobody else has their place."""

from __future__ import annotations

import asyncio
import time

import pytest

from haulwright.engine.ids import new_id
from haulwright.engine.job import LeaseKey
from haulwright.engine.source import source_limits
from haulwright.errors import Throttled
from haulwright.stores.sources.admission import Admission, Release


def test_a_right_that_still_waits_is_void_once_the_source_is_closed(bench, app, shop):
    files = shop(rate="5/s", burst=1, concurrency=5)
    bench.use(app)
    files.row()

    async def closed_meanwhile():
        await files.gate.enter()
        waiting = asyncio.create_task(files.gate.enter())
        while app.store.sources.standing("files").tickets < 2:  # noqa: ASYNC110 - a row, not an event
            await asyncio.sleep(0.01)
        app.store.sources.pause("files", actor="ops", reason="enough")
        await waiting

    with pytest.raises(Throttled, match="paused"):
        asyncio.run(closed_meanwhile())
    assert files.row().standing.held == 1


def test_a_job_that_meets_a_gate_which_closed_after_its_claim_waits_and_burns_no_attempt(
    bench, app, shop, outside, monkeypatch
):
    monkeypatch.setattr("haulwright.sources.governor.YOUNG_SECONDS", 0.0)
    files = shop()

    @app.task(source=files)
    def fetch(name: str) -> int:
        files.pause(seconds=60)
        return files.get(f"{outside.url}/files/{name}?size=10").status

    bench.use(app)
    handle = fetch.enqueue("a")
    bench.drain()

    row = bench.store.listing.get(handle.id, None)
    assert (row.waiting_on, row.attempts, row.deferrals) == ("source:files:paused", 0, 1)
    assert outside.books.count(service="files") == 0


def test_runs_that_come_together_look_once_whether_the_source_was_closed(bench, app, shop, monkeypatch):
    monkeypatch.setattr("haulwright.sources.governor.YOUNG_SECONDS", 60.0)
    files = shop()
    bench.use(app)
    files.row()
    gates, right = (
        app.store.gates,
        Admission("files", 1, LeaseKey(new_id(), 1, new_id()), heard=time.monotonic() - 3600),
    )
    looks = []
    monkeypatch.setattr(type(app.store.sources), "standing", noting(type(app.store.sources).standing, looks))

    async def begin_all():
        one_by_one = [await files.gate._has_begun(gates, right) for _ in range(2)]
        return [*one_by_one, *await asyncio.gather(*(files.gate._has_begun(gates, right) for _ in range(3)))]

    assert asyncio.run(begin_all()) == [True] * 5
    assert len(looks) == 1


def test_runs_that_are_about_to_look_at_the_same_moment_look_once(bench, app, shop, monkeypatch):
    monkeypatch.setattr("haulwright.sources.governor.YOUNG_SECONDS", 60.0)
    files = shop()
    bench.use(app)
    files.row()
    rights = [
        Admission("files", ticket, LeaseKey(new_id(), 1, new_id()), heard=time.monotonic() - 3600)
        for ticket in (1, 2, 3)
    ]
    looks = []
    monkeypatch.setattr(type(app.store.sources), "standing", noting(type(app.store.sources).standing, looks))

    async def begin_all():
        return await asyncio.gather(*(files.gate._has_begun(app.store.gates, right) for right in rights))

    assert asyncio.run(begin_all()) == [True] * 3
    assert len(looks) == 1


def test_a_run_looks_again_at_a_source_that_another_run_found_failing(bench, app, shop):
    files = shop(breaker="1 failure / 5 min")
    bench.use(app)
    files.row()
    gates, holder = app.store.gates, LeaseKey(new_id(), 1, new_id())
    assert not gates.is_shut_to(Admission("files", 1, holder))
    assert gates.was_open("files", 60.0)

    gates.leave(Admission("files", 1, holder), Release("failed"))

    assert not gates.was_open("files", 60.0)
    assert gates.is_shut_to(Admission("files", 1, holder))
    assert not gates.was_open("files", 60.0)


def test_of_many_sources_a_process_remembers_those_that_it_looked_at_last(bench, app, monkeypatch):
    monkeypatch.setattr("haulwright.stores.sources.open_sources.MOST_SEEN", 3)
    names = [f"shop-{number}.example" for number in range(10)]
    bench.use(app)
    gates, holder = app.store.gates, LeaseKey(new_id(), 1, new_id())
    for name in names:
        app.store.sources.declare(name, source_limits(rate="10/s"))
        assert not gates.is_shut_to(Admission(name, 1, holder))
        assert gates.was_open(name, 60.0)

    assert sum(gates.was_open(name, 60.0) for name in names) <= 3


def noting(method, calls):
    """The same method, which writes down that it was called."""

    def noted(*words):
        calls.append(words)
        return method(*words)

    return noted


def test_a_probe_is_not_shut_out_by_its_own_breaker(bench, app, shop, outside, monkeypatch):
    monkeypatch.setattr("haulwright.sources.governor.YOUNG_SECONDS", 0.0)
    files = shop(breaker="1 failure / 5 min")
    bench.use(app)
    outside.faults.add("status", code=500)
    files.get(f"{outside.url}/files/a?size=10")
    bench.advance("5 min")

    assert files.get(f"{outside.url}/files/a?size=10").status == 200
    assert files.row().standing.breaker == "closed"


def test_what_a_claim_got_from_a_slow_rate_holds_until_the_next_place(bench, app, shop, monkeypatch):
    """A task may work for long before its first request: to ask anew would need a place that nobody has for an hour."""
    monkeypatch.setattr("haulwright.sources.governor.FRESH_SECONDS", -1.0)
    files = shop(rate="1/h")

    @app.task(source=files)
    def fetch() -> str:
        with files.enter():
            return "through"

    bench.use(app)
    handle = fetch.enqueue()
    bench.drain()

    assert handle.result(0) == "through"
    assert files.row().standing.tickets == 1


def test_a_run_that_found_no_permit_looks_again_soon(bench, app, shop, monkeypatch):
    """A permit may be freed while the job is on its way back to the queue: then nobody wakes it."""
    monkeypatch.setattr("haulwright.sources.governor.PATIENCE_SECONDS", 0.0)
    files = shop(concurrency=1)

    @app.task()
    def fetch() -> None:
        with files.enter():
            pass

    bench.use(app)
    handle = fetch.enqueue()
    with files.enter():
        bench.drain()
        row = bench.store.listing.get(handle.id, None)

    assert row.waiting_on == "source:files:permits"
    assert row.run_at - bench.clock.now() == 500_000
