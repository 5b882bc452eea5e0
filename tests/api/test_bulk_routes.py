"""Bulk actions over HTTP: previewed, started once for a key, run by any worker, watched and stopped."""

from __future__ import annotations

import pytest

from tests.api.scenes import furnish


@pytest.fixture
def things(served):
    return furnish(served.app, "acme", "globex")


def ok(answer, status=200):
    assert answer.status_code == status, answer.text
    return answer.json()


def test_what_is_previewed_is_done_by_a_worker_and_watched_to_its_end(served, things):
    support, body = served.support(), {"act": "requeue", "q": "state:dead tenant:globex,acme"}

    preview = ok(support.post("/bulk/preview", json=body))
    answer = support.post("/bulk", json=body)
    action = ok(answer, 202)
    served.app.run_worker(until_empty=True, queues=["default"])

    assert (preview["count"], preview["more"], preview["sample"][0]["id"]) == (1, False, things["acme"].dead)
    assert "no live worker" in preview["problem"]
    assert answer.headers["Location"].endswith(f"/api/v1/bulk/{action['id']}")
    ended = ok(support.get(f"/bulk/{action['id']}"))
    assert (ended["state"], ended["done"], ended["of"], ended["refused"]) == ("succeeded", 1, 1, 0)
    assert (ended["tenant"], ended["reason"]) == ("acme", "ticket 7")
    events = ok(support.get("/events", params={"name": "bulk.finished"}))["events"]
    assert {event["job_id"]: event["data"]["done"] for event in events} == {action["id"]: 1, things["acme"].bulk: 0}
    assert ok(served.admin().get(f"/jobs/{things['globex'].dead}"))["state"] == "dead"


def test_a_request_that_comes_twice_starts_one_action(served, things):
    client = served.client()
    answers = [client.post("/bulk", json={"act": "cancel"}, headers={"Idempotency-Key": "k"}) for _ in range(2)]

    first, second = (ok(answer, 202) for answer in answers)

    assert first == second
    assert [action["id"] for action in ok(client.get("/bulk"))["actions"]] == [first["id"], things["acme"].bulk]


@pytest.mark.usefixtures("things")
def test_a_tenant_may_not_requeue_many_where_it_may_not_requeue_one(served):
    for path in ("/bulk/preview", "/bulk"):
        assert served.client().post(path, json={"act": "requeue"}).status_code == 403


def test_an_action_is_stopped_once(served, things):
    client = served.client()

    stopped = ok(client.post(f"/bulk/{things['acme'].bulk}/stop", json={"reason": "wrong filter"}))

    assert (stopped["state"], stopped["done"]) == ("cancelled", 0)
    assert client.post(f"/bulk/{things['acme'].bulk}/stop", json={}).status_code == 409
    assert client.post(f"/bulk/{things['globex'].bulk}/stop", json={}).status_code == 404


@pytest.mark.usefixtures("things")
def test_what_is_wrong_with_a_filter_is_told_before_anything_begins(served):
    answer = served.client().post("/bulk", json={"act": "cancel", "q": "stat:dead"})

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_value")
    assert "Did you mean state?" in answer.text
