from __future__ import annotations

import threading
from email.utils import parsedate_to_datetime

import httpx2
import pytest

RUNS = "/apify/v2/actors/apify~instagram-post-scraper/runs"
INPUT = {"username": ["acme"], "resultsLimit": 3}


def test_a_lost_reply_leaves_a_run_that_is_paid_for(sandbox, client):
    sandbox.faults.add(path="/apify/v2/actors/*/runs", method="POST", kind="lost_reply")

    with pytest.raises(httpx2.RemoteProtocolError):
        client.post(RUNS, json=INPUT)

    assert len(sandbox.books.paid_runs()) == 1
    assert client.post(RUNS, json=INPUT).status_code == 201


def test_a_refused_request_is_not_carried_out(sandbox, client):
    sandbox.faults.add("refuse", path=RUNS)

    with pytest.raises(httpx2.RemoteProtocolError):
        client.post(RUNS, json=INPUT)

    assert sandbox.books.paid_runs() == []


@pytest.mark.parametrize(("carried_out", "paid"), [(False, 0), (True, 1)])
def test_a_failing_status_comes_before_or_after_the_request_is_carried_out(sandbox, client, carried_out, paid):
    sandbox.faults.add("status", code=503, body="busy", headers={"X-Why": "test"}, carried_out=carried_out)

    answer = client.post(RUNS, json=INPUT)

    assert (answer.status_code, answer.text, answer.headers["X-Why"]) == (503, "busy", "test")
    assert len(sandbox.books.paid_runs()) == paid


def test_a_rate_limit_says_how_long_to_wait_in_seconds_or_as_a_date(sandbox, client):
    sandbox.faults.add("rate_limit", retry_after=30)
    sandbox.faults.add("rate_limit", retry_after=30, as_date=True)

    in_seconds, as_date = client.get("/files/a"), client.get("/files/a")

    assert (in_seconds.status_code, in_seconds.headers["Retry-After"]) == (429, "30")
    assert parsedate_to_datetime(as_date.headers["Retry-After"]).timestamp() == sandbox.clock.now() + 30


def test_a_truncated_body_ends_the_connection_early(sandbox, client):
    sandbox.faults.add("truncate", path="/files/*", after_bytes=1000)

    with pytest.raises(httpx2.RemoteProtocolError):
        client.get("/files/a?size=5000")

    assert sandbox.files.bytes_sent("a") == 1000


def test_a_length_that_is_wrong_is_noticed(sandbox, client):
    sandbox.faults.add("wrong_length", length_error=10)

    with pytest.raises(httpx2.RemoteProtocolError):
        client.get("/files/a?size=100")


def test_a_request_hangs_until_it_is_released(sandbox, client):
    sandbox.faults.add("hang", seconds=60)
    answers = []
    asking = threading.Thread(target=lambda: answers.append(client.get("/files/a").status_code))
    asking.start()
    sandbox.books.wait_for(lambda books: books.count(path="/files/a"))

    assert sandbox.books.requests(path="/files/a")[0].status is None
    sandbox.faults.release()
    asking.join(5)

    assert answers == [200]


def test_a_slow_body_is_slower_than_an_impatient_client(sandbox, client):
    sandbox.faults.add("slow", seconds=30, chunk_bytes=10)

    with pytest.raises(httpx2.ReadTimeout):
        client.get("/files/a?size=100", timeout=0.1)


def test_a_rule_meets_only_what_it_names_and_only_as_often_as_it_says(sandbox, client):
    sandbox.faults.add("status", path="/files/*", containing="chosen", skip=1, times=2)

    statuses = [client.get(f"/files/{name}?note={name}").status_code for name in ("other", *["chosen"] * 4)]

    assert statuses == [200, 200, 500, 500, 200]
    assert sandbox.faults.waiting() == []


def test_a_fault_of_an_unknown_kind_is_refused_with_the_known_ones(sandbox):
    with pytest.raises(ValueError, match="lost_reply"):
        sandbox.faults.add("explode")
    with pytest.raises(ValueError, match="after_bytes"):
        sandbox.faults.add("truncate", bytes=3)
