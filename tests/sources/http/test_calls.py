from __future__ import annotations

import asyncio
import contextvars
import json
import threading

import pytest

from haulwright.client.arguments import Values
from haulwright.errors import BlockingCall, InvalidValue
from haulwright.sources.http import Http, Policy, Reply
from tests.sources.http.governors import Gate
from tests.sources.http.servers import respond


def test_a_plain_function_gets_a_page(http, sandbox):
    reply = http.get(f"{sandbox.url}/feeds/harbour-times.xml")

    assert (reply.status, reply.ok, reply.cache) == (200, True, "")
    assert reply.body.startswith(b"<?xml")
    assert reply.header("Content-Type") == reply.headers["content-type"]


def test_an_async_function_gets_a_page_on_its_own_loop(sandbox):
    async def fetch() -> Reply:
        async with Http(policy=Policy(private=True)) as http:
            return await http.aget(f"{sandbox.url}/feeds/harbour-times.json")

    assert asyncio.run(fetch()).json()["version"].startswith("https://jsonfeed.org")


def test_one_client_serves_many_loops_and_threads_at_once(http, sandbox):
    statuses: list[int] = []

    async def fetch() -> None:
        statuses.append((await http.aget(f"{sandbox.url}/feeds/harbour-times.xml")).status)
        await http.aclose()

    threads = [threading.Thread(target=lambda: asyncio.run(fetch())) for _ in range(4)]
    for thread in threads:
        thread.start()
    statuses.append(http.get(f"{sandbox.url}/feeds/harbour-times.xml").status)
    for thread in threads:
        thread.join(10)

    assert statuses == [200] * 5


def test_a_plain_door_on_the_event_loop_is_refused_with_the_right_one(http):
    async def mistaken() -> None:
        http.get("http://shop.example/")

    with pytest.raises(BlockingCall, match=r"await http\.aget"):
        asyncio.run(mistaken())


def test_context_variables_of_the_caller_reach_the_gate(client, serve):
    lease = contextvars.ContextVar("lease", default="none")
    seen: list[str] = []

    class Watching(Gate):
        async def enter(self):
            seen.append(lease.get())
            return await super().enter()

    lease.set("job 7")
    client(gate=Watching()).get(serve().url)

    assert seen == ["job 7"]


def test_json_is_posted_once_with_its_kind_and_length(http, serve):
    server = serve(respond(201, b'{"id":1}'))

    reply = http.post(
        f"{server.url}/runs", json={"name": "Zoë"}, params={"limit": 3, "memory": None, "tag": ["a", "b"]}
    )

    assert reply.json() == {"id": 1}
    assert server.first_lines == ["POST /runs?limit=3&tag=a&tag=b HTTP/1.1"]
    assert server.header("content-type") == "application/json"
    assert json.loads(server.requests[0].partition(b"\r\n\r\n")[2]) == {"name": "Zoë"}


def test_a_connection_is_kept_and_used_again(http, serve):
    def keep_answering(connection, _request):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        while connection.recv(65_536):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    server = serve(keep_answering)

    assert [http.get(server.url).body for _ in range(3)] == [b"ok"] * 3
    assert server.connections == 1


def test_a_connection_that_the_server_closed_is_not_used_again(http, serve):
    server = serve(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")  # no "close", and closed all the same

    for _ in range(3):
        assert http.get(server.url).body == b"ok"
        assert server.closed.acquire(timeout=90)  # a request that meets the closing is another matter

    assert server.connections == 3


def test_a_head_request_has_no_body(http, sandbox):
    reply = http.request("HEAD", f"{sandbox.url}/files/data.bin?size=1000")

    assert (reply.status, reply.body, reply.header("content-length")) == (200, b"", "1000")


def test_a_download_arrives_in_pieces_as_it_travels(http, sandbox):
    async def download() -> tuple[int, int, str]:
        async with http, http.astream(f"{sandbox.url}/files/data.bin?size=300000") as stream:
            received = sum([len(piece) async for piece in stream.raise_for_status()])
            return stream.status, received, stream.header("Content-Length")

    assert asyncio.run(download()) == (200, 300_000, "300000")
    [entry] = sandbox.books.requests(service="files")
    assert ("accept-encoding", "identity") in {(name.lower(), value) for name, value in dict(entry.headers).items()}


def test_a_download_may_be_left_in_the_middle(client, gate, sandbox):
    async def download() -> bytes:
        async with client(gate=gate) as http, http.astream(f"{sandbox.url}/files/data.bin?size=5000000") as stream:
            async for piece in stream:
                return piece
        return b""

    assert asyncio.run(download())
    assert gate.verdict.outcome == "ok"


def test_a_reply_can_be_recorded_and_read_back(http, serve):
    reply = http.get(serve(respond(200, b"\x00\xff binary", ETag='"7"')).url)

    values = Values(Reply, what="result")

    assert values.load(values.dump(reply, 1_000_000)) == reply


@pytest.mark.parametrize(
    "options",
    [
        {"headers": {"X-Split": "a\r\nX-Evil: b"}},
        {"headers": {"Bad Name": "a"}},
        {"headers": {"Host": "other.example"}},
        {"headers": {"Content-Length": "7"}},
        {"json": {1, 2}},
        {"json": {}, "content": b""},
    ],
)
def test_a_request_that_cannot_be_right_is_refused_before_it_leaves(http, serve, options):
    server = serve()

    with pytest.raises(InvalidValue):
        http.post(server.url, **options)
    assert server.connections == 0
