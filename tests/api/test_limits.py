"""What a request may take of a server, and what every answer has."""

from __future__ import annotations

import json
import logging
import socket
import threading
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from haulwright import Haulwright
from haulwright.api.application import create_api
from haulwright.api.kit.call import Caller
from haulwright.api.kit.routes import ApiRoutes
from haulwright.api.limits import ApiLimits, TokenBuckets, is_too_deep
from haulwright.settings import Settings
from tests.api.conftest import serving
from tests.runtime.waiting import eventually
from tests.support.outages import read_only_server
from tests.support.postgres import start

JSON = {"Content-Type": "application/json"}


@pytest.fixture
def app_on_file(sqlite_url):
    """For what does not depend on the database."""
    app = Haulwright(sqlite_url)

    @app.task()
    def add(a: int, b: object = None) -> int:  # noqa: ARG001 - something deep
        return a

    app.operations().schema.migrate()
    return app


def raw(served, head, *, body=b"", then=lambda _: None):
    """Send something that no client sends, and return the answer."""
    address = urlsplit(served.address)
    with closing(socket.create_connection((address.hostname, address.port), timeout=60)) as connection:
        connection.sendall("\r\n".join([*head, "Host: 127.0.0.1", "", ""]).encode() + body)
        then(connection)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
            if b"\r\n\r\n" in answer and answer.rstrip().endswith(b"}"):
                break
    return answer.decode()


def token(served, **how):
    return served.client(**how).headers["authorization"]


def test_a_body_that_is_too_large_is_refused_by_its_length_and_while_it_is_read(app_on_file):
    with serving(app_on_file, limits=ApiLimits(body_bytes=2000)) as served:
        client = served.client()
        declared = client.post("/jobs", content=b" " * 2001, headers=JSON)
        undeclared = client.post("/jobs", content=iter([b" " * 1500, b" " * 501]), headers=JSON)
        fits = client.post("/jobs", content=b" " * 1900 + b'{"task": "add", "args": {"a": 1}}', headers=JSON)

    for answer in (declared, undeclared):
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert fits.status_code == 202


def test_an_endless_body_is_cut_and_so_is_the_connection(app_on_file):
    def send_on(connection):
        for _ in range(100_000):
            connection.sendall(b"2000\r\n" + b" " * 0x2000 + b"\r\n")

    with serving(app_on_file, limits=ApiLimits(body_bytes=20_000)) as served:
        head = ["POST /api/v1/jobs HTTP/1.1", f"Authorization: {token(served)}", "Content-Type: application/json"]
        with pytest.raises(OSError, match=r"pipe|reset"):
            raw(served, [*head, "Transfer-Encoding: chunked"], then=send_on)


def test_a_body_that_does_not_come_is_waited_for_and_then_refused(app_on_file):
    with serving(app_on_file, limits=ApiLimits(body_seconds=0.1)) as served:
        head = ["POST /api/v1/jobs HTTP/1.1", f"Authorization: {token(served)}", "Content-Type: application/json"]
        answer = raw(served, [*head, "Content-Length: 50"], body=b'{"task": ')

    assert answer.startswith("HTTP/1.1 408 ")
    assert '"code": "too_slow"' in answer


def said_until_it_ends(served, *pieces):
    """Send something, wait until the server closes, and return what it said."""
    address = urlsplit(served.address)
    with closing(socket.create_connection((address.hostname, address.port), timeout=60)) as connection:
        for piece in pieces:
            connection.sendall(piece)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    return answer


def test_a_head_that_does_not_come_or_does_not_end_is_cut(app_on_file, monkeypatch):
    head, whole = b"GET /nowhere HTTP/1.1\r\nX: ", b"GET /nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with serving(app_on_file) as served:
        with pytest.raises(OSError, match=r"pipe|reset"):
            said_until_it_ends(served, head, *([b"x" * 65_536] * 1000))
        monkeypatch.setattr("haulwright.api.head_limits.HEAD_SECONDS", 0.1)
        assert said_until_it_ends(served) == b""
        assert said_until_it_ends(served, head).startswith(b"HTTP/1.1 408 ")
        assert said_until_it_ends(served, whole, whole[:9]).count(b"HTTP/1.1 404") == 1


def test_a_body_that_is_cut_off_does_nothing(app_on_file):
    with serving(app_on_file) as served:
        address, bearer = urlsplit(served.address), token(served)
        head = f"POST /api/v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {bearer}\r\nContent-Length: 500\r\n"
        with closing(socket.create_connection((address.hostname, address.port))) as connection:
            connection.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode() + b'{"task": "add"')
        assert served.anonymous(Authorization=bearer).get("/jobs").json()["jobs"] == []


def test_who_is_not_known_is_told_so_before_anything_of_the_body_is_read(app_on_file):
    with serving(app_on_file) as served:
        answer = raw(served, ["POST /api/v1/jobs HTTP/1.1", "Content-Type: text/plain", "Content-Length: 1000000"])

    assert answer.startswith("HTTP/1.1 401 ")


def test_a_body_that_is_no_json_is_refused(app_on_file):
    with serving(app_on_file) as served:
        client = served.client()
        for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""):
            answer = client.post("/jobs", content=b'{"task": "add"}', headers={"Content-Type": kind})
            assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


def nested(levels):
    return b"[" * levels + b"]" * levels


def test_json_is_read_to_a_depth_and_what_is_deeper_is_refused(app_on_file):
    with serving(app_on_file) as served:
        client = served.client()
        for body, status in (
            (b'{"task": "add", "args": {"a": 1, "b": %s}}' % nested(62), 202),
            (b'{"task": "add", "args": {"a": 1, "b": %s}}' % nested(63), 422),
            (nested(100_000), 422),
            (b"[" * 500_000, 422),
            (b'{"a":' * 100_000, 422),
        ):
            answer = client.post("/jobs", content=body, headers=JSON)
            assert (answer.status_code, "detail" in answer.json()) == (status, status == 422)


def test_the_limits_are_those_of_the_settings(tmp_path):
    figures = {"MAX_BODY_BYTES": "2048", "RATE_PER_MINUTE": "7", "MAX_IN_FLIGHT": "3"}
    settings = Settings.load({f"HAULWRIGHT_WEB_{name}": value for name, value in figures.items()}, tmp_path)

    assert ApiLimits.of(settings) == ApiLimits(body_bytes=2048, rate_per_minute=7, in_flight=3)
    assert ApiLimits.of(Settings.load({}, tmp_path)) == ApiLimits()


def test_brackets_in_texts_are_no_depth():
    assert not is_too_deep(json.dumps({"a": "[" * 1000, "b": '\\"' + "{" * 500, "c": [[]] * 500}).encode())
    assert is_too_deep(json.dumps({"a": '"'}).encode()[:-1] + b"," + nested(64))


def test_a_caller_that_sends_too_much_is_told_when_to_come_again_and_others_go_on(app_on_file):
    with serving(app_on_file, limits=ApiLimits(rate_per_minute=3)) as served:
        eager, other = served.client(), served.client("globex")
        answers = [eager.get("/jobs") for _ in range(5)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
        assert (answers[3].json()["code"], 1 <= int(answers[3].headers["retry-after"]) <= 20) == (
            "too_many_requests",
            True,
        )
        assert other.get("/jobs").status_code == 200


def test_an_address_that_fails_again_and_again_is_slowed_and_who_is_known_gets_in(app_on_file):
    with serving(app_on_file, limits=ApiLimits(failures_per_minute=2)) as served:
        nobody = served.anonymous(Authorization="Bearer hw_000000000000_x")
        answers = [nobody.get("/jobs") for _ in range(3)]
        assert [answer.status_code for answer in answers] == [401, 401, 429]
        assert int(answers[2].headers["retry-after"]) >= 1
        assert served.client().get("/jobs").status_code == 200


def test_a_bucket_fills_again_with_time_and_few_of_many_are_remembered(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("haulwright.api.limits.time.monotonic", lambda: now[0])
    monkeypatch.setattr("haulwright.api.limits.MOST_BUCKETS", 10)
    buckets = TokenBuckets(60)
    assert [buckets.take("a") for _ in range(60)] == [0.0] * 60
    assert buckets.take("a") == 1.0
    now[0] += 1
    assert (buckets.take("a"), buckets.take("a")) == (0.0, 1.0)
    for number in range(50):
        buckets.take(number)
    assert len(buckets._buckets) == 10
    assert TokenBuckets(0).take("a") == 0.0


def test_more_requests_than_there_is_room_for_are_sent_away_for_a_moment(app_on_file):
    begun, go = threading.Event(), threading.Event()

    def slow(*_, **__):
        begun.set()
        go.wait(60)

    with serving(app_on_file, limits=ApiLimits(in_flight=1)) as served, pytest.MonkeyPatch.context() as patch:
        client, other = served.client(), served.client("globex")
        patch.setattr("haulwright.operations.jobs.JobOperations.page", slow)
        waiting = threading.Thread(target=lambda: client.get("/jobs"))
        waiting.start()
        assert begun.wait(60)
        busy = other.get("/jobs/x")
        go.set()
        waiting.join()
        patch.undo()
        eventually(lambda: other.get("/jobs").status_code == 200)

    assert (busy.status_code, busy.json()["code"], busy.headers["retry-after"]) == (503, "busy", "1")


def test_a_route_of_uploads_takes_more_and_other_kinds_as_a_stream(app_on_file, monkeypatch):
    routes = ApiRoutes("files", prefix="/files")

    @routes.post("/{name}", dict, uploads=["application/octet-stream"], upload_bytes=100_000)
    def upload(call: Caller, name: str) -> dict:
        return {"name": name, "bytes": len(call.request._body)}

    monkeypatch.setattr("haulwright.api.application.ENGINE_ROUTES", (routes,))
    with serving(app_on_file, limits=ApiLimits(body_bytes=2000)) as served:
        client = served.client(**{"Idempotency-Key": "k"})  # for which the body is read
        taken = client.post("/files/a", content=b"x" * 50_000, headers={"Content-Type": "application/pdf"})
        large = client.post("/files/a", content=b"x" * 100_001)
        larger = client.post("/files/a", content=iter([b"x" * 60_000] * 2))

    assert taken.json() == {"name": "a", "bytes": 50_000}
    assert (large.status_code, larger.status_code) == (413, 413)


def test_every_answer_has_the_headers_that_browsers_obey(served, monkeypatch):
    client = served.client()
    answers = [
        client.get("/jobs"),
        client.get("/nowhere"),
        served.anonymous().get("/jobs"),
        client.get("/openapi.json"),
    ]
    monkeypatch.setattr("haulwright.api.routes.jobs.jobs_view", lambda _: 1 / 0)
    answers.append(client.get("/jobs"))

    assert [answer.status_code for answer in answers] == [200, 404, 401, 200, 500]
    for answer in answers:
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert answer.headers["x-request-id"]
    assert "ZeroDivision" not in answers[-1].text


@pytest.mark.postgres
def test_a_database_that_is_down_is_told_and_found_again_by_itself():
    server = start(tcp=False)
    try:
        app = Haulwright(server.url())
        app.operations().schema.migrate()
        with serving(app) as served:
            client = served.client()
            assert client.get("/jobs").status_code == 200

            server.halt("fast")
            down = client.get("/jobs")
            assert (down.status_code, down.json()["code"]) == (503, "database_unavailable")
            assert int(down.headers["retry-after"]) >= 1

            server.launch()
            eventually(lambda: client.get("/jobs").status_code == 200)
    finally:
        server.stop()


@pytest.mark.postgres
def test_a_database_that_takes_no_writes_is_told_and_nothing_is_half_done(postgres_server):
    with read_only_server(postgres_server) as outage:
        app = Haulwright(outage.url)
        app.task(name="add")(lambda a: a)
        app.operations().schema.migrate()
        with serving(app) as served:
            client = served.client()
            body = {"task": "add", "args": {"a": 1}}
            assert client.get("/jobs").status_code == 200

            outage.begin()
            eventually(lambda: client.post("/jobs", json=body).status_code == 503)
            outage.end()
            eventually(lambda: client.post("/jobs", json=body).status_code == 202)
            assert len(client.get("/jobs").json()["jobs"]) == 1


def test_what_is_answered_before_the_app_is_in_the_document_of_every_route(app_on_file):
    """A head that is too large or does not come in time may be sent to any of them."""
    paths = create_api(app_on_file).openapi()["paths"]
    routes = [route for path in paths.values() for route in path.values()]

    assert routes
    assert [route["operationId"] for route in routes if not {"400", "408", "431"} <= route["responses"].keys()] == []


def test_what_never_comes_to_the_app_gets_a_problem_with_an_id_that_is_in_the_log(app_on_file, caplog):
    caplog.set_level(logging.INFO, logger="haulwright.api")
    large = b"GET /api/v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X: 12345678\r\n" * 8000 + b"\r\n"
    with serving(app_on_file) as served:
        answers = [
            said_until_it_ends(served, b"GET /api/v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: many\r\n\r\n"),
            said_until_it_ends(served, b"what is this\r\n\r\n"),
            said_until_it_ends(served, large),
        ]
    lines = {record.facts["request"]: record for record in caplog.records if record.getMessage() == "no request"}
    assert len(lines) == 3
    for answer, (status, code) in zip(answers, [(400, "bad_request")] * 2 + [(431, "too_large")], strict=True):
        head, _, body = answer.partition(b"\r\n\r\n")
        headers = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:])
        problem = json.loads(body)
        assert head.startswith(f"HTTP/1.1 {status} ".encode())
        assert (problem["status"], problem["code"]) == (status, code)
        assert headers[b"content-type"] == b"application/problem+json"
        assert int(headers[b"content-length"]) == len(body)
        assert headers[b"x-content-type-options"] == b"nosniff"
        assert headers[b"x-request-id"].decode() == problem["request_id"]
        assert lines[problem["request_id"]].facts == {
            "status": status, "address": "127.0.0.1", "request": problem["request_id"]
        }  # fmt: skip


def test_a_problem_does_not_repeat_all_that_was_sent(served):
    for body in ({"task": "t" * 500_000}, {"task": "add", "args": {"a": 1}, "unique": "q" * 500_000}):
        answer = served.client().post("/jobs", json=body)

        assert (answer.status_code, len(answer.text) < 5000) == (422, True)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_json_is_utf_8_for_its_depth_is_counted_in_that(served, encoding):
    quote = "\u2222"  # two bytes that are quotation marks, if they are taken one by one
    deep = '{"task": "add", "args": {"a": 1, "b": "' + quote + '"}, "headers": ' + "[" * 100 + "]" * 100 + "}"
    for path in ("/jobs", "/jobs/bulk"):
        answer = served.client().post(path, content=deep.encode(encoding), headers=JSON)

        assert (answer.status_code, answer.json()["code"]) == (400, "bad_request")


@pytest.mark.parametrize("name", ["Idempotency-Key", "Haulwright-Tenant", "Haulwright-Reason"])
def test_a_header_of_ours_that_is_there_twice_is_refused(served, name):
    body = {"task": "add", "args": {"a": 1}}
    headers = [(name, "globex"), (name, "acme")]

    answer = served.admin().request("POST", "/jobs", json=body, headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_value")
    assert served.app.operations().jobs.page().jobs == []


def test_a_body_before_a_head_is_no_part_of_it(app_on_file):
    """Requests that are sent without waiting for answers come in one piece."""
    whole = b"GET /nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    with serving(app_on_file) as served:
        first = b"POST /nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n" + b"x" * 100_000
        said = said_until_it_ends(served, first + whole[:9], whole[9:] + b"Connection: close\r\n\r\n")
    assert b"HTTP/1.1 431" not in said
