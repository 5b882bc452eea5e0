"""What a run is served stale is renewed by a call that outlives the run, and holds a right of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from email.utils import formatdate

import pytest

from haulwright.engine.transitions import State
from tests.sources.http.servers import Server, respond

WAIT_SECONDS = 30


@pytest.fixture
def released():
    event = threading.Event()
    yield event
    event.set()


def until(condition: Callable[[], bool]) -> bool:
    """Wait for what another thread writes down."""
    end = time.monotonic() + WAIT_SECONDS
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return condition()


def test_a_renewal_is_no_part_of_the_run_that_was_served(bench, app, shop, released):
    def answer(body, age):
        date = formatdate(usegmt=True)  # what a source keeps goes by the time of day
        return respond(200, body, Date=date, Age=str(age), Cache_Control="max-age=3600, stale-while-revalidate=86400")

    def late(connection, _request):
        assert released.wait(WAIT_SECONDS)
        connection.sendall(answer(b"two", 0))

    files = shop(concurrency=1)

    @app.task()
    def read(url: str) -> str:
        reply = files.get(url)
        return f"{reply.cache} {reply.text}"

    bench.use(app)
    with Server(answer(b"one", 4000), late) as server:
        read.enqueue(server.url)
        bench.drain()
        served = read.enqueue(server.url)
        bench.drain()

        assert (served.state(), served.result(0)) == (State.SUCCEEDED, "stale one")
        assert until(lambda: len(server.requests) == 2)
        ((holder, expires_at),) = bench.store.database.read(
            lambda connection: connection.execute("select holder, expires_at from haulwright_source_permits")
        )
        assert str(holder) != served.id
        assert expires_at is not None
        released.set()
        assert until(lambda: files.row().standing.held == 0)
        after = read.enqueue(server.url)
        bench.drain()

    assert after.result(0) == "hit two"
    assert app.store.sources.traffic(5)["files"].requests == 2
