"""Prices over HTTP: from an intake and a source to what it is worth, each tenant its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.apps.prices.scenes import World, json_rules
from tests.support.api import Served, ask, problem, serving


@pytest.fixture
def served(world: World) -> Iterator[Served]:
    with serving(world.app) as served:
        yield served


def test_an_intake_is_added_priced_by_a_source_and_valued(world, served):
    client = served.client()
    rules = json_rules(world.sandbox.url)
    rules["url"] += "&api_key=canary-0001"
    source = client.put("/prices/sources/coinhall", json={"rules": rules}).json()
    assert (source["name"], source["enabled"]) == ("coinhall", True)
    assert "canary" not in client.get("/prices/sources/coinhall").text + client.get("/prices/sources").text
    added = client.post("/prices/intakes", json={"intake_id": "crown", "title": "Ardish crown"})
    assert (added.status_code, added.headers["location"]) == (201, "/api/v1/prices/intakes/crown")
    assert client.get("/prices/intakes/crown/valuation").json() == {"valuation": None, "versions": []}

    asked = client.post("/prices/intakes/crown/collect", json={})
    again = client.post("/prices/intakes/crown/collect", json={"sources": ["coinhall"]}).json()["jobs"]
    assert asked.status_code == 202
    assert again == [{**asked.json()["jobs"][0], "created": False}]
    world.bench.drain()

    valuation = client.get("/prices/intakes/crown").json()["valuation"]
    assert valuation["version"] == 1
    assert valuation["low"] <= valuation["centre"] <= valuation["high"]
    assert client.get("/prices/intakes/crown/valuation").json()["versions"][0]["centre"] == valuation["centre"]
    points = client.get("/prices/intakes/crown/points").json()["points"]
    assert {point["dedupe_key"] for point in valuation["points"]} <= {point["dedupe_key"] for point in points}
    chart = client.get("/prices/intakes/crown/chart").json()
    assert (chart["title"], len(chart["points"])) == ("Ardish crown", len(points))
    drawn = client.get("/prices/intakes/crown/chart", params={"form": "svg"})
    assert (drawn.headers["content-type"], drawn.text[:4]) == ("image/svg+xml", "<svg")
    assert "sandbox" in drawn.headers["content-security-policy"]


def test_intakes_and_observations_are_listed_page_by_page(world, served):
    world.source()
    first, second = world.intake("Ardish crown", intake_id="a"), world.intake("Other", intake_id="b")
    world.intake("Ardish crown", tenant="globex", intake_id="c")
    world.collect(first)
    client = served.client()

    def every(path, name, client=client, **params):
        rows, page = [], {"next": None}
        while page["next"] or not rows:
            cursor = {"cursor": page["next"]} if page["next"] else {}
            page = client.get(path, params=params | cursor).json()
            rows += page[name]
        return rows

    assert [row["intake_id"] for row in every("/prices/intakes", "intakes", limit=1)] == ["a", second.intake_id]
    assert [row["intake_id"] for row in every("/prices/intakes", "intakes", served.admin(), limit=2)] == ["a", "b", "c"]
    keys = [row["dedupe_key"] for row in every("/prices/intakes/a/history", "points", limit=2)]
    assert sorted(keys) == sorted(point.dedupe_key for point in world.points(first))
    assert len(keys) > 2


def test_a_source_is_left_alone_and_what_makes_no_sense_is_refused(world, served):
    world.source()
    world.intake("Ardish crown", intake_id="crown")
    client = served.client()

    assert client.post("/prices/sources/coinhall/disable").json()["enabled"] is False
    assert client.post("/prices/intakes/crown/collect", json={"sources": ["coinhall"]}).status_code == 422
    assert client.post("/prices/sources/coinhall/enable").json()["enabled"] is True
    for rules in ({}, {"url": 7}, {"url": "http://169.254.169.254/?q={title}"}, {"url": "x", "listing": []}):
        assert client.put("/prices/sources/bad", json={"rules": rules}).status_code == 422, rules
    local = {**json_rules(world.sandbox.url), "url": "http://10.0.0.1/?q={title}"}
    assert problem(client.put("/prices/sources/bad", json={"rules": local})) == (422, "invalid_value")
    assert problem(client.post("/prices/intakes", json={})) == (422, "invalid_value")
    assert problem(client.post("/prices/intakes", json={"intake_id": "crown", "title": "x"})) == (409, "conflict")
    assert problem(served.admin().post("/prices/intakes", json={"title": "x"})) == (422, "tenant_required")
    assert len(client.get("/prices/sources").json()["sources"]) == 1


ROUTES_WITH_AN_ID = (
    ("GET", "intakes/{intake}", None),
    ("POST", "intakes/{intake}/collect", {}),
    ("GET", "intakes/{intake}/points", None),
    ("GET", "intakes/{intake}/history", None),
    ("GET", "intakes/{intake}/valuation", None),
    ("GET", "intakes/{intake}/chart", None),
    ("GET", "intakes/{intake}/chart?form=svg", None),
    ("GET", "sources/{source}", None),
    ("POST", "sources/{source}/enable", None),
    ("POST", "sources/{source}/disable", None),
)


def test_what_is_anothers_looks_exactly_like_nothing(world, served):
    source = world.source()
    world.source("own", tenant="globex", shop="coinhall")
    intake = world.intake("Ardish crown", intake_id="crown-1887")
    world.collect(intake)
    stranger, own = served.client("globex", **{"X-Request-Id": "r"}), served.client()

    for name in ("coinhall", source.source_id):
        foreign, absent = {"intake": "crown-1887", "source": name}, {"intake": "absent-1887", "source": f"x{name}"}
        for route in ROUTES_WITH_AN_ID:
            assert ask(stranger, "/prices/", route, foreign) == ask(stranger, "/prices/", route, absent), route
            assert ask(stranger, "/prices/", route, absent)[0] in {404, 422}, route
    assert world.prices.sources.get("acme", "coinhall") == source

    for route in ROUTES_WITH_AN_ID:
        assert ask(own, "/prices/", route, {"intake": "crown-1887", "source": "coinhall"})[0] in {200, 202}, route
