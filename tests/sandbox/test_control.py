from __future__ import annotations

import http.client
import threading
from contextlib import closing

import httpx2
import pytest

from haulwright.sandbox import Sandbox

RUNS = "/apify/v2/actors/apify~instagram-post-scraper/runs"
INPUT = {"username": ["acme"]}


def test_faults_and_books_are_open_to_other_processes(client):
    made = client.post("/_sandbox/faults", json={"kind": "status", "path": "/files/*", "code": 502})
    client.get("/files/a")

    (entry,) = client.get("/_sandbox/books", params={"service": "files"}).json()["requests"]

    assert made.status_code == 201
    assert (entry["status"], entry["fault"]) == (502, "status")
    assert client.get("/_sandbox/faults").json() == {"faults": []}


def test_paid_runs_can_be_found_by_a_marker_in_their_input(client):
    client.post(RUNS, json=INPUT | {"_note": "job-17"})
    client.post(RUNS, json=INPUT)

    found = client.get("/_sandbox/books/paid-runs", params={"marker": "job-17"}).json()["paid_runs"]

    assert [run["input"]["_note"] for run in found] == ["job-17"]


def test_the_clock_is_moved_from_outside(sandbox, client):
    before = sandbox.clock.now()

    assert client.post("/_sandbox/advance", json={"seconds": 90}).json() == {"now": before + 90}
    assert client.get("/_sandbox/").json()["now"] == before + 90


def test_scripts_are_written_from_outside(client):
    client.post("/_sandbox/scripts/apify", json={"ending": "FAILED", "duration_seconds": 0})

    assert client.post(RUNS, json=INPUT).json()["data"]["status"] == "FAILED"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("faults", {"kind": "explode"}),
        ("faults", {"kind": "slow", "colour": "red"}),
        ("scripts/apify", {"ending": "WELL"}),
        ("scripts/shop", {"shop": "nowhere"}),
        ("scripts/moon", {}),
        ("advance", {}),
        ("advance", {"seconds": "soon"}),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_reason(client, path, body):
    answer = client.post(f"/_sandbox/{path}", json=body)

    assert answer.status_code == 400
    assert answer.json()["error"]


def test_a_reset_empties_the_world_and_lets_go_what_hangs(sandbox, client):
    client.post(RUNS, json=INPUT)
    sandbox.faults.add("hang", seconds=60, path="/files/*")
    hanging = threading.Thread(target=httpx2.get, args=(f"{sandbox.url}/files/a",))
    hanging.start()
    sandbox.books.wait_for(lambda books: books.count(path="/files/a"))

    client.post("/_sandbox/reset")
    hanging.join(5)

    assert not hanging.is_alive()
    assert (sandbox.books.paid_runs(), sandbox.apify.runs(), sandbox.faults.waiting()) == ([], [], [])


def test_a_sandbox_can_be_left_while_somebody_still_waits():
    with Sandbox() as sandbox:
        sandbox.faults.add("slow", seconds=60)
        failures = []

        def ask() -> None:
            try:
                httpx2.get(f"{sandbox.url}/files/a")
            except httpx2.HTTPError as error:
                failures.append(type(error))

        asking = threading.Thread(target=ask)
        asking.start()
        sandbox.books.wait_for(lambda books: books.count(path="/files/a", status=200))
    asking.join(5)

    assert failures


def test_leaving_closes_connections_that_a_client_keeps_open():
    with Sandbox() as sandbox:
        kept = http.client.HTTPConnection(sandbox.url.removeprefix("http://"), timeout=1)
        kept.request("GET", "/files/a")
        kept.getresponse().read()

    with closing(kept):
        assert kept.sock.recv(1) == b""
