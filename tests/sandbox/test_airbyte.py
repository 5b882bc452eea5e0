from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from haulwright.sandbox.airbyte.jobs import iso_duration, offset_date_time

CREDENTIALS = {"client_id": "mine", "client_secret": "s", "grant_type": "client_credentials"}


@pytest.fixture
def airbyte(client):
    """The client with a fresh token."""
    token = client.post("/airbyte/v1/applications/token", json=CREDENTIALS).json()["access_token"]
    client.headers["Authorization"] = f"Bearer {token}"
    return client


def connection_named(sandbox, name):
    return next(one.id for one in sandbox.airbyte.connections.values() if one.name == name)


@pytest.fixture
def shopify(sandbox):
    return connection_named(sandbox, "Shopify to Warehouse")


def started(airbyte, connection):
    return airbyte.post("/airbyte/v1/jobs", json={"connectionId": connection, "jobType": "sync"})


def seen(airbyte, job):
    return airbyte.get(f"/airbyte/v1/jobs/{job}").json()


def test_a_sync_goes_its_way_by_the_clock(sandbox, airbyte, shopify):
    job = started(airbyte, shopify).json()
    shapes = [job]
    for _ in range(2):
        sandbox.clock.advance(15)
        shapes.append(seen(airbyte, job["jobId"]))

    assert [shape["status"] for shape in shapes] == ["pending", "running", "succeeded"]
    assert "duration" not in shapes[0]
    assert shapes[1]["rowsSynced"] < shapes[2]["rowsSynced"]
    assert (shapes[2]["duration"], "lastUpdatedAt" in shapes[1], "lastUpdatedAt" in shapes[2]) == ("PT30S", False, True)


def test_a_second_sync_is_refused_while_one_runs_and_the_first_can_be_found(sandbox, airbyte, shopify):
    job = started(airbyte, shopify).json()["jobId"]
    sandbox.clock.advance(10)

    refused = started(airbyte, shopify)
    running = airbyte.get("/airbyte/v1/jobs", params={"connectionId": shopify, "status": "running"}).json()["data"]

    assert (refused.status_code, refused.json()["title"]) == (409, "try-again-later")
    assert refused.json()["data"]["message"] == f"A sync is already running for: {shopify}"
    assert [one["jobId"] for one in running] == [job]


def test_of_many_who_start_a_sync_at_once_one_succeeds(sandbox, airbyte, shopify):
    with ThreadPoolExecutor(8) as crowd:
        answers = list(crowd.map(lambda _: started(airbyte, shopify).status_code, range(8)))

    assert sorted(answers) == [200, *[409] * 7]
    assert len(sandbox.airbyte.jobs(shopify)) == 1


def test_incomplete_is_no_end(sandbox, airbyte, shopify):
    sandbox.airbyte.script(attempt_fails=True, duration_seconds=100)
    job = started(airbyte, shopify).json()["jobId"]
    statuses = []
    for seconds in (55, 10, 40):
        sandbox.clock.advance(seconds)
        statuses.append(seen(airbyte, job)["status"])

    assert statuses == ["incomplete", "running", "succeeded"]


def test_jobs_fail_or_never_end_by_script(sandbox, airbyte, shopify):
    sandbox.airbyte.script(ending="failed", connection="Shopify to Warehouse")
    sandbox.airbyte.script(ending="never")
    stuck = started(airbyte, connection_named(sandbox, "Stripe to Postgres")).json()["jobId"]
    failing = started(airbyte, shopify).json()["jobId"]
    sandbox.clock.advance(600)

    assert (seen(airbyte, failing)["status"], seen(airbyte, stuck)["status"]) == ("failed", "running")


def test_a_job_is_cancelled_once(airbyte, shopify):
    job = started(airbyte, shopify).json()["jobId"]

    first, second = (airbyte.delete(f"/airbyte/v1/jobs/{job}") for _ in range(2))

    assert (first.json()["status"], second.status_code) == ("cancelled", 409)
    assert second.json()["type"].endswith("#409-state-conflict")


def test_a_token_lives_as_long_as_it_says_and_then_is_refused(sandbox, client):
    sandbox.airbyte.script(token_seconds=60)
    given = client.post("/airbyte/v1/applications/token", data=CREDENTIALS).json()
    mine = {"Authorization": f"Bearer {given['access_token']}"}

    def status():
        return client.get("/airbyte/v1/workspaces", headers=mine).status_code

    before = status()
    sandbox.clock.advance(60)

    assert (given["expires_in"], before, status()) == (60, 200, 401)


def test_a_token_that_somebody_brings_is_welcome_until_it_is_revoked(sandbox, client):
    def status(headers):
        return client.get("/airbyte/v1/connections", headers=headers).status_code

    mine = {"Authorization": "Bearer token-of-my-own"}
    before = status(mine)
    sandbox.airbyte.script(revoke="token-of-my-own")

    assert (before, status(mine)) == (200, 401)
    refused = ({"Authorization": ""}, {"Authorization": "Bearer"}, {"Authorization": "Basic bWU6bWU="})
    assert [status(headers) for headers in refused] == [401, 401, 401]


def test_a_revoked_client_gets_no_token_and_its_tokens_end(sandbox, airbyte):
    sandbox.airbyte.script(revoke="mine")

    assert airbyte.post("/airbyte/v1/applications/token", json=CREDENTIALS).status_code == 401
    assert airbyte.get("/airbyte/v1/workspaces").json()["type"].endswith("#invalid-api-key")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Zendesk to Postgres", "error:connection/locked"),
        ("Mailchimp to Lake", "#409-state-conflict"),
        ("Old Magento to Warehouse", "#409-state-conflict"),
    ],
)
def test_a_connection_in_no_state_to_run_says_why(sandbox, airbyte, name, kind):
    refused = started(airbyte, connection_named(sandbox, name))

    assert refused.status_code == 409
    assert refused.json()["type"].endswith(kind)
    assert refused.headers["Content-Type"].startswith("application/problem+json")
    assert sandbox.airbyte.jobs() == []


def test_a_connection_can_be_switched_on(sandbox, airbyte):
    idle = connection_named(sandbox, "Mailchimp to Lake")

    changed = airbyte.patch(f"/airbyte/v1/connections/{idle}", json={"status": "active"})

    assert changed.json()["status"] == "active"
    assert started(airbyte, idle).status_code == 200


def test_a_client_sees_only_the_workspaces_that_it_was_granted(sandbox, airbyte, shopify):
    workspace = next(key for key, name in sandbox.airbyte.workspaces.items() if name == "Harbour Coffee")
    sandbox.airbyte.script(grant={"mine": [workspace]})

    listed = airbyte.get("/airbyte/v1/connections").json()["data"]

    assert {one["workspaceId"] for one in listed} == {workspace}
    assert started(airbyte, shopify).status_code == 404


def test_many_jobs_are_read_page_by_page(sandbox, airbyte):
    for connection in [one.id for one in sandbox.airbyte.connections.values() if one.status == "active"]:
        started(airbyte, connection)
        sandbox.clock.advance(1)

    numbers, address = [], "/airbyte/v1/jobs?limit=3&orderBy=createdAt|DESC"
    while address:
        page = airbyte.get(address).json()
        numbers += [job["jobId"] for job in page["data"]]
        address = page.get("next")

    assert numbers == sorted(numbers, reverse=True)
    assert len(numbers) == 7


@pytest.mark.parametrize("body", [{"connectionId": "no-uuid", "jobType": "sync"}, {"jobType": "sync"}])
def test_a_request_without_sense_is_a_bad_request(airbyte, body):
    assert airbyte.post("/airbyte/v1/jobs", json=body).json()["title"] == "bad-request"


def test_times_and_durations_are_written_as_java_does():
    assert offset_date_time(1_790_856_000) == "2026-10-01T12:00Z"
    assert offset_date_time(1_790_856_007) == "2026-10-01T12:00:07Z"
    assert [iso_duration(seconds) for seconds in (0, 61, 29_172)] == ["PT0S", "PT1M1S", "PT8H6M12S"]
