"""The gate before a request: shared by the fleet, under a job's lease inside a job, with a time of its own outside."""

from __future__ import annotations

import asyncio

import pytest

import haulwright
from haulwright.errors import BlockingCall, InvalidValue, Retryable, Throttled
from haulwright.sources.http import Blocked


def test_a_source_works_in_a_notebook_and_its_answers_are_counted(bench, app, shop, outside):
    files = shop(rate="60/min", concurrency=2)
    bench.use(app)

    reply = files.get(f"{outside.url}/files/a?size=1000")

    row = files.row()
    assert (reply.status, len(reply.body)) == (200, 1000)
    assert (row.standing.tickets, row.standing.held, row.last_success_at) == (1, 0, bench.clock.now())
    assert app.store.sources.traffic(5)["files"].received_bytes == 1000


def test_a_closed_gate_says_which_and_for_how_long_and_nothing_is_sent(bench, app, shop, outside):
    files = shop(rate="1/h")
    bench.use(app)
    files.get(f"{outside.url}/files/a?size=10")

    with pytest.raises(Throttled) as closed:
        files.get(f"{outside.url}/files/a?size=10")

    assert (closed.value.after, closed.value.gate) == (3600, "source:files:rate")
    assert outside.books.count(service="files") == 1


def test_a_short_wait_is_slept(bench, app, shop, outside):
    files = shop(rate="50/s", burst=1)
    bench.use(app)

    async def two():
        async with files.http:
            return await asyncio.gather(*(files.aget(f"{outside.url}/files/{name}?size=10") for name in "ab"))

    assert [reply.status for reply in asyncio.run(two())] == [200, 200]
    assert files.row().standing.tickets == 2


def test_a_429_parks_the_source_for_everybody(bench, app, shop, outside):
    files = shop()
    bench.use(app)
    outside.faults.add("rate_limit", retry_after=30)

    assert files.get(f"{outside.url}/files/a").status == 429
    with pytest.raises(Throttled) as closed:
        files.get(f"{outside.url}/files/a")

    assert (closed.value.after, closed.value.gate) == (30, "source:files:parked")
    bench.advance("30 s")
    assert files.get(f"{outside.url}/files/a?size=10").status == 200


def test_a_server_that_fails_is_left_alone_and_one_missing_page_is_not_its_failure(bench, app, shop, outside):
    files = shop(breaker="2 failures / 5 min")
    bench.use(app)
    outside.faults.add("status", code=404, times=3)
    for _ in range(3):
        files.get(f"{outside.url}/files/a?size=10")
    outside.faults.add("status", code=503, times=2)
    for _ in range(2):
        files.get(f"{outside.url}/files/a?size=10")

    with pytest.raises(Throttled, match="breaker"):
        files.get(f"{outside.url}/files/a?size=10")
    assert outside.books.count(service="files") == 5


@pytest.mark.proves("CA-03")
def test_a_kept_answer_passes_no_gate(bench, app, shop, outside):
    files = shop(rate="1/h", cache="1 h")
    bench.use(app)
    address = f"{outside.url}/files/a?size=10"

    assert [files.get(address).cache for _ in range(3)] == ["", "hit", "hit"]
    assert outside.books.count(service="files") == 1


@pytest.mark.proves("CA-04")
def test_the_cache_can_be_switched_off(bench, app, shop, outside, monkeypatch):
    monkeypatch.setenv("CACHE_ENABLED", "false")
    files = shop(cache=True)
    bench.use(app)

    assert [files.get(f"{outside.url}/files/a?size=10").cache for _ in range(2)] == ["", ""]


def test_another_client_passes_the_same_gate(bench, app, shop):
    files = shop(concurrency=1, breaker="1 failure / 5 min")
    bench.use(app)

    with files.enter():
        assert files.row().standing.held == 1
    with pytest.raises(Retryable), files.enter():
        raise Retryable("no answer")

    assert (files.row().standing.held, files.row().failure_streak) == (0, 1)
    with pytest.raises(Throttled), files.enter():
        pass


def test_a_plain_door_is_refused_on_the_event_loop(bench, app, shop):
    files = shop()
    bench.use(app)

    async def wrong():
        files.get("http://127.0.0.1/")

    with pytest.raises(BlockingCall, match="aget"):
        asyncio.run(wrong())


def test_a_request_that_is_cancelled_while_it_waits_gives_its_permit_back(bench, app, shop):
    files = shop(rate="60/min", concurrency=5)
    bench.use(app)
    files.row()

    async def cancelled():
        await files.gate.enter()
        waiting = asyncio.create_task(files.gate.enter())
        while app.store.sources.standing("files").held < 2:  # noqa: ASYNC110 - a row, not an event
            await asyncio.sleep(0.01)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    asyncio.run(cancelled())

    assert files.row().standing.held == 1


def test_what_came_with_a_claim_and_was_not_used_soon_is_asked_for_anew(bench, app, shop, monkeypatch):
    files = shop(concurrency=1)
    bench.use(app)
    monkeypatch.setattr("haulwright.sources.governor.FRESH_SECONDS", -1.0)

    @app.task(source=files)
    def fetch() -> None:
        with files.enter():
            pass

    fetch.enqueue()
    assert bench.drain() == 1

    assert (files.row().standing.tickets, files.row().standing.held) == (2, 0)


def test_a_source_of_your_own_network_is_reached_where_that_is_said(bench, app, outside):
    bench.use(app)
    own = app.source("own", private=True)

    assert own.get(f"{outside.url}/files/a?size=10").status == 200
    own.http.close()


def test_the_hosts_that_a_setting_names_are_reached(bench, app, outside, monkeypatch):
    bench.use(app)
    monkeypatch.setenv("HAULWRIGHT_PRIVATE_HOSTS", "intranet.example, 127.0.0.0/8")
    own = app.source("own")

    assert own.get(f"{outside.url}/files/a?size=10").status == 200
    own.http.close()


def test_a_policy_that_was_given_is_not_widened_by_the_setting(bench, app, outside, monkeypatch):
    bench.use(app)
    monkeypatch.setenv("HAULWRIGHT_PRIVATE_HOSTS", "127.0.0.1")

    with pytest.raises(Blocked):
        app.source("own", policy=haulwright.Policy()).get(f"{outside.url}/files/a?size=10")


def test_a_host_of_the_own_network_is_refused_saying_how_to_allow_it(bench, app, outside):
    bench.use(app)

    with pytest.raises(Blocked) as refused:
        app.source("own").get(f"{outside.url}/files/a?size=10")

    assert "app.source(..., private=True)" in refused.value.hint
    assert "haulwright.Policy(allow=('127.0.0.1',))" in refused.value.hint
    assert "HAULWRIGHT_PRIVATE_HOSTS=127.0.0.1" in refused.value.hint


def test_private_beside_a_policy_is_refused(app):
    with pytest.raises(InvalidValue, match="private"):
        app.source("own", private=True, policy=haulwright.Policy())


@pytest.mark.parametrize("hosts", ["http://a.example", "10.0.0.0/99"])
def test_a_setting_that_names_no_hosts_is_refused_by_its_name(bench, app, monkeypatch, hosts):
    bench.use(app)
    monkeypatch.setenv("HAULWRIGHT_PRIVATE_HOSTS", hosts)

    with pytest.raises(InvalidValue, match="private_hosts"):
        app.source("own").get("https://a.example/")
