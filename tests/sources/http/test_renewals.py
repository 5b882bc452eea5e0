"""stale-while-revalidate: an old answer at once, and one call behind it that asks for a new one."""

from __future__ import annotations

import threading
from email.utils import formatdate

import pytest

from haulwright.errors import Throttled
from tests.sources.http.conftest import NOON
from tests.sources.http.governors import Gate, Memory, SharedMemory
from tests.sources.http.servers import respond

OLD = "max-age=60, stale-while-revalidate=600"
WAIT_SECONDS = 30


def page(body=b"one", status=200, cache_control=OLD, **headers):
    return respond(status, body, Date=formatdate(NOON, usegmt=True), Cache_Control=cache_control, **headers)


@pytest.fixture
def memory():
    return SharedMemory()


@pytest.fixture
def cached(client, clock, memory, gate):
    return client(store=memory, clock=clock, gate=gate)


@pytest.fixture
def clients(client, memory, clock, gate):
    return [client(store=memory, clock=clock, gate=gate) for _ in range(3)]


@pytest.fixture
def released():
    """A server may wait for this before it answers; at the end of a test nobody is left waiting."""
    event = threading.Event()
    yield event
    event.set()


def slow(released, answer):
    """An answer that comes when it is released."""

    def answer_late(connection, _request):
        assert released.wait(WAIT_SECONDS)
        connection.sendall(answer)

    return answer_late


def all_left(gate, calls):
    """Wait until so many calls have left the gate."""
    return all(gate.left.acquire(timeout=WAIT_SECONDS) for _ in range(calls))


def test_an_old_answer_is_served_at_once_and_renewed_behind(cached, serve, gate, clock, released):
    server = serve(page(etag='"v1"'), slow(released, page(b"two", cache_control="max-age=600")))
    cached.get(server.url)
    clock.advance(100)

    served = cached.get(server.url)  # the server has not answered yet
    released.set()
    assert all_left(gate, 2)

    assert (served.body, served.cache, served.headers["age"]) == (b"one", "stale", "100")
    assert server.header("if-none-match") == '"v1"'
    renewed = cached.get(server.url)
    assert (renewed.body, renewed.cache, len(server.requests)) == (b"two", "hit", 2)
    assert [verdict.outcome for verdict in gate.verdicts] == ["ok", "ok"]


def test_one_of_all_who_share_a_store_asks(clients, memory, clock, serve, gate):
    released = threading.Event()
    server = serve(page(), slow(released, page(b"two")))
    clients[0].get(server.url)
    clock.advance(100)

    served = [one.get(server.url).cache for one in clients for _ in range(3)]
    released.set()
    assert all_left(gate, 2)

    assert served == ["stale"] * 9
    assert (memory.taken, gate.entered, len(server.requests)) == (1, 2, 2)


def test_an_answer_that_is_older_than_allowed_is_asked_about_first(cached, serve, clock):
    server = serve(page(), page(b"two"))
    cached.get(server.url)
    clock.advance(661)

    assert cached.get(server.url).body == b"two"


@pytest.mark.parametrize(
    ("answer", "options"),
    [
        ("max-age=60", {}),
        (f"{OLD}, must-revalidate", {}),
        (f"{OLD}, no-cache", {}),
        (OLD, {"headers": {"Cache-Control": "no-cache"}}),
        (OLD, {"headers": {"Cache-Control": "max-age=90"}}),
        (OLD, {"headers": {"Cache-Control": "min-fresh=5"}}),
        (OLD, {"revalidate": True}),
    ],
)
def test_who_wants_no_old_answer_gets_none(cached, serve, clock, answer, options):
    server = serve(page(cache_control=answer), page(b"two"))
    cached.get(server.url)
    clock.advance(100)

    assert cached.get(server.url, **options).body == b"two"


def test_a_store_that_cannot_choose_one_has_the_server_asked_first(client, clock, serve):
    server = serve(page(), page(b"two"))
    http = client(store=Memory(), clock=clock)
    http.get(server.url)
    clock.advance(100)

    assert http.get(server.url).body == b"two"


def test_of_a_renewal_that_fails_the_gate_hears_and_it_is_tried_again_when_a_call_would_be_over(
    cached, clock, serve, gate
):
    """A client of these tests gives a call ten seconds."""
    http = cached
    server = serve(page(), page(b"", 503, ""), page(b"two"))
    http.get(server.url)
    clock.advance(100)

    first = http.get(server.url).cache
    assert all_left(gate, 2)
    clock.advance(9)
    second = http.get(server.url).cache
    requests = len(server.requests)
    clock.advance(3)
    third = http.get(server.url).cache
    assert all_left(gate, 1)

    assert [first, second, third] == ["stale"] * 3
    assert (requests, gate.verdicts[1].outcome) == (2, "failed")
    assert http.get(server.url).body == b"two"


def test_a_gate_that_is_closed_holds_up_the_renewal_and_not_its_caller(client, clock, memory, serve):
    server = serve(page())
    gate = Gate()
    http = client(store=memory, clock=clock, gate=gate)
    http.get(server.url)
    clock.advance(100)
    gate.closed = Throttled("later", after=3600)

    assert [http.get(server.url).cache for _ in range(2)] == ["stale", "stale"]
    assert (len(server.requests), memory.taken) == (1, 1)


def test_where_too_many_are_under_way_the_server_is_asked_first(cached, serve, clock, monkeypatch):
    monkeypatch.setattr("haulwright.sources.http.behind.MOST_AT_ONCE", 0)
    server = serve(page(), page(b"two"))
    cached.get(server.url)
    clock.advance(100)

    assert cached.get(server.url).body == b"two"


def test_a_client_that_is_closed_ends_its_renewals_which_leave_the_gate(cached, serve, gate, clock, released):
    server = serve(page(), slow(released, page(b"two")))
    cached.get(server.url)
    clock.advance(100)
    cached.get(server.url)

    cached.close()

    assert gate.entered == len(gate.verdicts)
    assert {verdict.outcome for verdict in gate.verdicts[1:]} <= {"ignored"}
