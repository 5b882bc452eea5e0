"""Runs that come to the gate of a source at the same moment: asked for by one call, and each with its own answer."""

from __future__ import annotations

import asyncio

import pytest

from haulwright.errors import Throttled
from haulwright.sources.http import Verdict
from haulwright.stores.sources.gate import Gates

ANSWERED = Verdict("ok", status=200)


@pytest.fixture
def asked(monkeypatch):
    """How many asked with each call of the store."""
    sizes: list[int] = []
    ask_together = Gates.ask_together

    def noted(self, key, requesters, **how):
        sizes.append(len(requesters))
        return ask_together(self, key, requesters, **how)

    monkeypatch.setattr(Gates, "ask_together", noted)
    return sizes


def test_requests_that_come_together_ask_together(bench, app, shop, asked):
    files = shop(rate="100/s", burst=100, concurrency=50)
    bench.use(app)
    files.row()

    async def ten():
        grants = await asyncio.gather(*(files.gate.enter() for _ in range(10)))
        held = files.row().standing.held
        await asyncio.gather(*(grant.leave(ANSWERED) for grant in grants))
        return held

    assert asyncio.run(ten()) == 10
    assert set(asked) == {10}
    assert (files.row().standing.held, app.store.sources.traffic(5)["files"].requests) == (0, 10)


def test_of_requests_that_ask_together_each_hears_its_own_answer(bench, app, shop):
    files = shop(rate="1/h", burst=2)
    bench.use(app)
    files.row()

    async def three():
        return await asyncio.gather(*(files.gate.enter() for _ in range(3)), return_exceptions=True)

    *grants, refused = asyncio.run(three())

    assert not any(isinstance(grant, BaseException) for grant in grants)
    assert isinstance(refused, Throttled)


def test_a_request_that_is_cancelled_while_others_ask_with_it_gives_its_permit_back(bench, app, shop):
    files = shop(rate="100/s", burst=10, concurrency=5)
    bench.use(app)
    files.row()

    async def cancelled():
        ended, stays = (asyncio.create_task(files.gate.enter()) for _ in range(2))
        await asyncio.sleep(0)
        ended.cancel()
        return await asyncio.gather(ended, stays, return_exceptions=True)

    ended, stays = asyncio.run(cancelled())

    assert isinstance(ended, asyncio.CancelledError)
    assert not isinstance(stays, BaseException)
    assert (files.row().standing.tickets, files.row().standing.held) == (2, 1)


@pytest.fixture
def free(bench, app, shop, monkeypatch):
    """A source that limits nothing, in an app by the database's own clock."""
    monkeypatch.setattr("haulwright.stores.sources.gate.UNASKED_SECONDS", 60.0)
    files = shop()
    with app.moved_to(bench.database_url):
        files.row()
        yield files


def test_a_source_that_limits_nothing_is_looked_at_now_and_then(free, app, asked):
    async def one_by_one():
        for _ in range(20):
            grant = await free.gate.enter()
            await grant.leave(ANSWERED)

    asyncio.run(one_by_one())

    assert set(asked) == {1}
    assert sum(asked) <= 2  # at once, and on a thread
    assert app.store.sources.traffic(5)["files"].requests == 20


def test_a_source_that_limits_nothing_and_is_paused_here_is_closed_at_once(free):
    async def then_paused():
        await (await free.gate.enter()).leave(ANSWERED)
        await asyncio.to_thread(free.pause, seconds=60)
        await free.gate.enter()

    with pytest.raises(Throttled, match="paused"):
        asyncio.run(then_paused())


def test_a_source_that_limits_nothing_and_is_paused_elsewhere_is_closed_after_a_moment(free, bench, monkeypatch):
    async def paused_elsewhere():
        await (await free.gate.enter()).leave(ANSWERED)
        await asyncio.to_thread(bench.store.sources.pause, "files", actor="ops", reason="enough")
        await (await free.gate.enter()).leave(ANSWERED)
        monkeypatch.setattr("haulwright.stores.sources.gate.UNASKED_SECONDS", 0.0)
        await free.gate.enter()

    with pytest.raises(Throttled, match="paused"):
        asyncio.run(paused_elsewhere())
