"""Who asks for syncs: what a tenant may do, what takes support, and who is on record for it."""

from __future__ import annotations

import pytest

from haulwright import events
from haulwright.errors import Forbidden
from tests.apps.principals import ACME, ADMIN, GLOBEX, SUPPORT


@pytest.mark.parametrize(
    "attempt",
    [lambda syncs, _: syncs.set_plan(ACME, "enterprise"), lambda syncs, job_id: syncs.requeue(ACME, job_id)],
    ids=["set_plan", "requeue"],
)
def test_what_takes_support_is_refused_to_a_tenant_and_the_refusal_is_an_event(world, attempt):
    world.connect()
    job_id = world.dispatch()

    with pytest.raises(Forbidden, match="it takes support or admin"):
        attempt(world.syncs, job_id)

    (refusal,) = world.bench.store.events.latest(name=events.REQUEST_REFUSED)
    assert (refusal.tenant, refusal.actor) == ("acme", ACME.actor)


@pytest.mark.parametrize("who", [SUPPORT, ADMIN.for_tenant("acme")], ids=lambda who: who.kind)
def test_support_and_admins_act_for_the_tenant_that_they_name(world, who):
    world.connect()
    world.connect("globex")

    world.syncs.set_plan(who, "growth")
    changed = world.syncs.enable(who, "shop", enabled=False)

    assert (changed.tenant, changed.enabled) == ("acme", False)
    assert [world.syncs.get_plan(each).name for each in (ACME, GLOBEX)] == ["growth", "free"]
    assert world.syncs.find_connection(GLOBEX, "shop").enabled


def test_an_admin_sees_the_connections_of_all_tenants(world):
    world.connect()
    world.connect("globex")

    assert [connection.tenant for connection in world.syncs.list_connections(ADMIN)] == ["acme", "globex"]
    assert [connection.tenant for connection in world.syncs.list_connections(SUPPORT)] == ["acme"]
