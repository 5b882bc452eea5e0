"""Syncs over HTTP, as programs of tenants, of support and of admins use them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from haulwright.engine.ids import new_id
from tests.apps.syncs.scenes import World
from tests.support.api import Served, ask, problem, serving


@pytest.fixture
def served(world: World) -> Iterator[Served]:
    with serving(world.app) as served:
        yield served


def test_a_connection_is_added_and_its_sync_asked_for_once_and_followed_to_its_end(world, served):
    client = served.client()
    world.sandbox.airbyte.script(add={"name": "acme shop", "workspace": world.workspace, "status": "active"})
    body = {
        "airbyte_connection_id": world.airbyte_id(),
        "external_account_id": "shop-456",
        "connector_id": "shop",
        "workspace_id": world.workspace,
    }
    added = client.post("/syncs/connections", json=body)
    assert (added.status_code, added.headers["location"]) == (201, "/api/v1/syncs/connections/shop")
    assert problem(client.post("/syncs/connections", json=body)) == (409, "conflict")

    key = {"Idempotency-Key": "a1"}
    asked = client.post("/syncs/connections/shop/dispatch", json={"correlation_id": "t-1"}, headers=key)
    again = client.post("/syncs/connections/shop/dispatch", json={"correlation_id": "t-1"}, headers=key)
    other = client.post("/syncs/connections/shop/dispatch", json={})
    job_id = asked.json()["job_id"]
    assert (asked.status_code, asked.headers["location"]) == (202, f"/api/v1/jobs/{job_id}")
    assert again.json() == asked.json()
    assert problem(other) == (409, "active_job_exists")

    world.finish(job_id)

    (job,) = client.get("/syncs/jobs", params={"connection": "shop", "status": "success"}).json()["jobs"]
    assert (job["job_id"], job["records_synced"] > 0, job["correlation_id"]) == (job_id, True, "t-1")
    assert client.get(f"/syncs/jobs/{job_id}").json() == job
    assert client.get(asked.headers["location"].removeprefix("/api/v1")).json()["state"] == "succeeded"
    assert client.get("/syncs/connections/shop").json()["synced_at"] is not None
    assert client.get("/syncs/stats").json()["states"] == [{"status": "success", "jobs": 1}]


def test_only_support_syncs_sooner_than_the_plan_allows_gives_plans_and_requeues(world, served):
    world.connect()
    world.sandbox.airbyte.script(connection="acme shop", ending="failed", times=None)
    client, support = served.client(), served.support()
    letter = client.post("/syncs/connections/shop/dispatch", json={}).json()["job_id"]
    world.finish(letter, "6 min")

    assert problem(client.post("/syncs/connections/shop/dispatch", json={})) == (409, "too_soon")
    assert problem(client.put("/syncs/plan", json={"plan": "growth"})) == (403, "forbidden")
    assert problem(client.post(f"/syncs/jobs/{letter}/requeue", json={})) == (403, "forbidden")
    assert client.get("/syncs/plan").json()["plan"] == "free"

    assert support.put("/syncs/plan", json={"plan": "growth"}).json()["connections"] == 1
    assert client.get("/syncs/plan").json()["plan"] == "growth"
    requeued = support.post(f"/syncs/jobs/{letter}/requeue", json={})
    assert (requeued.status_code, requeued.json()["requeued_from"]) == (202, letter)
    assert problem(support.post(f"/syncs/jobs/{letter}/requeue", json={})) == (409, "already_requeued")
    assert problem(support.put("/syncs/plan", json={"plan": "gold"})) == (422, "invalid_value")
    assert problem(support.post("/syncs/connections/shop/dispatch", json={})) == (409, "active_job_exists")
    assert served.admin().get("/syncs/stats").json()["retries"][0]["error_code"] == "sync_failed"


def test_a_connection_is_left_alone_enabled_again_and_removed_with_its_sync(world, served):
    world.connect()
    client = served.client()

    assert client.post("/syncs/connections/shop/disable").json()["enabled"] is False
    assert problem(client.post("/syncs/connections/shop/dispatch", json={})) == (422, "invalid_value")
    assert client.post("/syncs/connections/shop/enable").json()["enabled"] is True
    job_id = client.post("/syncs/connections/shop/dispatch", json={}).json()["job_id"]

    assert problem(client.delete("/syncs/connections/shop")) == (409, "active_job_exists")
    assert client.delete("/syncs/connections/shop", params={"cancel": True}).json()["cancelled"] == job_id
    assert problem(client.get("/syncs/connections/shop")) == (404, "not_found")
    assert client.get(f"/jobs/{job_id}").json()["state"] == "cancelled"


def test_connections_are_listed_page_by_page_and_each_sees_its_own(world, served):
    for tenant, name in (("acme", "one"), ("acme", "three"), ("acme", "two"), ("globex", "one")):
        world.connect(tenant, name)

    def names(client):
        found, cursor = [], None
        while True:
            page = client.get("/syncs/connections", params={"limit": 2} | ({"cursor": cursor} if cursor else {})).json()
            found += [(row["tenant_id"], row["connector_id"]) for row in page["connections"]]
            cursor = page["next"]
            if cursor is None:
                return found

    acme = [("acme", "one"), ("acme", "three"), ("acme", "two")]
    assert names(served.client()) == acme
    assert names(served.client("globex")) == [("globex", "one")]
    assert names(served.admin()) == [*acme, ("globex", "one")]
    assert names(served.admin(**{"Haulwright-Tenant": "globex"})) == [("globex", "one")]
    assert names(served.client(**{"Haulwright-Tenant": "globex"})) == acme


ROUTES_WITH_AN_ID = (
    ("GET", "connections/{name}", None),
    ("POST", "connections/{name}/enable", None),
    ("POST", "connections/{name}/disable", None),
    ("POST", "connections/{name}/dispatch", {}),
    ("DELETE", "connections/{name}", None),
    ("GET", "jobs/{job}", None),
)


def test_what_is_anothers_looks_exactly_like_nothing(world, served):
    world.connect()
    before, job_id = world.connect("acme", "second"), world.dispatch()
    foreign, absent = {"name": "second", "job": job_id}, {"name": "absent", "job": new_id()}
    stranger = served.client("globex", **{"X-Request-Id": "r"})

    for route in ROUTES_WITH_AN_ID:
        assert ask(stranger, "/syncs/", route, foreign) == ask(stranger, "/syncs/", route, absent), route
        assert ask(stranger, "/syncs/", route, absent)[0] == 404

    assert world.syncs.connections.get("acme", "second") == before
    assert world.job(job_id).finished_at is None


def test_support_of_another_tenant_finds_no_dead_letter_to_requeue(world, served):
    world.connect()
    job_id, absent = world.dispatch(), new_id()
    stranger = served.client(None, role="support", **{
        "Haulwright-Tenant": "globex", "Haulwright-Reason": "t", "X-Request-Id": "r",
    })  # fmt: skip
    foreign, none = (stranger.post(f"/syncs/jobs/{each}/requeue", json={}) for each in (job_id, absent))
    assert foreign.status_code == 404
    assert foreign.text.replace(job_id, "ID") == none.text.replace(absent, "ID")


def test_an_admin_who_names_no_tenant_is_told_the_header_where_one_is_needed(world, served):
    world.connect()
    for method, path, body in (
        ("GET", "plan", None), ("GET", "connections/shop", None), ("POST", "connections/shop/dispatch", {}),
        ("GET", "jobs", None),
    ):  # fmt: skip
        answer = served.admin().request(method, f"/syncs/{path}", **({"json": body} if body is not None else {}))
        assert problem(answer) == (422, "tenant_required")
        assert "Haulwright-Tenant" in answer.json()["hint"]
    admin = served.admin(**{"Haulwright-Tenant": "acme"})
    assert admin.post("/syncs/connections/shop/dispatch", json={}).status_code == 202


def test_texts_that_no_database_takes_are_refused_wherever_they_are(served):
    client = served.client()
    new = {"airbyte_connection_id": "a", "external_account_id": "b", "workspace_id": "c"}
    for text in ("a\0b", "half \ud800"):
        body = json.dumps({**new, "connector_id": text})  # spelled out, as JSON can
        answer = client.post("/syncs/connections", content=body, headers={"Content-Type": "application/json"})
        assert problem(answer) == (422, "invalid_request")
    assert problem(client.get("/syncs/connections/a%00b")) == (422, "invalid_value")
    assert problem(client.get("/syncs/jobs", params={"connection": "\0"})) == (422, "invalid_value")
    assert problem(client.post("/syncs/connections", json={**new, "tenant": "globex"})) == (422, "invalid_request")
