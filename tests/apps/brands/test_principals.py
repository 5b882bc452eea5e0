"""Who asks brands for something: by role, on record, and within one tenant."""

from __future__ import annotations

import pytest

from haulwright import events
from haulwright.apps.brands.compat import BrandBrain
from haulwright.errors import Forbidden, NotFound, Refused
from haulwright.operations.access import VERBS
from haulwright.operations.principal import Principal
from tests.apps.brands.scenes import ACME, ADMIN, GLOBEX, SUPPORT, TENANT, connect, count, runs_of

SYSTEM = Principal.system(tenant=TENANT)


def test_a_foreign_tenant_sees_and_changes_nothing(brands, brand):
    connect(brands, brand)

    assert brands.list(GLOBEX) == []
    for attempt in (
        lambda: brands.get(GLOBEX, brand.id),
        lambda: brands.connections(GLOBEX, brand.id),
        lambda: brands.compile(GLOBEX, brand.id),
        lambda: brands.remove(GLOBEX, brand.id),
    ):
        with pytest.raises(NotFound):
            attempt()
    assert brands.get(ACME, brand.id) == brand


@pytest.mark.parametrize("who", [ACME, SUPPORT, ADMIN.for_tenant(TENANT), SYSTEM], ids=lambda who: who.kind)
def test_a_compile_is_asked_for_by_whoever_acts_for_the_tenant(brands, brand, who):
    assert brands.compile(who, brand.id).tenant == TENANT


@pytest.mark.parametrize("who", [SUPPORT, SYSTEM], ids=lambda who: who.kind)
def test_what_cannot_be_had_again_is_removed_by_its_owner_alone_and_a_refusal_is_an_event(brands, brand, who):
    with pytest.raises(Forbidden, match=r"brands\.remove"):
        brands.remove(who, brand.id)

    assert brands.get(ACME, brand.id) == brand
    (refusal,) = brands.app.store.events.latest(name=events.REQUEST_REFUSED)
    assert (refusal.tenant, refusal.actor, refusal.data["verb"]) == (TENANT, who.actor, "brands.remove")


@pytest.mark.parametrize("who", [ACME, ADMIN.for_tenant(TENANT)], ids=lambda who: who.kind)
def test_a_removal_is_on_record_with_who_asked_for_it(brands, brand, who):
    brands.remove(who, brand.id)

    (removal,) = brands.app.store.events.latest(name="brand.removed")
    assert (removal.tenant, removal.actor) == (TENANT, who.actor)


@pytest.mark.parametrize("who", [ACME, SUPPORT], ids=lambda who: who.kind)
def test_what_concerns_all_tenants_is_refused_to_one_and_the_refusal_is_an_event(brands, who):
    with pytest.raises(Forbidden):
        brands.prune(who)

    (refusal,) = brands.app.store.events.latest(name=events.REQUEST_REFUSED)
    assert (refusal.actor, refusal.data["verb"]) == (who.actor, "brands.prune")


def test_who_runs_the_installation_names_the_tenant_it_acts_for(brands):
    with pytest.raises(Refused, match="acts for no tenant"):
        brands.list(ADMIN)
    with pytest.raises(Refused, match="acts for no tenant"):
        BrandBrain(brands, ADMIN)


def test_a_role_that_may_not_compile_normalizes_and_brings_in_nothing(brands, brand, settle, monkeypatch):
    (connection,) = connect(brands, brand, settings={"cap": 3})
    brands.compile(ACME, brand.id)
    settle()
    (run,), words = runs_of(brands, connection), BrandBrain(brands, SUPPORT)
    jobs = count(brands, "haulwright_jobs")
    monkeypatch.setitem(VERBS, "brands.compile", frozenset({"tenant"}))

    for attempt in (
        lambda: words.ingest_source(connection.id),
        lambda: words.normalize_apify_run(run.id, 10),
        lambda: words.enqueue_compile_job(brand.id, run.id),
    ):
        with pytest.raises(Forbidden):
            attempt()
    assert count(brands, "haulwright_jobs") == jobs
    assert len(brands.app.store.events.latest(name=events.REQUEST_REFUSED)) == 3
