from __future__ import annotations

import asyncio
import gzip
import threading

import pytest

from haulwright.errors import HaulwrightError, Throttled
from haulwright.sources.http import Blocked, Limits, Policy
from tests.sources.http.servers import respond


@pytest.fixture
def gated(client, gate):
    return client(gate=gate)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [(200, "ok"), (204, "ok"), (301, "ok"), (400, "ignored"), (401, "auth"), (403, "auth"), (404, "ignored"), (408,
    "ignored"),
     (410, "ignored"), (429, "ignored"), (500, "failed"), (502, "failed"), (503, "failed"), (504, "failed")],
)  # fmt: skip
def test_a_status_says_something_about_the_server_or_nothing(gated, gate, serve, status, outcome):
    gated.get(serve(respond(status)).url)

    assert (gate.verdict.outcome, gate.verdict.status) == (outcome, status)


def test_the_verdict_tells_how_long_to_stay_away(gated, gate, serve):
    gated.get(serve(respond(429, Retry_After="30")).url)

    assert gate.verdict.park_seconds == 30


def test_the_verdict_tells_the_traffic(gated, gate, serve):
    packed = gzip.compress(b"page " * 1000)

    gated.post(serve(respond(200, packed, Content_Encoding="gzip")).url, content=b"question")

    assert (gate.verdict.sent_bytes, gate.verdict.received_bytes) == (8, len(packed))
    assert 0 < gate.verdict.seconds < 10


def test_a_closed_gate_lets_nothing_through(gated, gate, serve):
    gate.closed = Throttled("over its rate", after=12, gate="rate of shop.example")
    server = serve()

    with pytest.raises(Throttled) as caught:
        gated.get(server.url)

    assert (caught.value.after, caught.value.gate) == (12, "rate of shop.example")
    assert (server.connections, gate.verdicts) == (0, [])


def test_a_call_passes_once_however_often_it_is_redirected(gated, gate, sandbox):
    gated.get(f"{sandbox.url}/feeds/odd/moved.xml")

    assert gate.verdict.status == 200


def hang_up(connection, _request):
    connection.close()


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (hang_up, "failed"),
        (b"garbage\r\n\r\n", "failed"),
        (respond(200, b"", Content_Length="500"), "failed"),
        (respond(200, b"not packed", Content_Encoding="gzip"), "ignored"),
        (respond(200, b"x" * 5000), "ignored"),
        (respond(302, Location="ftp://shop.example/"), "ignored"),
        (respond(302, Location="/round"), "ignored"),
    ],
    ids=["hung up", "garbage", "cut short", "undecodable", "too large", "blocked redirect", "circle"],
)
def test_the_gate_is_left_exactly_once_however_a_call_ends(client, gate, serve, answer, outcome):
    http = client(gate=gate, limits=Limits(total=5, body_bytes=1000))

    with pytest.raises(HaulwrightError):
        http.get(serve(answer).url)

    assert gate.verdict.outcome == outcome


def test_a_server_that_is_not_there_has_failed(gated, gate, serve):
    server = serve()
    server.__exit__()

    with pytest.raises(HaulwrightError):
        gated.get(server.url)

    assert (gate.verdict.outcome, gate.verdict.status) == ("failed", None)


def test_a_forbidden_literal_costs_no_turn(client, gate):
    with pytest.raises(Blocked):
        client(gate=gate, policy=Policy()).get("http://10.0.0.1/")

    assert gate.entered == 0


def test_the_gate_is_left_when_the_caller_is_cancelled(gated, gate, serve):
    release = threading.Event()
    server = serve(lambda _connection, _request: release.wait(90))

    async def cancelled():
        call = asyncio.ensure_future(gated.aget(server.url))
        await server.arrival()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await gated.aclose()

    asyncio.run(cancelled())
    release.set()

    assert gate.verdict.outcome == "ignored"


def test_a_download_leaves_when_it_is_closed_and_its_readers_own_error_says_nothing(gated, gate, sandbox):
    async def download():
        async with gated, gated.astream(f"{sandbox.url}/files/data.bin?size=1000") as stream:
            assert gate.verdicts == []
            async for _ in stream:
                raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(download())
    assert gate.verdict.outcome == "ignored"


@pytest.mark.parametrize(("status", "outcome"), [(401, "ignored"), (403, "auth")])
def test_a_401_that_its_caller_sees_to_is_no_news_for_the_gate(gated, gate, serve, status, outcome):
    reply = gated.get(serve(respond(status)).url, own_auth=True)

    assert (reply.status, gate.verdict.outcome) == (status, outcome)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry_After": "30"}, 30),
        ({"X_RateLimit_Remaining": "0", "X_RateLimit_Reset": "45"}, 45),
        ({"X_RateLimit_Remaining": "0"}, 60),
    ],
    ids=["retry after", "spent until", "spent"],
)
def test_a_403_of_a_spent_limit_parks_the_server_and_blames_no_credential(gated, gate, serve, headers, wait):
    with pytest.raises(Throttled) as spent:
        gated.get(serve(respond(403, **headers)).url).raise_for_status()

    assert spent.value.after == wait
    assert (gate.verdict.outcome, gate.verdict.park_seconds) == ("ignored", wait)
