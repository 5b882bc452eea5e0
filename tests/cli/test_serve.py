"""`haulwright serve` as a real process: what it tells, what it does not do, and how it ends."""

from __future__ import annotations

import json
import re
import signal
import socket
from contextlib import closing
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.api.tokens import AUDIENCE, ISSUER, Issuer
from tests.cli.conftest import SHOP
from tests.runtime.waiting import eventually

BODY = b'{"task": "price", "args": {"sku": "A1"}}'
CANARY = "canary-0aB1-" * 4


class Web:
    """A server that listens, and what it has told until then."""

    def __init__(self, running):
        self.running = running
        self.lines = []
        self.address = re.search(r"http://\S+?(?=/api/v1)", self.line_with("The API answers at"))[0]

    def line_with(self, *words):
        for line in self.running.stderr:
            self.lines.append(line)
            if all(word in line for word in words):
                return line
        raise AssertionError(f"nobody said {words}: {self.lines}")

    def client(self, token=None, **headers):
        headers |= {"Authorization": f"Bearer {token}"} if token else {}
        return httpx2.Client(base_url=f"{self.address}/api/v1", headers=headers, timeout=60)

    def stop(self):
        """Tell it to end, and return its exit code."""
        self.running.send_signal(signal.SIGTERM)
        return self.end()

    def end(self):
        """Wait until it has ended, and return its exit code."""
        self.lines += self.running.communicate(timeout=60)[1].splitlines(keepends=True)
        return self.running.returncode

    @property
    def log(self):
        return "".join(self.lines)


@pytest.fixture
def serve(process, database_url, haulwright):
    """Servers of this database, none of which outlives the test."""
    del haulwright
    started = []

    def start(*words, **how):
        started.append(process("serve", "-A", SHOP, "--database", database_url, "--port", "0", *words, **how))
        return Web(started[-1])

    yield start
    for running in started:
        running.kill()
        running.communicate()


def half_sent(web, token):
    """A connection whose request the server has begun to read: it asks for the rest."""
    address = urlsplit(web.address)
    connection = socket.create_connection((address.hostname, address.port), timeout=60)
    head = ["POST /api/v1/jobs HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {token}", "Expect: 100-continue"]
    head += ["Content-Type: application/json", f"Content-Length: {len(BODY)}", "", ""]
    connection.sendall("\r\n".join(head).encode() + BODY[:9])
    assert connection.recv(65536).startswith(b"HTTP/1.1 100 ")
    return closing(connection)


def listens(web):
    address = urlsplit(web.address)
    try:
        socket.create_connection((address.hostname, address.port), timeout=60).close()
    except OSError:
        return False
    return True


def new_token(haulwright, *words):
    return haulwright("token", "create", "tests", *words).out.strip()


@pytest.mark.proves("SL-01")
def test_a_server_opens_no_slot_and_runs_no_job_and_a_worker_does(serve, haulwright, clock, store):
    token = new_token(haulwright, "--tenant", "default")
    haulwright("worker", "-A", SHOP, "--until-empty")  # the schedules are known from now on
    clock.advance(3 * 3600)
    before = store.schedules.slots("hourly prices", limit=10)

    web = serve()
    with web.client(token) as client:
        queued = client.post("/jobs", json={"task": "price", "args": {"sku": "A1"}}).json()["id"]
        clock.advance(3600)
        assert {client.get("/jobs").status_code for _ in range(20)} == {200}
        assert [job["id"] for job in client.get("/jobs").json()["jobs"]] == [queued]
        assert client.get(f"/jobs/{queued}").json()["state"] == "queued"
    assert web.stop() == 0
    assert store.schedules.slots("hourly prices", limit=10) == before
    assert store.workers.list() == []

    haulwright("worker", "-A", SHOP, "--until-empty")
    assert store.schedules.slots("hourly prices", limit=10) != before


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_an_interrupt_ends_a_server_in_order_and_each_request_has_its_line(serve, haulwright):
    token = new_token(haulwright, "--tenant", "acme")
    web = serve("--log-format", "json")
    with web.client(token, **{"X-Request-Id": "r-7"}) as client:
        client.get("/jobs", params={"q": "tag:private"})
        client.get(f"{web.address}/nowhere?token={CANARY}", headers={"Authorization": ""})
    with half_sent(web, token) as connection:
        web.running.send_signal(signal.SIGINT)
        eventually(lambda: not listens(web))
        connection.sendall(BODY[9:])
        assert connection.recv(65536).startswith(b"HTTP/1.1 202 ")
    assert web.end() == 0

    told = [json.loads(line) for line in web.lines if line.startswith("{")]
    seen = {line["message"]: line for line in told if "status" in line}
    facts = seen["GET /api/v1/jobs"]
    assert (facts["status"], facts["actor"], facts["tenant"]) == (200, "tenant:tests", "acme")
    assert (facts["request"], facts["level"], facts["ms"] > 0) == ("r-7", "info", True)
    assert (seen["GET /nowhere"]["status"], seen["GET /nowhere"]["actor"]) == (404, "nobody")
    assert "private" not in web.log
    assert CANARY not in web.log


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_behind_a_proxy_addresses_have_its_prefix(serve, haulwright):
    token = new_token(haulwright, "--tenant", "acme")
    web = serve("--root-path", "/haulwright/")
    with web.client(token) as client:
        made = client.post("/jobs", json={"task": "price", "args": {"sku": "A1"}})
        assert made.headers["location"] == f"/haulwright/api/v1/jobs/{made.json()['id']}"
        assert client.get("/openapi.json").json()["servers"] == [{"url": "/haulwright"}]
        listed = client.get("/jobs", headers={"X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https"})
        assert listed.status_code == 200
    web.stop()
    assert "address=203.0.113.7" in web.log
    assert "lets you in" not in web.log  # there is a token


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_without_a_token_it_listens_here_alone_and_lets_its_user_in_by_a_link(serve, haulwright):
    refused = haulwright("serve", "-A", SHOP, "--host", "0.0.0.0", "--port", "0")  # noqa: S104 - that is refused
    assert refused.code == 2
    assert "token create NAME" in refused.err

    web = serve()
    link = re.search(r"http://\S+", web.line_with("lets you in, once"))[0]
    with web.client() as browser:
        assert browser.get(link).status_code == 303
        assert browser.get("/jobs").status_code == 200
        assert browser.get(link).status_code == 401
    web.stop()
    assert "actor=admin:local:" in web.log
    assert web.log.count(link.partition("ticket=")[2]) == 1  # where it was printed


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_settings_of_a_login_that_do_not_fit_end_the_start(process, database_url):
    running = process("serve", "--database", database_url, extra={"HAULWRIGHT_JWT_SECRET": CANARY})
    _, told = running.communicate(timeout=60)

    assert running.returncode == 2
    assert "without jwt_issuer" in told
    assert CANARY not in told


def test_no_secret_is_in_any_answer_line_or_event(serve, haulwright, monkeypatch):
    ours = new_token(haulwright, "--tenant", "acme")
    issuer = Issuer("HS256", CANARY.encode())
    good, expired, foreign = issuer.token(), issuer.token(exp=1), Issuer("HS256", b"another").token()
    figures = {"SECRET": CANARY, "ISSUER": ISSUER, "AUDIENCE": AUDIENCE}
    extra = {f"HAULWRIGHT_JWT_{name}": value for name, value in figures.items()}
    texts = []
    web = serve("-v", extra=extra)
    for token in (ours, good, expired, foreign, CANARY, f"hw_000000000000_{CANARY}"):
        with web.client(token) as client:
            answers = (
                client.get("/jobs"),
                client.get("/jobs", params={"q": f"tag:{token}", "limit": "x"}),
                client.post("/jobs", json={"task": token, "args": {}}),
                client.post("/jobs", json={"task": "price", "args": {"sku": 7}}, headers={"Idempotency-Key": "k"}),
                client.post("/jobs", content=b"{", headers={"Content-Type": "application/json"}),
                client.post("/jobs/x/retry", headers={"Haulwright-Tenant": "globex"}),
            )
            texts += [f"{answer.status_code} {answer.headers} {answer.text}" for answer in answers]
    assert web.stop() == 0
    assert {text[:3] for text in texts} >= {"200", "401", "422"}
    for name, value in extra.items():
        monkeypatch.setenv(name, value)
    shown = (
        haulwright("settings").out + haulwright("settings", "--json").out + haulwright("event", "list", "--json").out
    )
    everything = "\n".join([*texts, web.log, shown])
    secrets = {CANARY, ours, good, expired, foreign, ours.rpartition("_")[2], good.rpartition(".")[2]}
    assert [secret for secret in secrets if secret in everything] == []
