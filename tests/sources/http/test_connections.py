"""Connections: kept, checked before they are used again, and never a source of somebody else's answer."""

from __future__ import annotations

import asyncio
import gc
import socket
import threading

import pytest

from haulwright.sources.http import Blocked, Http, Limits, NotSent, OutcomeUnknown, Policy
from tests.runtime.waiting import eventually
from tests.sources.http.servers import respond
from tests.sources.http.test_guard import answering, certificate_for

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def keep_answering(*answers):
    """Answers all requests of a connection in turn, the last again and again; it closes when there is none left."""

    def serve(connection, _request):
        for answer in answers:
            connection.sendall(answer)
            if not connection.recv(65_536):
                return

    return serve


def closing(serve):
    """A server that closes a kept connection when the next request is on its way, and answers on the next one."""

    def answer_once(connection, _request):
        connection.sendall(OK)
        connection.recv(65_536)

    return serve(answer_once, respond(200, b"again"))


@pytest.mark.parametrize("excess", [b"garbage", OK, b"\r\n"])
def test_what_a_server_sends_unasked_is_never_the_next_answer(http, serve, excess):
    server = serve(keep_answering(OK + excess, b"never"))

    assert [http.get(server.url).body for _ in range(2)] == [b"ok", b"ok"]
    assert server.connections == 2


def test_what_comes_later_on_an_idle_connection_closes_it(http, serve, monkeypatch):
    monkeypatch.setattr("haulwright.sources.http.connection_pool.IDLE_SECONDS", 3600)  # it is not its age that ends it
    late, wait = threading.Event(), threading.Event()

    def serve_late(connection, _request):
        connection.sendall(OK)
        late.wait(10)
        connection.sendall(b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
        connection.recv(65_536)  # until the client has closed it
        wait.set()

    server = serve(serve_late, respond(200, b"new"))

    assert http.get(server.url).body == b"ok"
    late.set()
    assert wait.wait(10)
    assert (http.get(server.url).body, server.connections) == (b"new", 2)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_request_that_meets_the_end_of_a_kept_connection_is_not_sent_twice(http, serve, method):
    server = closing(serve)
    http.get(server.url)

    with pytest.raises(OutcomeUnknown, match="may have been processed"):
        http.request(method, server.url)
    assert server.connections == 1


def test_a_new_connection_that_answers_nothing_is_not_tried_again(http, serve):
    server = serve(lambda _connection, _request: None)

    with pytest.raises(OutcomeUnknown, match="ended or garbled"):
        http.get(server.url)
    assert server.connections == 1


def test_a_peer_that_stops_sending_in_the_middle_did_not_answer(http, serve):
    def half(connection, _request):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
        connection.shutdown(socket.SHUT_WR)
        connection.recv(65_536)

    with pytest.raises(OutcomeUnknown, match="in the middle"):
        http.get(serve(half).url)


def test_a_peer_that_stops_sending_after_its_answer_is_not_asked_again(http, serve):
    closed = threading.Event()

    def half(connection, _request):
        connection.sendall(OK)
        connection.shutdown(socket.SHUT_WR)
        connection.recv(65_536)  # until the client has closed it
        closed.set()

    server = serve(half)

    assert http.get(server.url).body == b"ok"
    assert closed.wait(60)
    assert http.get(server.url).body == b"ok"
    assert server.connections == 2


def test_an_answer_that_is_left_unread_takes_its_connection_along(serve):
    server = serve(keep_answering(b"HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\nbegun"), OK)

    async def leave_early():
        async with Http(policy=Policy(private=True)) as http:
            async with http.astream(server.url) as stream:
                assert await anext(stream.pieces) == b"begun"
            return (await http.aget(server.url)).body

    assert asyncio.run(leave_early()) == b"ok"
    assert server.connections == 2


def test_a_head_request_whose_answer_has_a_body_spoils_nothing(http, serve):
    server = serve(keep_answering(OK, b"never"), respond(200, b"page"))

    assert http.request("HEAD", server.url).body == b""
    assert (http.get(server.url).body, server.connections) == (b"page", 2)


def test_a_large_body_is_sent_whole_and_an_answer_before_its_end_is_heard(http, serve):
    server = serve(respond(201))
    large = b"x" * 3_000_000

    assert http.post(server.url, content=large).status == 201
    assert server.requests[0].endswith(large)

    def refuse(connection, _request):
        connection.sendall(respond(413, b"too large"))
        while connection.recv(65_536):
            pass  # with bytes unread its end would be a reset, which takes the answer along

    early = serve()
    early.answers, early._read = [refuse], lambda connection: connection.recv(100)
    assert http.post(early.url, content=large * 5).status == 413


def test_a_body_that_nobody_takes_ends_at_the_write_time_out(client, serve):
    stuck, over = serve(), threading.Event()
    stuck._read = lambda _connection: over.wait(30) and b""

    with pytest.raises(OutcomeUnknown, match="too long to send"):
        client(limits=Limits(write=0.2)).post(stuck.url, content=b"x" * 30_000_000)
    over.set()


def test_who_finds_all_connections_in_use_waits_for_one_and_not_for_ever(serve):
    asked, answer = threading.Event(), threading.Event()

    def hold(connection, _request):
        asked.set()
        answer.wait(30)
        connection.sendall(respond(200, b"ok"))  # and says that it closes: else the next request may meet the end of it

    server = serve(hold, respond(200, b"second"))

    async def crowd():
        async with Http(policy=Policy(private=True), connections=1) as http:
            first = asyncio.create_task(http.aget(server.url))
            await asyncio.to_thread(asked.wait, 10)
            with pytest.raises(NotSent, match="no connection became free"):
                await http.aget(server.url, limits=Limits(pool=0.05))
            second = asyncio.create_task(http.aget(server.url))
            await asyncio.sleep(0)
            answer.set()
            return [(await reply).body for reply in (first, second)]

    assert asyncio.run(crowd()) == [b"ok", b"second"]


def test_a_call_that_is_cancelled_gives_its_connection_back(serve):
    over = threading.Event()
    server = serve(lambda _connection, _request: over.wait(30), OK)

    async def cancel_one():
        async with Http(policy=Policy(private=True), connections=1) as http:
            call = asyncio.create_task(http.aget(server.url))
            await server.arrival()
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            return (await http.aget(server.url)).body

    assert asyncio.run(cancel_one()) == b"ok"
    over.set()


def test_an_address_of_the_sixth_version_and_a_name_in_its_own_script_are_asked_by_their_own_names(client, serve):
    try:
        sixth = serve(host="::1")
    except OSError:
        pytest.skip("this machine has no IPv6")
    assert client().get(f"{sixth.url}/a").ok
    assert sixth.header("host") == f"[::1]:{sixth.port}"

    named = serve()
    client(policy=Policy(private=True, resolver=answering("127.0.0.1"))).get(f"http://straße.example:{named.port}/")
    assert named.header("host") == f"xn--strae-oqa.example:{named.port}"


def test_a_kept_connection_serves_its_own_host_only(client, serve):
    server = serve(keep_answering(OK, OK))
    allowed = client(policy=Policy(allow=("one.test",), resolver=answering("127.0.0.1")))

    assert allowed.get(f"http://one.test:{server.port}/").ok
    with pytest.raises(Blocked):
        allowed.get(f"http://two.test:{server.port}/")


def tunnel_to(server, answer=b"HTTP/1.0 200 Connection established\r\n\r\n"):
    """Answers a CONNECT, and carries what both sides say from then on."""

    def carry(source, sink):
        try:
            while piece := source.recv(65_536):
                sink.sendall(piece)
        except OSError:
            pass

    def serve(connection, _request):
        connection.sendall(answer)
        with socket.create_connection(("127.0.0.1", server.port)) as onward:
            back = threading.Thread(target=carry, args=(onward, connection), daemon=True)
            back.start()
            carry(connection, onward)

    return serve


def test_tls_goes_through_a_proxy_by_a_tunnel_and_is_verified_for_the_server(client, serve, tmp_path):
    context, trust = certificate_for("shop.example", tmp_path)
    server = serve(respond(200, b"secure"))
    server.wrap(context)
    proxy = serve(tunnel_to(server))
    by_proxy = client(policy=Policy(tls=trust, proxy=f"http://bob:hunter22@127.0.0.1:{proxy.port}"))

    assert by_proxy.get("https://shop.example/a").body == b"secure"
    assert proxy.first_lines == ["CONNECT shop.example:443 HTTP/1.1"]
    assert proxy.header("proxy-authorization") == "Basic Ym9iOmh1bnRlcjIy"
    assert server.header("proxy-authorization") is None
    with pytest.raises(NotSent, match="certificate"):
        by_proxy.get("https://other.example/a")


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n", b"",
     b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"],
)  # fmt: skip
def test_a_proxy_that_refuses_or_speaks_for_the_server_is_not_believed(client, serve, answer):
    proxy = serve(answer)

    with pytest.raises(NotSent, match="proxy refused"):
        client(policy=Policy(proxy=proxy.url)).get("https://shop.example/a")


def test_connections_of_a_loop_that_has_ended_are_closed_and_forgotten(client, serve):
    """`asyncio.run` again and again, on a client that lives as long as the program."""
    server = serve(keep_answering(OK))
    http = client()

    async def ask():
        return (await http.aget(server.url)).body

    before = open_sockets()
    assert [asyncio.run(ask()) for _ in range(5)] == [b"ok"] * 5

    eventually(lambda: open_sockets() <= before)
    assert asyncio.run(ask()) == b"ok"
    assert len(http._transports) == 1


def open_sockets():
    return sum(isinstance(one, socket.socket) and one.fileno() >= 0 and one.getsockname()[:1] == ("127.0.0.1",)
               for one in gc.get_objects())  # fmt: skip
