"""Connections: what cannot work is refused before anything is written."""

from __future__ import annotations

import pytest

from haulwright.apps.syncs.application import Syncs
from haulwright.apps.syncs.connections import NewConnection
from haulwright.apps.syncs.credentials import from_environment
from haulwright.apps.syncs.errors import ActiveJobExists
from haulwright.apps.syncs.plans import HOUR_US
from haulwright.client.app import Haulwright
from haulwright.engine.transitions import State
from haulwright.errors import Conflict, InvalidValue, NotFound
from haulwright.operations.principal import Principal
from haulwright.sources.airbyte import AirbyteRefused


def test_a_connection_is_due_at_once_and_keeps_to_the_plan(world):
    made = world.connect()

    assert (made.interval_us, made.due_at, made.enabled) == (24 * HOUR_US, world.bench.clock.now(), True)
    assert list(world.syncs.connections.all("acme")) == [made]


def test_a_new_plan_is_kept_to_at_once_and_what_was_asked_for_is_remembered(world):
    connections = world.syncs.connections
    connections.set_plan("acme", "enterprise", actor="test")
    world.connect(cadence="2 h")

    intervals = []
    for plan in ("growth", "free", "enterprise"):
        assert connections.set_plan("acme", plan, actor="test") == 1
        intervals.append(connections.get("acme", "shop").interval_us // HOUR_US)

    assert intervals == [6, 24, 2]
    assert [event.data["plan"] for event in world.bench.store.events.latest(name="plan.changed")][-1] == "enterprise"


BAD = [
    ({"workspace_id": ""}, "workspace: '' is missing"),
    ({"cadence": "1 h"}, "cannot be chosen on the plan free"),
    ({"cadence": "soon"}, "cadence"),
    ({"credential": "unheard-of"}, "AIRBYTE_API_TOKEN, each with _UNHEARD_OF"),
    ({"credential": "../etc"}, "is no name of a credential"),
    ({"external_account_id": ""}, "external account"),
    ({"external_account_id": "x" * 151}, "more than 150 characters"),
    ({"connector_id": "two\nlines"}, "connection"),
]


def test_what_cannot_work_is_refused_and_nothing_is_written(world):
    said = {"connector_id": "c", "airbyte_id": "a", "external_account_id": "shop-1", "workspace_id": "w"}

    for changes, why in BAD:
        with pytest.raises(InvalidValue, match=why):
            world.syncs.add(Principal.of_tenant("acme"), NewConnection(**{**said, **changes}))

    assert list(world.syncs.connections.all()) == []


def test_the_workspace_of_the_settings_is_taken_where_none_is_named(bench, monkeypatch):
    monkeypatch.setenv("AIRBYTE_WORKSPACE_ID", "the-workspace")
    monkeypatch.setenv("AIRBYTE_API_TOKEN", "token-of-mine")
    syncs = Syncs(bench_app := Haulwright())
    bench.use(bench_app)

    assert syncs.add(Principal.of_tenant("acme"), NewConnection("c", "a", "shop-1")).workspace_id == "the-workspace"


@pytest.mark.parametrize("tenant", ["acme", "globex"])
def test_a_connection_of_airbyte_belongs_to_one_tenant(world, tenant):
    world.connect()
    again = NewConnection("other", world.airbyte_id(), "shop-1", world.workspace)

    with pytest.raises(Conflict, match="is in use"):
        world.syncs.add(Principal.of_tenant(tenant), again)


def test_the_credential_of_one_tenant_is_no_other_tenants(world):
    world.connect("acme", credential="own-acme")

    with pytest.raises(Conflict, match="cannot be used here"):
        world.connect("globex", credential="own-acme")


@pytest.mark.parametrize(
    ("status", "workspace", "error"),
    [("inactive", None, InvalidValue), ("active", "another", InvalidValue), (None, None, AirbyteRefused)],
)
def test_airbyte_can_be_asked_whether_a_connection_is_as_it_was_told(world, status, workspace, error):
    known = "00000000-0000-4000-8000-000000000000"
    if status:
        world.sandbox.airbyte.script(add={"name": "acme shop", "workspace": world.workspace, "status": status})
        known = world.airbyte_id()
    new = NewConnection("shop", known, "shop-1", workspace or world.workspace)

    with pytest.raises(error):
        world.syncs.add(Principal.of_tenant("acme"), new, check=True)

    assert world.syncs.connections.find("acme", "shop") is None


def test_a_disabled_connection_is_left_alone_until_it_is_enabled(world):
    world.connect(enabled=False)
    world.go("5 min", times=3)
    assert world.remote() == []

    world.syncs.connections.enable("acme", "shop", enabled=True, actor="test")
    world.go("5 min", times=3)

    assert len(world.remote()) == 1


def test_a_connection_that_is_not_there_cannot_be_enabled(world):
    with pytest.raises(NotFound):
        world.syncs.connections.enable("acme", "shop", enabled=True, actor="test")


def test_more_connections_than_a_page_are_all_listed(world, monkeypatch):
    monkeypatch.setattr("haulwright.apps.syncs.connections.PAGE", 2)
    for name in "abcde":
        world.connect(name=name)
    world.connect("globex", "z")

    assert [one.connector_id for one in world.syncs.connections.all()] == ["a", "b", "c", "d", "e", "z"]
    assert [one.connector_id for one in world.syncs.connections.all("globex")] == ["z"]


@pytest.mark.proves("CF-01")
def test_credentials_come_from_the_environment_a_client_before_a_token():
    said = {"AIRBYTE_API_TOKEN": "token-1", "AIRBYTE_API_TOKEN_OWN_ACME": "token-2"}
    client = {**said, "AIRBYTE_CLIENT_ID": "me", "AIRBYTE_CLIENT_SECRET": "secret-3"}

    found = from_environment("shared", said), from_environment("own-acme", said), from_environment("shared", client)

    assert [(one.client_id, one.secret.reveal(), one.is_shared) for one in found] == [
        (None, "token-1", True),
        (None, "token-2", False),
        ("me", "secret-3", True),
    ]
    assert from_environment("own-globex", said) is None
    assert "secret-3" not in repr(found)


def test_a_removed_connection_is_synced_no_more_and_its_past_stays(world, syncs):
    world.connect()
    job_id = world.dispatch()
    world.finish(job_id)

    assert syncs.remove(Principal.of_tenant("acme", "ada"), "shop") is None

    world.go("25 h")
    assert len(world.remote()) == 1
    assert list(syncs.connections.all("acme")) == []
    assert syncs.stats.job("acme", job_id)["status"] == "success"
    (told,) = syncs.app.store.events.latest(name="connection.removed")
    assert (told.actor, told.data["connector_id"]) == ("tenant:ada", "shop")
    with pytest.raises(NotFound):
        syncs.remove(Principal.of_tenant("acme"), "shop")
    world.connect(name="shop again", external_account_id="acme-shop")


def test_a_connection_with_an_active_sync_is_not_removed(world, syncs):
    world.connect()
    job_id = world.dispatch()

    with pytest.raises(ActiveJobExists) as refusal:
        syncs.remove(Principal.of_tenant("acme"), "shop")

    assert (refusal.value.job_id, "--cancel" in refusal.value.hint) == (job_id, True)
    assert world.finish(job_id).state is State.SUCCEEDED
    assert syncs.connections.find("acme", "shop") is not None


@pytest.mark.parametrize("under_way", [False, True])
def test_a_connection_is_removed_with_its_active_sync_where_that_is_wanted(world, syncs, under_way):
    world.connect()
    world.sandbox.airbyte.script(ending="never")
    job_id = world.dispatch()
    if under_way:
        world.bench.drain()

    assert syncs.remove(Principal.of_tenant("acme"), "shop", cancel=True) == job_id
    world.go("1 min", times=3)

    assert world.job(job_id).state is State.CANCELLED
    assert [run.status(world.sandbox.clock.now()) for run in world.remote()] == ["cancelled"] * under_way
