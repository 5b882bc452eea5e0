from __future__ import annotations

import asyncio
import threading
from email.utils import formatdate

import pytest

from haulwright.errors import InvalidValue
from haulwright.sources.http import Limits, NotSent, OutcomeUnknown, Secret, ServerFailed
from tests.sources.http.servers import respond

NOON = 1_790_856_000


def page(body=b"one", status=200, **headers):
    return respond(status, body, Date=formatdate(NOON, usegmt=True), **headers)


@pytest.fixture
def cached(client, clock, memory, gate):
    return client(store=memory, clock=clock, gate=gate)


def test_a_fresh_answer_is_served_without_asking_or_passing_the_gate(cached, serve, gate, clock):
    server = serve(page(cache_control="max-age=60"))
    cached.get(server.url)
    clock.advance(59)

    reply = cached.get(server.url)

    assert (reply.body, reply.cache, reply.received_bytes) == (b"one", "hit", 0)
    assert (len(server.requests), gate.entered) == (1, 1)


@pytest.mark.parametrize("ttl", [None, 600])
def test_a_kept_answer_says_how_old_it_is(cached, serve, clock, ttl):
    server = serve(page(cache_control="max-age=600", age="100"))
    options = {} if ttl is None else {"ttl": ttl}
    fresh = cached.get(server.url, **options)
    clock.advance(59)

    assert fresh.headers["age"] == "100"
    assert cached.get(server.url, **options).headers["age"] == "159"


def test_what_is_between_us_and_a_proxy_is_not_kept(cached, serve):
    headers = {"proxy_connection": "close", "proxy_authentication_info": "x", "proxy_authorization": "y"}
    server = serve(page(cache_control="max-age=60", **headers))
    cached.get(server.url)

    assert not {name for name in cached.get(server.url).headers if name.startswith("proxy-")}


def test_a_stale_answer_is_asked_about_and_a_304_renews_it(cached, serve, clock):
    server = serve(
        page(cache_control="max-age=60", etag='"v1"', last_modified="Thu, 01 Oct 2026 10:00:00 GMT"), page(b"", 304)
    )
    cached.get(server.url)
    clock.advance(61)

    reply = cached.get(server.url)

    assert (reply.status, reply.body, reply.cache) == (200, b"one", "revalidated")
    assert server.header("if-none-match") == '"v1"'
    assert server.header("if-modified-since") == "Thu, 01 Oct 2026 10:00:00 GMT"


@pytest.mark.parametrize("named", [{"etag": '"v1"'}, {"last_modified": "Thu, 01 Oct 2026 10:00:00 GMT"}])
def test_an_answer_whose_validators_the_caller_keeps_is_not_kept_a_second_time(cached, serve, memory, named):
    server = serve(page(cache_control="max-age=60", **named), page(b"two", cache_control="max-age=60"))

    first = cached.get(server.url, own_validators=True)
    kept = len(memory.kept)

    assert (first.body, kept) == (b"one", 0)
    assert [cached.get(server.url, own_validators=True).cache for _ in range(2)] == ["", "hit"]  # it has none


def test_feeds_are_fetched_with_validators(cached, sandbox):
    first = cached.get(f"{sandbox.url}/feeds/harbour-times.xml", revalidate=True)

    second = cached.get(f"{sandbox.url}/feeds/harbour-times.xml", revalidate=True)

    assert (second.status, second.cache, second.body) == (200, "revalidated", first.body)
    assert [entry.status for entry in sandbox.books.requests(service="feeds")] == [200, 304]


def test_a_changed_page_takes_the_place_of_the_old_one(cached, serve, clock):
    server = serve(
        page(cache_control="max-age=60", etag='"v1"'), page(b"two", cache_control="max-age=600", etag='"v2"')
    )
    cached.get(server.url)
    clock.advance(61)

    assert [cached.get(server.url).body for _ in range(2)] == [b"two", b"two"]
    assert len(server.requests) == 2


@pytest.mark.proves("CA-02")
def test_no_scope_is_served_the_answer_of_another(client, clock, memory, serve):
    server = serve(page(b"of tenant a", cache_control="max-age=60"), page(b"of tenant b", cache_control="max-age=60"))
    first = client(store=memory, clock=clock, auth=Secret("token-a"), scope="tenant-a/main")
    second = client(store=memory, clock=clock, auth=Secret("token-b"), scope="tenant-b/main")

    assert first.get(server.url).body == b"of tenant a"
    assert second.get(server.url).body == b"of tenant b"
    assert first.get(server.url).body == b"of tenant a"


@pytest.mark.parametrize(
    "proof", [{"Authorization": "Bearer mine-alone"}, {"Cookie": "session=mine-alone"}, {"X-Key": Secret("mine-alone")}]
)
def test_the_answer_to_a_credential_without_a_scope_is_never_kept(cached, memory, serve, proof):
    server = serve(page(cache_control="max-age=60"))

    for _ in range(2):
        cached.get(server.url, headers=proof)

    assert (len(server.requests), memory.kept) == (2, {})


def test_answers_that_vary_are_kept_apart(cached, serve):
    server = serve(page(b"deutsch", cache_control="max-age=60", vary="Accept-Language"),
                   page(b"english", cache_control="max-age=60", vary="Accept-Language"))  # fmt: skip

    bodies = [cached.get(server.url, headers={"Accept-Language": tongue}).body for tongue in ("de", "en", "de", "en")]

    assert bodies == [b"deutsch", b"english"] * 2
    assert len(server.requests) == 2


def test_what_must_not_be_stored_is_not(cached, memory, serve):
    server = serve(page(cache_control="no-store, max-age=60"))

    cached.get(server.url)

    assert memory.kept == {}


def test_an_error_is_stood_in_for_where_the_page_allows_it(cached, serve, clock, gate):
    server = serve(page(cache_control="max-age=60, stale-if-error=600"), page(b"", 503))
    cached.get(server.url)
    clock.advance(100)

    reply = cached.get(server.url)

    assert (reply.status, reply.body, reply.cache) == (200, b"one", "stale")
    assert gate.verdicts[-1].outcome == "failed"


def test_a_dead_server_is_stood_in_for_too_and_no_longer_than_allowed(cached, serve, clock):
    server = serve(page(cache_control="max-age=60, stale-if-error=600"))
    cached.get(server.url)
    server.__exit__()
    clock.advance(600)

    assert cached.get(server.url).cache == "stale"
    clock.advance(100)
    with pytest.raises(NotSent):
        cached.get(server.url)


def test_a_server_that_uses_up_the_time_is_stood_in_for(client, clock, memory, serve):
    release = threading.Event()
    server = serve(page(cache_control="max-age=60, stale-if-error=600"), lambda *_: release.wait(90))
    http = client(store=memory, clock=clock, limits=Limits(total=0.3))
    http.get(server.url)
    clock.advance(100)

    assert http.get(server.url).cache == "stale"
    release.set()


def test_a_change_of_an_address_forgets_what_was_kept_for_it(cached, serve):
    server = serve(page(cache_control="max-age=600"))
    cached.get(server.url)

    cached.request("DELETE", server.url)

    assert cached.get(server.url).cache == ""


def test_cookies_are_neither_kept_nor_shown(cached, memory, serve):
    server = serve(page(cache_control="max-age=60", set_cookie="session=secret-of-the-server"))

    replies = [cached.get(server.url) for _ in range(2)]

    assert all("set-cookie" not in reply.headers for reply in replies)
    assert "secret-of-the-server" not in repr(memory.kept)


@pytest.mark.proves("CA-02")
def test_a_ttl_keeps_the_reply_to_the_whole_request(cached, serve):
    server = serve(*[page(str(n).encode()) for n in range(9)])

    def post(body, **options):
        return cached.post(server.url, json=body, ttl="1 h", **options).body

    assert post({"q": 1}) == post({"q": 1}) == b"0"
    assert post({"q": 2}) == b"1"
    assert post({"q": 1}, parser_version="2") == b"2"
    assert post({"q": 1}, scope="tenant-b") == b"3"
    assert post({"q": 1}, params={"page": 2}) == b"4"
    assert post({"q": 1}, headers={"Accept": "text/csv"}) == b"5"
    assert post({"q": 1}) == b"0"


def test_a_ttl_ends(cached, serve, clock):
    server = serve(page(b"one"), page(b"two"))
    cached.get(server.url, ttl=60)
    clock.advance(60)

    assert cached.get(server.url, ttl=60).body == b"two"


def test_a_ttl_keeps_no_failure(cached, serve):
    server = serve(page(b"", 500), page(b"one"))

    with pytest.raises(ServerFailed):
        cached.get(server.url, ttl=60).raise_for_status()
    assert cached.get(server.url, ttl=60).body == b"one"


def test_a_ttl_for_a_credential_asks_whose_it_is(cached, serve):
    with pytest.raises(InvalidValue, match="scope="):
        cached.get(serve().url, ttl=60, headers={"Authorization": "Bearer mine-alone"})


@pytest.mark.parametrize("options", [{}, {"ttl": 60}])
def test_calls_that_want_the_same_at_once_become_one(cached, serve, gate, options):
    waiting = threading.Event()

    def slowly(connection, _request):
        waiting.wait(5)
        connection.sendall(page(cache_control="max-age=60"))

    server = serve(slowly)

    async def together():
        calls = [asyncio.ensure_future(cached.aget(server.url, **options)) for _ in range(5)]
        await server.arrival()
        waiting.set()
        replies = await asyncio.gather(*calls)
        await cached.aclose()
        return replies

    assert [reply.body for reply in asyncio.run(together())] == [b"one"] * 5
    assert (len(server.requests), gate.entered) == (1, 1)


def test_who_gives_up_waiting_does_not_end_it_for_the_others(cached, serve):
    waiting = threading.Event()

    def slowly(connection, _request):
        waiting.wait(5)
        connection.sendall(page(cache_control="max-age=60"))

    server = serve(slowly)

    async def together():
        leader, impatient, patient = (asyncio.ensure_future(cached.aget(server.url)) for _ in range(3))
        await server.arrival()
        impatient.cancel()
        waiting.set()
        replies = await asyncio.gather(leader, patient)
        await cached.aclose()
        return replies

    assert [reply.body for reply in asyncio.run(together())] == [b"one"] * 2


def test_a_failure_is_shared_by_all_who_waited(cached, serve):
    def hang_up(connection, _request):
        connection.close()

    server = serve(hang_up)

    async def together():
        calls = [cached.aget(server.url) for _ in range(3)]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        await cached.aclose()
        return outcomes

    assert [type(outcome) for outcome in asyncio.run(together())] == [OutcomeUnknown] * 3
    assert len(server.requests) == 1


@pytest.mark.parametrize("how", [{}, {"ttl": "1 h"}], ids=["by its headers", "for a time"])
def test_an_answer_that_says_the_credential_back_is_not_kept(client, serve, memory, how):
    server = serve(page(b"you sent canary-5b1d", cache_control="max-age=60"))
    http = client(store=memory, auth=Secret("canary-5b1d"), scope="acme")

    assert [http.get(server.url, **how).body for _ in range(2)] == [b"you sent canary-5b1d"] * 2

    assert memory.kept == {}
    assert len(server.requests) == 2


@pytest.mark.parametrize(("status", "asked"), [(404, 1), (410, 1), (403, 2), (500, 2)])
def test_that_there_is_nothing_is_kept_where_the_caller_wants_that(cached, serve, status, asked):
    server = serve(page(b"", status))

    statuses = [cached.get(server.url, ttl="1 h", keep_missing=True).status for _ in range(2)]

    assert (statuses, len(server.requests)) == ([status, status], asked)
