"""Events as they happen: nothing missed, nothing twice, nothing of another tenant, and no stop that waits for them."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import ExitStack

import pytest

from haulwright.api import server
from haulwright.api.streams import event_feed, hub, response, ring, streams, subscription
from haulwright.engine.ids import new_id
from haulwright.events import Event
from proof.support.streams import EventWriters, follow_with_cuts, require_all_once_in_order, streaming
from tests.api.conftest import serving


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """The hub looks often, so that nobody waits for it."""
    monkeypatch.setattr(hub, "LOOK_EVERY_SECONDS", 0.02)


def record(served, *names, tenant="acme", job_id=None, size=0):
    events = [Event(name, tenant, job_id, data={"pad": "x" * size} if size else {}) for name in names]
    store = served.app.store
    store.database.transact(lambda connection: store.events.record(connection, events))


def wait_until(condition):
    """Wait for what the server does in its own time."""
    until = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def names_of(stream, count):
    frames = stream.frames()
    return [next(frames).data["name"] for _ in range(count)]


def test_a_client_that_is_cut_at_random_gets_every_event_once_and_those_of_a_job_in_order(served):
    with EventWriters(served.app.store, writers=4, events=400) as writers:
        events = follow_with_cuts(served.client(), writers.total, cuts=8, seed=7)

    require_all_once_in_order(events, writers)


def test_a_stream_begins_now_and_goes_on_from_where_its_client_left_off(served):
    client = served.client()
    record(served, "job.queued")
    with streaming(client, "/events/stream") as stream:
        assert stream.answer.headers["content-type"].startswith("text/event-stream")
        assert stream.answer.headers["cache-control"] == "no-store"
        assert stream.answer.headers["x-accel-buffering"] == "no"
        stream.opened()
        began = stream.last_id
        record(served, "job.started", "job.completed")
        assert names_of(stream, 1) == ["job.started"]
        after = stream.last_id

    record(served, "job.failed")
    with streaming(client, "/events/stream", after) as stream:
        assert names_of(stream, 2) == ["job.completed", "job.failed"]
    with streaming(client, "/events/stream", after=began) as stream:
        assert names_of(stream, 3) == ["job.started", "job.completed", "job.failed"]


def test_who_was_away_for_longer_than_the_server_remembers_reads_the_database(served, monkeypatch):
    monkeypatch.setattr(ring, "CAPACITY", 5)
    monkeypatch.setattr(event_feed, "PAGE", 7)
    client = served.client()
    with streaming(client, "/events/stream") as witness:  # the hub follows for it, and forgets
        witness.opened()
        before = witness.last_id
        record(served, *["job.queued"] * 30, "job.dead_lettered")
        assert names_of(witness, 31)[-1] == "job.dead_lettered"

        with streaming(client, "/events/stream", before) as stream:
            assert names_of(stream, 31) == [*["job.queued"] * 30, "job.dead_lettered"]


def test_neither_of_two_tenants_sees_what_is_the_others_and_staff_see_whom_they_name(served):
    mine, other = served.client("acme"), served.client("globex")
    everybody, chosen = served.admin(), served.admin(**{"Haulwright-Tenant": "globex"})
    with ExitStack() as stack:
        clients = [
            stack.enter_context(streaming(client, "/events/stream")) for client in (mine, other, everybody, chosen)
        ]
        for stream in clients:
            stream.opened()
        record(served, "job.queued", tenant="acme")
        record(served, "job.started", tenant="globex")
        record(served, "job.completed", tenant="acme")
        record(served, "job.failed", tenant="globex")
        seen = [names_of(stream, count) for stream, count in zip(clients, (2, 2, 4, 2), strict=True)]

    assert seen[0] == ["job.queued", "job.completed"]
    assert seen[1] == seen[3] == ["job.started", "job.failed"]
    assert seen[2] == ["job.queued", "job.started", "job.completed", "job.failed"]
    for client, expected in ((mine, seen[0]), (other, seen[1])):  # from the database too
        with streaming(client, "/events/stream", "0", name=expected[1]) as stream:
            assert names_of(stream, 1) == expected[1:]


def test_a_stream_of_one_name_has_only_that(served):
    with streaming(served.client(), "/events/stream", name="job.failed") as stream:
        stream.opened()
        record(served, "job.queued", "job.failed", "job.started", "job.failed")
        assert names_of(stream, 2) == ["job.failed"] * 2


def test_the_stream_of_a_job_ends_with_it(served):
    client = served.client()
    job_id = client.post("/jobs", json={"task": "fail", "args": {"why": "no"}}).json()["id"]
    other = client.post("/jobs", json={"task": "fail", "args": {"why": "no"}}).json()["id"]
    assert other != job_id
    with streaming(client, f"/jobs/{job_id}/events/stream", "0") as stream:
        stream.opened()
        served.app.run_worker(until_empty=True)
        *events, end = stream.frames()

    assert {event.data["job_id"] for event in events} == {job_id}
    timeline = client.get(f"/jobs/{job_id}/timeline").json()["events"]
    assert [event.data["seq"] for event in events] == sorted(event["seq"] for event in timeline)
    assert (end.name, end.data["id"], end.data["state"]) == ("end", job_id, "dead")


def test_a_job_that_writes_no_events_still_ends_its_stream(served):
    client = served.client()
    job_id = client.post("/jobs", json={"task": "add", "args": {"a": 1}}).json()["id"]
    with streaming(client, f"/jobs/{job_id}/events/stream") as stream:
        stream.opened()
        served.app.run_worker(until_empty=True)
        (end,) = stream.frames()
    assert (end.name, end.data["state"], end.data["result"]) == ("end", "succeeded", 3)

    with streaming(client, f"/jobs/{job_id}/events/stream") as stream:
        assert [frame.name for frame in stream.frames()] == ["end"]


def test_what_cannot_be_followed_is_a_problem_and_no_stream(served):
    client = served.client()
    job_id = client.post("/jobs", json={"task": "add", "args": {"a": 1}}).json()["id"]
    absent = new_id()
    stranger = served.client("globex", **{"X-Request-Id": "r"})
    foreign, none = (stranger.get(f"/jobs/{job}/events/stream") for job in (job_id, absent))
    assert (foreign.status_code, none.status_code) == (404, 404)
    assert foreign.text.replace(job_id, "ID") == none.text.replace(absent, "ID")

    for params, headers in (
        ({"after": "x"}, {}),
        ({"after": "999999"}, {}),
        ({}, {"Last-Event-ID": "999999"}),
        ({}, {"Last-Event-ID": "9" * 3000}),
        ({"name": "job.don"}, {}),
        ({"q": "state:dead"}, {}),
    ):
        answer = client.get("/events/stream", params=params, headers=headers)
        assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    for path in ("/events/stream", "/overview/stream", f"/jobs/{job_id}/events/stream"):
        assert served.anonymous().get(path).status_code == 401


def test_the_overview_comes_at_once_and_again_when_it_changes(served, monkeypatch):
    from haulwright.api.streams import overview  # noqa: PLC0415 - its pace is set for this test alone

    monkeypatch.setattr(overview, "LOOK_EVERY_SECONDS", 0.05)
    client = served.client()
    with streaming(client, "/overview/stream") as stream:
        frames = stream.frames()
        assert next(frames).data["queues"] == []
        first = stream.last_id
        client.post("/jobs", json={"task": "add", "args": {"a": 1}})
        (queue,) = next(frames).data["queues"]
        assert (queue["name"], queue["due"]) == ("default", 1)
        assert int(stream.last_id) > int(first)


def test_a_quiet_stream_shows_that_it_is_alive_and_how_far_it_is(served, monkeypatch):
    monkeypatch.setattr(response, "HEARTBEAT_SECONDS", 0.05)
    with streaming(served.client(), "/events/stream", name="job.failed") as stream:
        stream.opened()
        began = int(stream.last_id)
        record(served, "job.queued")  # not for this client, and yet it gets on
        while int(stream.last_id) == began:
            next(stream.blocks())
    assert "alive" in stream.comments


def test_a_stop_waits_for_no_stream_and_tells_clients_to_come_again(app, monkeypatch):
    monkeypatch.setattr(server, "GRACE_SECONDS", 3_600)  # a stop that waited for them would not end here
    with serving(app) as served:
        client = served.client()
        with ExitStack() as stack:
            opened = [stack.enter_context(streaming(client, path)) for path in ("/events/stream", "/overview/stream")]
            for stream in opened:
                stream.opened()
            served.server.stop()
            for stream in opened:
                list(stream.frames())
                assert "the server stops, come again" in stream.comments


def test_a_client_that_does_not_read_is_cut_and_holds_nobody_up(app, monkeypatch):
    monkeypatch.setattr(response, "SEND_PATIENCE_SECONDS", 0.5)
    monkeypatch.setattr(response, "HEARTBEAT_SECONDS", 0.05)
    with serving(app) as served:
        token = served.client().headers["Authorization"]
        host, port = served.address.removeprefix("http://").split(":")
        with socket.socket() as lazy:
            lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)  # it fills up, and does not grow
            lazy.connect((host, int(port)))
            lazy.sendall(f"GET /api/v1/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\n\r\n".encode())
            assert lazy.recv(15) == b"HTTP/1.1 200 OK"
            with streaming(served.client(), "/events/stream") as quick_client:
                quick_client.opened()
                for _ in range(40):
                    record(served, *["job.queued"] * 10, size=20_000)
                assert len(names_of(quick_client, 400)) == 400
            wait_until(lambda: served.server.streams.count == 0)
            lazy.settimeout(30)
            tail = b""
            while part := lazy.recv(65536):
                tail = (tail + part)[-5:]
            assert tail != b"0\r\n\r\n"  # which would be the end of an answer


def test_more_streams_than_a_token_or_a_server_may_have_are_refused(served, monkeypatch):
    monkeypatch.setattr(streams, "MOST_OF_ONE_TOKEN", 2)
    monkeypatch.setattr(streams, "MOST_STREAMS", 3)
    client = served.client()
    with ExitStack() as stack:
        held = [stack.enter_context(streaming(client, "/events/stream")).opened() for _ in range(2)]
        refused = client.get("/events/stream")
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_requests")
        assert "retry-after" in refused.headers
        held.append(stack.enter_context(streaming(served.client(), "/events/stream")).opened())
        assert served.client().get("/overview/stream").status_code == 429
        left = len(held) - 1
        held[0].answer.close()
        wait_until(lambda: served.server.streams.count == left)  # who goes leaves a place
        held.append(stack.enter_context(streaming(client, "/events/stream")).opened())


def test_a_stream_ends_with_its_token(served, monkeypatch):
    from haulwright.api.auth import api_tokens  # noqa: PLC0415 - as above

    monkeypatch.setattr(response, "PROOF_SECONDS", 0.0)
    monkeypatch.setattr(response, "HEARTBEAT_SECONDS", 0.05)
    monkeypatch.setattr(api_tokens, "REMEMBERED_SECONDS", 0.0)
    client = served.client()
    with streaming(client, "/events/stream") as stream:
        stream.opened()
        tokens = served.app.operations().tokens
        tokens.revoke(tokens.page().rows[0].prefix)
        list(stream.frames())
        assert "the token is not valid any more" in stream.comments


def test_a_client_for_whom_too_much_waits_goes_on_from_its_own_place(served, monkeypatch):
    monkeypatch.setattr(subscription, "MOST_WAITING", 0)
    monkeypatch.setattr(hub, "MOST_WAITING", 0)
    with streaming(served.client(), "/events/stream") as stream:
        stream.opened()
        for number in range(3):
            record(served, *["job.queued"] * number, "job.started")
            assert names_of(stream, number + 1) == [*["job.queued"] * number, "job.started"]


def test_nothing_is_read_when_nobody_listens(served, monkeypatch):
    monkeypatch.setattr(hub, "IDLE_SECONDS", 0.05)
    client = served.client()
    with streaming(client, "/events/stream") as stream:
        stream.opened()
        (thread,) = [thread for thread in threading.enumerate() if thread.name == "event-hub"]
    thread.join(10)
    assert not thread.is_alive()
    with streaming(client, "/events/stream", stream.last_id) as stream:
        stream.opened()
        record(served, "job.queued")
        assert names_of(stream, 1) == ["job.queued"]


def test_a_look_that_finds_nothing_new_is_no_trouble_for_who_follows_all(served, monkeypatch):
    looks, look_at_jobs = threading.Semaphore(0), hub.EventHub._look_at_jobs

    def watched(self, operations):
        looks.release()
        return look_at_jobs(self, operations)

    monkeypatch.setattr(hub.EventHub, "_look_at_jobs", watched)
    with streaming(served.admin(), "/events/stream") as stream:
        stream.opened()
        assert all(looks.acquire(timeout=30) for _ in range(3))
        record(served, "job.queued")
        assert names_of(stream, 1) == ["job.queued"]
