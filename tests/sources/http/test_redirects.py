from __future__ import annotations

import asyncio

import pytest

from haulwright.sources.http import Blocked, Credential, Limits, Policy, Rejected, Secret
from haulwright.sources.http.request import build_request
from tests.sources.http.servers import respond

REDIRECTS = (301, 302, 303, 307, 308)


def asked(method="GET", url="https://shop.example/a", **options):
    return build_request(method, url, defaults={}, credential=None, **options)


def test_a_redirect_is_followed_and_the_reply_says_where_it_came_from(http, sandbox):
    reply = http.get(f"{sandbox.url}/feeds/odd/moved.xml")

    assert reply.ok
    assert reply.url != f"{sandbox.url}/feeds/odd/moved.xml"
    assert reply.redirects == (f"{sandbox.url}/feeds/odd/moved.xml",)


def test_a_circle_ends_after_five_redirects(http, sandbox):
    with pytest.raises(Rejected, match="more than 5 redirects"):
        http.get(f"{sandbox.url}/feeds/odd/loop.xml")

    assert sandbox.books.count(service="feeds") == 6


def test_no_redirect_is_followed_where_none_is_allowed(client, sandbox):
    with pytest.raises(Rejected):
        client(limits=Limits(redirects=0)).get(f"{sandbox.url}/feeds/odd/moved.xml")


@pytest.mark.parametrize("status", REDIRECTS)
def test_credentials_stay_behind_when_the_origin_changes(client, serve, status):
    there = serve()
    here = serve(respond(status, Location=f"{there.url}/elsewhere"))
    http = client(auth=Secret("token-of-here"), headers={"X-Api-Key": "key-of-here", "Accept-Language": "de"})

    http.get(here.url, headers={"Cookie": "session=mine", "X-Other": "mine too"})

    assert here.header("authorization") == "Bearer token-of-here"
    assert [there.header(name) for name in ("authorization", "x-api-key", "cookie", "x-other")] == [None] * 4
    assert there.header("accept-language") == "de"


def test_a_key_in_the_query_stays_behind_too(client, serve):
    there = serve()
    here = serve(respond(302, Location=f"{there.url}/elsewhere"))

    client(auth=Credential.in_query("apikey", Secret("key-of-here"))).get(here.url)

    assert here.first_lines == ["GET /?apikey=key-of-here HTTP/1.1"]
    assert there.first_lines == ["GET /elsewhere HTTP/1.1"]


def test_credentials_are_kept_within_the_origin(client, serve):
    server = serve(respond(302, Location="/next"), respond(200))

    client(auth=Secret("token-of-here")).get(server.url)

    assert server.header("authorization") == "Bearer token-of-here"


@pytest.mark.parametrize("status", REDIRECTS)
def test_a_post_is_never_sent_to_another_origin(http, serve, status):
    there = serve()
    here = serve(respond(status, Location=f"{there.url}/run"))

    reply = http.post(f"{here.url}/run", json={"pay": 1})

    assert len(here.requests) == 1
    assert all(line.startswith("GET") for line in there.first_lines)
    assert reply.status == (200 if status == 303 else status)


@pytest.mark.parametrize(("status", "lines"), [(301, 1), (302, 1), (307, 2), (308, 2)])
def test_a_post_is_sent_again_only_by_307_and_308_within_the_origin(http, serve, status, lines):
    server = serve(respond(status, Location="/again"), respond(200))

    http.post(server.url, content="body")

    assert [line.split()[0] for line in server.first_lines] == ["POST"] * lines
    assert server.requests[-1].endswith(b"body")


def test_a_post_that_is_told_to_look_elsewhere_becomes_a_get_without_a_body(http, serve):
    server = serve(respond(303, Location="/result"), respond(200))

    http.post(server.url, json={"pay": 1})

    assert server.first_lines[1] == "GET /result HTTP/1.1"
    assert server.header("content-type") is None
    assert server.requests[1].endswith(b"\r\n\r\n")


def test_a_redirect_from_https_to_http_is_refused():
    with pytest.raises(Blocked, match="from https to http"):
        asked().redirected(302, "http://shop.example/a")


@pytest.mark.parametrize("location", ["file:///etc/passwd", "gopher://127.0.0.1/", "ftp://shop.example/", "data:,x"])
def test_a_redirect_to_another_scheme_is_refused(http, serve, location):
    with pytest.raises(Blocked):
        http.get(serve(respond(302, Location=location)).url)


@pytest.mark.parametrize("location", ["http://h.example:99999/", "http://\\evil/", "http://" + "x" * 9000])
def test_a_redirect_to_nonsense_is_the_servers_fault(http, serve, location):
    with pytest.raises(Rejected, match="leads to what"):
        http.get(serve(respond(302, Location=location)).url)


def test_each_hop_is_checked_like_the_first(client, serve):
    canary = serve()
    here = serve(respond(302, Location=f"http://127.0.0.1:{canary.port}/"))
    allowed_here = Policy(allow=("here.test",), resolver=loopback)

    with pytest.raises(Blocked, match="loopback"):
        client(policy=allowed_here).get(f"http://here.test:{here.port}/")

    assert (here.connections, canary.connections) == (1, 0)


def test_a_download_follows_redirects_in_the_same_way(client, serve):
    canary = serve()
    here = serve(respond(302, Location=f"http://127.0.0.1:{canary.port}/"))

    async def download():
        http = client(policy=Policy(allow=("here.test",), resolver=loopback))
        async with http, http.astream(f"http://here.test:{here.port}/"):
            pytest.fail("it leads to an address that is not allowed")

    with pytest.raises(Blocked, match="loopback"):
        asyncio.run(download())
    assert canary.connections == 0


def test_userinfo_in_a_location_is_not_sent(http, serve):
    there = serve()
    here = serve(respond(302, Location=f"http://eve:forged@127.0.0.1:{there.port}/"))

    http.get(here.url)

    assert there.header("authorization") is None


async def loopback(_host, _port):
    return ["127.0.0.1"]


@pytest.mark.parametrize(
    ("location", "target"),
    [("/caf\u00c3\u00a9?q=\u00c3\u00bc", "/caf%C3%A9?q=%C3%BC"), ("/caf\u00e9", "/caf%E9"), ("/a%20b", "/a%20b")],
)
def test_a_location_is_followed_by_the_bytes_that_the_server_wrote(http, serve, location, target):
    server = serve(respond(302, Location=location), respond(200))

    assert http.get(server.url).status == 200
    assert server.first_lines[1] == f"GET {target} HTTP/1.1"
