from __future__ import annotations

import asyncio
import threading

import pytest

from haulwright.errors import InvalidValue
from haulwright.sources.http import Http, Limits, NotSent, OutcomeUnknown, Policy, TooLarge
from tests.sources.http.servers import respond


@pytest.fixture
def never():
    """Something to hang on until the test is over."""
    event = threading.Event()
    yield lambda _connection, _request: event.wait(90)
    event.set()


def test_an_answer_that_does_not_come_ends_at_the_read_time_out_and_its_outcome_is_unknown(client, serve, never):
    with pytest.raises(OutcomeUnknown, match=r"took too long.*may have been processed"):
        client(limits=Limits(read=0.1)).post(serve(never).url, json={})


def test_a_server_that_trickles_ends_at_the_total_time_out(client, serve):
    stop = threading.Event()

    def trickle(connection, _request):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while not stop.wait(0.02):
            connection.sendall(b".")

    with pytest.raises(OutcomeUnknown, match="total time limit"):
        client(limits=Limits(read=5, total=0.3)).get(serve(trickle).url)
    stop.set()


def test_a_connection_that_does_not_come_about_is_not_sent(client, serve):
    server = serve()
    server.__exit__()

    with pytest.raises(NotSent, match="was not sent"):
        client().post(server.url, json={})


def test_a_gate_that_keeps_a_call_beyond_its_time_means_not_sent(client, gate, serve):
    async def sleep_long():
        await asyncio.sleep(30)

    gate.enter = sleep_long
    server = serve()

    with pytest.raises(NotSent, match="total time limit"):
        client(gate=gate, limits=Limits(total=0.1)).get(server.url)
    assert server.connections == 0


def test_a_body_that_says_it_is_too_large_is_not_read(client, serve):
    server = serve(respond(200, b"", Content_Length="1000000000"))

    with pytest.raises(TooLarge, match="1000000000 bytes"):
        client(limits=Limits(wire_bytes=1000)).get(server.url)


def test_a_body_that_does_not_say_so_is_read_up_to_the_cap(client, serve):
    sent = []

    def endless(connection, _request):
        connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        while True:
            sent.append(connection.send(b"x" * 65_536))

    with pytest.raises(TooLarge, match="more than 200000 bytes"):
        client(limits=Limits(wire_bytes=200_000)).get(serve(endless).url)
    assert sum(sent) < 50_000_000


def test_a_download_has_the_same_cap(client, sandbox):
    async def download():
        async with client(limits=Limits(wire_bytes=100_000)) as http:
            async with http.astream(f"{sandbox.url}/files/data.bin?size=90000") as stream:
                assert sum([len(piece) async for piece in stream]) == 90_000
            async with http.astream(f"{sandbox.url}/files/data.bin?size=100001"):
                pytest.fail("it says itself that it is too large")

    with pytest.raises(TooLarge):
        asyncio.run(download())


def test_a_download_that_breaks_off_is_not_taken_for_a_whole_one(http, sandbox):
    sandbox.faults.add("truncate", after_bytes=5000)

    async def download():
        async with http, http.astream(f"{sandbox.url}/files/data.bin?size=90000") as stream:
            async for _ in stream:
                pass

    with pytest.raises(OutcomeUnknown, match="ended or garbled"):
        asyncio.run(download())


@pytest.mark.parametrize("padding", [70_000, 5_000_000])
def test_headers_have_a_cap(http, serve, padding):
    with pytest.raises((TooLarge, OutcomeUnknown)):
        http.get(serve(respond(200, X_Padding="x" * padding)).url)


@pytest.mark.parametrize(
    "wrong",
    [{"total": "soon"}, {"read": 0}, {"redirects": 50}, {"body_bytes": 0}, {"ratio": 1.5}, {"header_bytes": 10**9}],
)
def test_senseless_limits_are_refused(wrong):
    with pytest.raises(InvalidValue, match="limits"):
        Limits(**wrong)


def test_limits_are_written_in_words():
    assert Limits(total="2 min").total_seconds == 120


def test_what_stands_behind_a_body_has_the_cap_of_the_headers(serve):
    begun = threading.Event()

    def endless(connection, _request):
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n")
        begun.wait(10)
        while True:
            connection.sendall(b"X-Padding: xxxxxxxxxxxxxxxxxxxxxxxx\r\n" * 1_000)

    async def download():
        async with Http(policy=Policy(private=True)) as http, http.astream(serve(endless).url) as stream:
            assert await anext(stream.pieces) == b"hello"
            begun.set()
            await anext(stream.pieces)

    with pytest.raises(TooLarge, match="headers have more than"):
        asyncio.run(download())
