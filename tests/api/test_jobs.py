"""Jobs over HTTP, as a program of a tenant sees them."""

from __future__ import annotations

from contextlib import closing

from haulwright.engine.ids import new_id
from tests.support.api import serving


def enqueue(client, task="add", **body):
    answer = client.post("/jobs", json={"task": task, **body})
    assert answer.status_code == 202, answer.text
    return answer.json()["id"]


def test_a_job_is_enqueued_runs_and_shows_its_result(served):
    client = served.client()
    answer = client.post("/jobs", json={"task": "add", "args": {"a": 1}, "tags": ["nightly"]})
    assert answer.status_code == 202
    assert answer.json()["created"] is True

    served.app.run_worker(until_empty=True)

    job = client.get(answer.headers["location"].removeprefix("/api/v1")).json()
    assert (job["state"], job["result"], job["tenant"], job["tags"]) == ("succeeded", 3, "acme", ["nightly"])
    assert [event["name"] for event in client.get(f"/jobs/{job['id']}/timeline").json()["events"]] == [
        "job.queued",
        "job.started",
        "job.completed",
    ]


def test_a_request_with_a_key_is_done_once_and_answered_alike(served):
    client = served.client()
    key = {"Idempotency-Key": "a1"}
    first = client.post("/jobs", json={"task": "add", "args": {"a": 1}}, headers=key)
    again = client.post("/jobs", json={"task": "add", "args": {"a": 1}}, headers=key)
    other = client.post("/jobs", json={"task": "add", "args": {"a": 9}}, headers=key)
    of_another_tenant = served.client("globex").post("/jobs", json={"task": "add", "args": {"a": 1}}, headers=key)

    assert (first.status_code, first.json(), first.headers["location"]) == (
        again.status_code, again.json(), again.headers["location"],
    )  # fmt: skip
    assert (other.status_code, other.json()["code"]) == (409, "key_reused")
    assert of_another_tenant.json()["id"] != first.json()["id"]
    assert len(client.get("/jobs").json()["jobs"]) == 1


def test_jobs_enqueued_together_are_all_there_or_none(served):
    client = served.client()
    jobs = [{"task": "add", "args": {"a": number}} for number in range(3)]
    refused = client.post("/jobs/bulk", json={"jobs": [*jobs, {"task": "add", "args": {"a": "x"}}]})
    assert refused.status_code == 422
    assert client.get("/jobs").json()["jobs"] == []

    answer = client.post("/jobs/bulk", json={"jobs": jobs})

    assert answer.status_code == 202
    assert {job["id"] for job in answer.json()["jobs"]} == {job["id"] for job in client.get("/jobs").json()["jobs"]}


def test_a_list_goes_on_by_its_own_cursor_and_refuses_that_of_another_list(served):
    client = served.client()
    ids = [enqueue(client, args={"a": number}) for number in range(5)]
    first = client.get("/jobs", params={"limit": 2, "q": "task:add"}).json()
    second = client.get("/jobs", params={"limit": 9, "q": "task:add", "cursor": first["next"]}).json()
    assert [job["id"] for job in first["jobs"] + second["jobs"]] == ids[::-1]
    assert second["next"] is None

    for stranger, q in ((client, "task:fail"), (served.client("globex"), "task:add")):
        answer = stranger.get("/jobs", params={"q": q, "cursor": first["next"]})
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_value")


def test_a_job_of_another_tenant_looks_exactly_like_none(served):
    job_id, absent = enqueue(served.client(), args={"a": 1}), new_id()
    stranger = served.client("globex", **{"X-Request-Id": "r"})
    for method, path in (("GET", ""), ("GET", "/why"), ("GET", "/effects"), ("POST", "/retry"), ("POST", "/cancel")):
        body = {"json": {}} if path == "/cancel" else {}
        foreign, none = (stranger.request(method, f"/jobs/{job}{path}", **body) for job in (job_id, absent))
        assert foreign.status_code == 404
        assert foreign.text.replace(job_id, "ID") == none.text.replace(absent, "ID")
    assert served.client().get(f"/jobs/{job_id}").json()["state"] == "queued"


def test_who_has_a_job_already_is_told_that_it_has_not_changed(served):
    client = served.client()
    job_id = enqueue(client, args={"a": 1})
    mark = client.get(f"/jobs/{job_id}").headers["etag"]
    same = client.get(f"/jobs/{job_id}", headers={"If-None-Match": mark})
    assert (same.status_code, same.content) == (304, b"")

    client.post(f"/jobs/{job_id}/cancel", json={})
    assert client.get(f"/jobs/{job_id}", headers={"If-None-Match": mark}).json()["state"] == "cancelled"


def test_what_cannot_be_right_is_one_problem_that_says_where(served):
    client = served.client()
    for body, where in (
        ({"task": "add", "args": {"a": "x"}}, "a"),
        ({"task": "add", "args": {"a": 1}, "tenant": "globex"}, "body.tenant"),
        ({"task": "ad", "args": {"a": 1}}, "'add'"),
        ({"args": {}}, "body.task"),
    ):
        answer = client.post("/jobs", json=body)
        assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
        assert where in answer.text
    answer = client.post("/jobs", content=b"{", headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert client.get("/jobs", params={"q": "stat:dead"}).status_code == 422
    assert (
        client.get("/jobs", params={"tenant": "globex"}).json()["hint"] == "This route takes: cursor, limit, q, stuck."
    )
    assert client.get("/jobs").json()["jobs"] == []


def test_behind_a_proxy_under_a_prefix_a_job_is_found_where_the_answer_says(app):
    with closing(app), serving(app, root_path="/haulwright") as served:
        answer = served.client().post("/jobs", json={"task": "add", "args": {"a": 1}})
        assert answer.headers["location"] == f"/haulwright/api/v1/jobs/{answer.json()['id']}"


def test_without_a_token_nothing_is_answered(served):
    for headers in ({}, {"Authorization": "Bearer hw_000000000000_x"}, {"Authorization": "Basic x"}):
        answer = served.anonymous(**headers).get("/jobs")
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
        assert answer.headers["www-authenticate"] == "Bearer"
        assert "'Bearer TOKEN' in the header Authorization" in answer.json()["hint"]


def test_what_is_no_address_no_method_and_no_json_is_told_with_where_to_look(served):
    client = served.client()

    for lost in (client.get("/job"), client.delete("/jobs")):
        assert lost.json()["hint"] == "Every address and its methods are in /api/v1/openapi.json."
    broken = client.post("/jobs", content='{"task": "add",}', headers={"Content-Type": "application/json"})
    assert broken.status_code == 422
    assert broken.json()["errors"][0]["where"] == "body"
    assert "it is no JSON: " in broken.json()["detail"]
    assert "at character 15" in broken.json()["detail"]
