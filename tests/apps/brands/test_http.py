"""Brands over HTTP: from a new brand to its snapshots, and nothing of anybody else's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from haulwright.apps.brands.application import Brands
from haulwright.engine.ids import new_id
from haulwright.engine.transitions import State
from tests.apps.brands.scenes import ACME, TENANT, connect, count
from tests.support.api import Served, ask, problem, serving


@pytest.fixture
def served(brands: Brands) -> Iterator[Served]:
    with serving(brands.app) as served:
        yield served


def test_a_brand_is_made_connected_compiled_and_its_snapshots_compared(served, settle):
    client = served.client(TENANT)
    added = client.post("/brands", json={"name": "Acme", "answers": {"mission": "Coffee.", "tone": "dry"}})
    brand = added.json()["id"]
    assert (added.status_code, added.headers["location"]) == (201, f"/api/v1/brands/{brand}")
    source = {"platform": "instagram", "capability": "posts", "identifier": "acme", "settings": {"cap": 5}}
    connection = client.post(f"/brands/{brand}/connections", json=source).json()
    assert client.get(f"/brands/{brand}/connections").json()["connections"] == [connection]
    assert client.get(f"/brands/{brand}/plan").json()["sources"][0]["decision"] == "buy"

    asked = client.post(f"/brands/{brand}/compiles", json={})
    run = asked.json()
    assert (asked.status_code, asked.headers["location"]) == (202, f"/api/v1/jobs/{run['job_id']}")
    assert (run["status"], client.get(f"/brands/{brand}/status").json()["run"]["id"]) == ("pending", run["id"])
    assert problem(client.get(f"/brands/{brand}/snapshot")) == (404, "not_found")
    settle()

    status = client.get(f"/brands/compiles/{run['id']}").json()
    assert (status["run"]["status"], status["snapshot"]) == ("succeeded", 1)
    assert [each["outcome"]["outcome"] for each in status["sources"]] == ["refreshed"]
    assert len(client.get(f"/brands/{brand}/evidence", params={"limit": 3}).json()["evidence"]) == 3
    assert problem(client.get(f"/brands/{brand}/diff")) == (422, "refused")

    changed = client.patch(f"/brands/{brand}", json={"answers": {"mission": "Tea.", "tone": None}}).json()
    assert changed["answers"] == client.get(f"/brands/{brand}").json()["answers"] == {"mission": "Tea."}
    client.post(f"/brands/{brand}/compiles", json={})
    settle()

    diff = client.get(f"/brands/{brand}/diff").json()
    assert (diff["old"], diff["new"], diff["empty"]) == (1, 2, False)
    assert client.get(f"/brands/{brand}/snapshot").json()["number"] == 2
    assert client.get(f"/brands/{brand}/snapshot", params={"number": 1}).json()["number"] == 1


@pytest.mark.proves("PF-01", "ENQ-02")
def test_a_compile_is_asked_for_without_waiting_for_anybody_and_once_for_its_key(brands, brand, served, sandbox):
    connect(brands, brand)
    client = served.client(TENANT)
    for number in range(20):
        answer = client.post(f"/brands/{brand.id}/compiles", json={}, headers={"Idempotency-Key": f"click-{number}"})
        assert (answer.status_code, answer.json()["status"]) == (202, "pending")

    again = client.post(f"/brands/{brand.id}/compiles", json={}, headers={"Idempotency-Key": "click-19"})

    assert again.json() == answer.json()
    assert count(brands, "brands_compile_runs") == 20
    assert {job.state for job in brands.app.operations().jobs.page().jobs} == {State.QUEUED}
    assert sandbox.books.requests() == []


def test_brands_are_listed_page_by_page_and_each_sees_its_own(served):
    client = served.client(TENANT)
    ids = [client.post("/brands", json={"name": f"Brand {number}"}).json()["id"] for number in range(3)]

    first = client.get("/brands", params={"limit": 2}).json()
    second = client.get("/brands", params={"limit": 2, "cursor": first["next"]}).json()

    assert [brand["id"] for brand in first["brands"] + second["brands"]] == ids
    assert second["next"] is None
    assert served.client("globex").get("/brands").json() == {"brands": [], "next": None}
    assert len(served.support(TENANT).get("/brands").json()["brands"]) == 3
    assert problem(served.admin().get("/brands")) == (422, "tenant_required")


ROUTES_WITH_AN_ID = (
    ("GET", "{brand}", None),
    ("PATCH", "{brand}", {"name": "Mine"}),
    ("GET", "{brand}/connections", None),
    ("POST", "{brand}/connections", {"platform": "instagram", "capability": "reels", "identifier": "acme"}),
    ("POST", "{brand}/compiles", {}),
    ("GET", "compiles/{run}", None),
    ("GET", "{brand}/plan", None),
    ("GET", "{brand}/status", None),
    ("GET", "{brand}/snapshot", None),
    ("GET", "{brand}/snapshot?number=1", None),
    ("GET", "{brand}/diff?old=1&new=1", None),
    ("GET", "{brand}/evidence", None),
    ("GET", "{brand}/evidence?connection={connection}", None),
)


def test_what_is_anothers_looks_exactly_like_nothing(brands, brand, served, settle):
    (connection,) = connect(brands, brand, settings={"cap": 3})
    run = brands.compile(ACME, brand.id)
    settle()
    foreign = {"brand": brand.id, "run": run.id, "connection": connection.id}
    absent = {name: new_id() for name in foreign}
    stranger, own = served.client("globex", **{"X-Request-Id": "r"}), served.client(TENANT)
    before = [count(brands, f"brands_{table}") for table in ("connections", "compile_runs")]

    for route in ROUTES_WITH_AN_ID:
        assert ask(stranger, "/brands/", route, foreign) == ask(stranger, "/brands/", route, absent), route
        assert ask(stranger, "/brands/", route, absent)[0] == 404
    assert [count(brands, f"brands_{table}") for table in ("connections", "compile_runs")] == before
    assert brands.get(ACME, brand.id) == brand

    for route in ROUTES_WITH_AN_ID:
        assert ask(own, "/brands/", route, foreign)[0] in {200, 202}, route


def test_what_cannot_be_read_from_is_refused(brand, served):
    client = served.client(TENANT)
    source = {"platform": "myspace", "capability": "posts", "identifier": "acme"}
    assert client.post(f"/brands/{brand.id}/connections", json=source).status_code == 422
    assert problem(client.post(f"/brands/{brand.id}/compiles", json={"prompt_version": "v99"})) == (
        422,
        "invalid_value",
    )
    assert problem(client.get(f"/brands/{brand.id}/snapshot", params={"number": 0})) == (422, "invalid_request")
    assert client.get("/brands/no-id").status_code == 404
    assert problem(client.get(f"/brands/{brand.id}/evidence", params={"connection": new_id()})) == (404, "not_found")
