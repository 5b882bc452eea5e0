"""Who asks the brief for something sees and changes what is its tenant's, and nothing else."""

from __future__ import annotations

import pytest

from haulwright import events
from haulwright.errors import Forbidden, NotFound
from tests.apps.principals import ACME, ADMIN, GLOBEX, SUPPORT

FEED = "https://news.example/feed"


@pytest.fixture
def feed(world):
    """A feed of acme."""
    return world.brief.add(ACME, FEED)


def test_a_foreign_tenant_sees_and_changes_nothing(world, feed):
    world.paper("daily-ledger")
    world.read()
    world.cluster()
    world.publish()

    assert list(world.brief.list_feeds(GLOBEX)) == []
    assert world.brief.list_briefs(GLOBEX) == []
    assert world.brief.newest_day(GLOBEX) is None
    assert world.brief.ingest(GLOBEX) == []
    for attempt in (
        lambda: world.brief.get_feed(GLOBEX, feed.id),
        lambda: world.brief.change_feed(GLOBEX, feed.id, enabled=False),
        lambda: world.brief.get_brief(GLOBEX),
    ):
        with pytest.raises(NotFound):
            attempt()
    assert world.brief.get_feed(ACME, feed.id).enabled


@pytest.mark.parametrize("who", [SUPPORT, ADMIN.for_tenant("acme")], ids=lambda who: who.kind)
def test_support_and_admins_act_for_the_tenant_that_they_name_and_are_on_record(world, feed, who):
    changed = world.brief.change_feed(who, feed.id, name="Renamed")

    assert (changed.tenant, changed.name) == ("acme", "Renamed")
    (change,) = [event for event in world.bench.store.events.latest() if event.name == "feed.changed"]
    assert (change.tenant, change.actor) == ("acme", who.actor)


@pytest.mark.usefixtures("feed")
def test_an_admin_sees_the_feeds_of_all_tenants(world):
    world.brief.add(GLOBEX, FEED)

    assert [one.tenant for one in world.brief.list_feeds(ADMIN)] == ["acme", "globex"]


@pytest.mark.parametrize("verb", ["retain", "would_remove", "list_runs"])
def test_what_concerns_all_tenants_is_refused_to_one_and_the_refusal_is_an_event(world, verb):
    with pytest.raises(Forbidden):
        getattr(world.brief, verb)(ACME)

    (refusal,) = world.bench.store.events.latest(name=events.REQUEST_REFUSED)
    assert (refusal.tenant, refusal.actor) == ("acme", ACME.actor)
