"""Syncs in the dashboard: how often each connection is synced, how that went, and what may be done about it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.apps.syncs.scenes import World
from tests.support.api import Served
from tests.support.application_pages import notice, require_roles, require_same_absence, require_text_only
from tests.support.dashboard import Person, people

HOSTILE = "shop<script>alert(1)</script>"


@pytest.fixture
def walled() -> bool:
    """The database is as `db migrate` leaves it."""
    return True


@pytest.fixture
def served(world: World) -> Iterator[Served]:
    with people(world.app) as served:
        yield served


@pytest.fixture
def acme(served: Served) -> Person:
    return Person(served).log_in("tenant", "acme")


def test_pages_open_for_who_may_read_and_are_there_as_json(world, served):
    world.connect()
    require_roles(served, ["/ui/syncs", "/ui/syncs/connections/shop", "/ui/syncs/stats"])


def test_an_empty_page_says_what_to_type(world, acme):
    assert "haulwright sync add AIRBYTE_CONNECTION --tenant acme" in acme.open("/ui/syncs").text
    assert "haulwright sync dispatch CONNECTION --tenant acme" in acme.open("/ui/syncs/stats").text
    world.connect()
    assert "haulwright sync dispatch shop --tenant acme" in acme.open("/ui/syncs/connections/shop").text


def test_a_connection_says_how_often_it_is_synced_and_how_that_went(world, acme):
    world.connect()
    job_id = world.dispatch()
    world.finish(job_id)

    (row,) = acme.open("/ui/syncs").all("tr[data-row]")
    page = acme.open("/ui/syncs/connections/shop")
    (sync,) = acme.open("/ui/syncs/connections/shop.json").answer.json()["syncs"]

    assert "24 h" in row.text() or "1 day" in row.text()
    assert (sync["job_id"], sync["status"]) == (job_id, "success")
    assert f"/ui/jobs/{job_id}" in [link.attributes["href"] for link in page.all("#syncs a")]
    assert f"{sync['records_synced']:,}" in page.text
    stats = acme.open("/ui/syncs/stats")
    assert "100.0 %" in stats.text
    assert "/ui/syncs/connections/shop" in [link.attributes["href"] for link in stats.all("main td a")]


def test_a_sync_that_failed_says_why(world, acme):
    world.connect()
    world.sandbox.airbyte.script(connection="acme shop", ending="failed", times=None)
    world.finish(world.dispatch(), "6 min")

    assert "dead letter" in acme.open("/ui/syncs/connections/shop").text
    assert "sync_failed" in acme.open("/ui/syncs/connections/shop").text


def test_a_connection_is_synced_left_alone_and_enabled_from_the_page(world, acme):
    world.connect()
    page = acme.open("/ui/syncs/connections/shop")

    assert "syncs it" in notice(acme.submit(page, "/dispatch"))
    assert acme.submit(page, "/dispatch").all(".notice.refused")
    alone = acme.submit(page, "/switch")
    assert "shop is left alone" in notice(alone)
    assert not world.syncs.connections.get("acme", "shop").enabled
    assert "shop is synced from now on" in notice(acme.submit(alone, "/switch"))
    assert world.syncs.connections.get("acme", "shop").enabled


def test_who_may_not_go_below_the_plan_is_told_so_and_support_may(world, served, acme):
    world.connect()
    world.finish(world.dispatch())

    refused = acme.submit(acme.open("/ui/syncs/connections/shop"), "/dispatch")
    assert refused.all(".notice.refused")
    support = Person(served).log_in("support", "acme")
    page = support.open("/ui/syncs/connections/shop")
    assert "syncs it" in notice(support.submit(page, "/dispatch", reason="ticket 8"))


def test_an_admin_sees_the_connections_of_all_and_acts_for_whom_it_names(world, served):
    world.connect("acme")
    world.connect("globex")
    admin = Person(served).log_in("admin")
    links = [str(link.attributes["href"]) for link in admin.open("/ui/syncs").all("th a")]

    assert links == [f"/ui/syncs/connections/shop?tenant={tenant}" for tenant in ("acme", "globex")]
    assert "Connections are each tenant's own" in admin.open("/ui/syncs/connections/shop").text
    assert "shop is left alone" in notice(admin.submit(admin.open(links[1]), "/switch?tenant=globex"))
    assert world.syncs.connections.get("acme", "shop").enabled
    assert not world.syncs.connections.get("globex", "shop").enabled


def test_what_is_anothers_looks_exactly_like_nothing(world, served):
    world.connect()
    require_same_absence(served, "/ui/syncs/connections/{}", "shop", "none")
    stranger = Person(served).log_in("tenant", "globex")
    for action in ("switch", "dispatch"):
        assert stranger.send(f"/ui/syncs/connections/shop/{action}", {"reason": ""}).answer.status_code == 404
        answer = stranger.send(f"/ui/syncs/connections/shop/{action}?tenant=acme", {"reason": ""}).answer
        assert answer.status_code == 403
    assert world.syncs.connections.get("acme", "shop").enabled


def test_hostile_text_is_text(world, acme):
    world.connect(name=HOSTILE)
    world.dispatch(HOSTILE)
    world.bench.drain()

    require_text_only(acme.open("/ui/syncs"))
    require_text_only(acme.open("/ui/syncs/stats"))
    (link,) = acme.open("/ui/syncs").all("th a")
    require_text_only(acme.open(str(link.attributes["href"])))
