"""Who asks for prices sees and changes what is its tenant's, and nothing else."""

from __future__ import annotations

import pytest

from haulwright.apps.prices import NewIntake
from haulwright.errors import NotFound, Refused
from tests.apps.prices.scenes import json_rules
from tests.apps.principals import ACME, ADMIN, GLOBEX, SUPPORT


@pytest.fixture
def collected(world):
    """An intake of acme with its source, its points and its valuation."""
    world.source()
    intake = world.intake()
    world.collect(intake)
    return intake


def test_a_foreign_tenant_sees_and_changes_nothing(world, collected):
    prices, intake_id = world.prices, collected.intake_id
    source = prices.sources.all("acme")[0]

    assert prices.list_intakes(GLOBEX, 100) == []
    assert prices.find_intake(GLOBEX, intake_id) is None
    assert prices.list_sources(GLOBEX) == []
    assert prices.list_points(GLOBEX, intake_id) == []
    assert prices.list_history(GLOBEX, intake_id) == []
    assert prices.find_valuation(GLOBEX, intake_id) is None
    assert prices.list_valuations(GLOBEX, intake_id) == []
    assert prices.list_jobs(GLOBEX, intake_id) == []
    for attempt in (
        lambda: prices.get_intake(GLOBEX, intake_id),
        lambda: prices.value_anew(GLOBEX, intake_id),
        lambda: prices.get_source(GLOBEX, source.source_id),
        lambda: prices.enable_source(GLOBEX, source.name, enabled=False),
        lambda: prices.collect(GLOBEX, intake_id),
        lambda: prices.get_job(GLOBEX, prices.list_jobs(ACME, intake_id)[0]["id"]),
    ):
        with pytest.raises(NotFound):
            attempt()
    assert prices.get_source(ACME, source.name).enabled
    assert prices.list_points(ACME, intake_id)


@pytest.mark.parametrize("who", [SUPPORT, ADMIN.for_tenant("acme")], ids=lambda who: who.kind)
def test_support_and_admins_act_for_the_tenant_that_they_name_and_are_on_record(world, who):
    intake = world.prices.add_intake(who, NewIntake(title="Ardish crown"))

    (event,) = world.bench.store.events.latest(name="intake.added")
    assert (intake.tenant, event.tenant, event.actor) == ("acme", "acme", who.actor)


def test_an_admin_sees_the_intakes_of_all_tenants_and_writes_for_none_without_its_name(world):
    for who in (ACME, GLOBEX):
        world.prices.add_intake(who, NewIntake(title="Ardish crown", intake_id="crown"))

    assert [intake.tenant for intake, _ in world.prices.list_intakes(ADMIN, 10)] == ["acme", "globex"]
    with pytest.raises(Refused, match="acts for no tenant"):
        world.prices.put_source(ADMIN, "coinhall", json_rules(world.sandbox.url))
