"""`haulwright sync`: connections, plans and syncs from the command line."""

from __future__ import annotations

import os
from contextlib import closing

import pytest

from haulwright import Haulwright
from haulwright.apps.syncs.application import Syncs
from haulwright.apps.syncs.cli import command
from haulwright.engine.ids import new_id
from haulwright.sandbox import Sandbox

TENANT = ("--tenant", "acme")


@pytest.fixture
def outside(monkeypatch):
    """An Airbyte on loopback whose syncs are over at once, and the settings that lead there."""
    for name in os.environ:
        if name.startswith("AIRBYTE_"):
            monkeypatch.delenv(name)
    monkeypatch.setattr("haulwright.sources.source.FINGERPRINT_ROUNDS", 10)
    with Sandbox(seed=7) as outside:
        outside.airbyte.script(duration_seconds=0, rows=42, times=None)
        monkeypatch.setenv("AIRBYTE_BASE_URL", f"{outside.url}/airbyte/v1")
        monkeypatch.setenv("SYNCS_ACCOUNT_RATE", "1000/min")
        monkeypatch.setenv("AIRBYTE_CLIENT_ID", "client-of-mine")
        monkeypatch.setenv("AIRBYTE_CLIENT_SECRET", "secret-of-mine-01")
        yield outside


@pytest.fixture
def package():
    return "haulwright.apps.syncs"


@pytest.fixture
def sync(bare, made_database_url, outside):
    """`haulwright sync ...` on a database that has its tables."""
    del outside
    return lambda *words: bare("sync", *words, "--database", made_database_url)


@pytest.fixture
def shop(outside):
    """An active connection at Airbyte: its id and its workspace."""
    return next((one.id, one.workspace) for one in outside.airbyte.connections.values() if one.status == "active")


@pytest.fixture
def added(sync, shop):
    """A connection of acme."""
    airbyte_id, workspace = shop
    answer = sync("add", airbyte_id, *TENANT, "--account", "shop-456", "--workspace", workspace, "--name", "shop")
    assert answer.code == 0, answer.err
    return "shop"


@pytest.fixture
def work(made_database_url):
    """Do what is due."""

    def run():
        with closing(Haulwright(made_database_url)) as app:
            Syncs(app)
            return app.run_worker(queues=("syncs",), until_empty=True, concurrency=2)

    return run


def test_a_connection_is_added_synced_and_shown(sync, added, work):
    job_id = sync("dispatch", added, *TENANT, "--correlation-id", "req-789", "--json").json["job_id"]
    work()

    shown = sync("show", job_id, *TENANT, "--json").json
    assert (shown["status"], shown["records_synced"], shown["correlation_id"]) == ("success", 42, "req-789")
    assert shown["events"][0]["name"] == "job.queued"
    listed = sync("list", *TENANT, "--jobs", "--json").json["jobs"]
    assert [one["job_id"] for one in listed] == [job_id]
    connection = sync("show", added, *TENANT, "--json").json
    assert (connection["external_account_id"], connection["jobs"][0]["status"]) == ("shop-456", "success")


def test_a_sync_that_nobody_works_on_is_told_with_a_worker_that_can_be_typed(bare, outside, shop, monkeypatch):
    del outside
    monkeypatch.setenv("HAULWRIGHT_DATABASE_URL", "sqlite:///jobs.db")
    airbyte_id, workspace = shop
    bare("sync", "add", airbyte_id, *TENANT, "--account", "shop-456", "--workspace", workspace, "--name", "shop")

    answer = bare("sync", "dispatch", "shop", *TENANT)

    assert "Next: haulwright worker -A haulwright.apps.syncs.worker:app --queues syncs\n" in answer.err


def test_people_read_tables(sync, added, work):
    job_id = sync("dispatch", added, *TENANT).out.strip()
    work()

    assert "shop-456" in sync("list").out
    assert "success" in sync("list", "--jobs", *TENANT).out
    assert "it is done" in sync("show", job_id, *TENANT).out
    assert "24 h" in sync("list", *TENANT).out or "1 day" in sync("list", *TENANT).out
    told = sync("stats").out
    assert "Syncs by state" in told
    assert "1.0" in told


def test_a_second_dispatch_names_the_job_that_is_active(sync, added):
    job_id = sync("dispatch", added, *TENANT).out.strip()

    refused = sync("dispatch", added, *TENANT, "--json")

    assert (refused.code, refused.error["code"]) == (4, "active_job_exists")
    assert job_id in refused.error["hint"]


def test_only_support_syncs_sooner_than_the_plan(sync, added, work):
    sync("dispatch", added, *TENANT)
    work()

    refused = sync("dispatch", added, *TENANT, "--json")
    by_support = sync("dispatch", added, *TENANT, "--as-support", "sam", "--reason", "ticket 4711")

    assert refused.error["code"] == "too_soon"
    assert by_support.code == 0


def test_a_plan_is_shown_and_changed(sync, added):
    assert sync("plan", *TENANT, "--json").json["plan"] == "free"

    changed = sync("plan", "growth", *TENANT, "--json").json

    assert changed == {"tenant": "acme", "plan": "growth", "connections": 1}
    assert sync("show", added, *TENANT, "--json").json["interval_seconds"] == 6 * 3600
    assert sync("plan", "platinum", *TENANT).code == 2


def test_a_dead_letter_is_requeued_by_support_with_its_ticket(sync, added, work, outside, shop):
    outside.airbyte.connections[shop[0]].status = "inactive"
    letter = sync("dispatch", added, *TENANT).out.strip()
    work()
    assert sync("stats", *TENANT, "--json").json["dead_letters"][0]["error_code"] == "conflict"
    outside.airbyte.connections[shop[0]].status = "active"

    words = ("--as-support", "sam", "--reason", "active again", "--correlation-id", "ticket-4711", "--json")
    made = sync("requeue", letter, *TENANT, *words).json
    work()

    shown = sync("show", made["job_id"], *TENANT, "--json").json
    assert (made["requeued_from"], shown["status"], shown["correlation_id"]) == (letter, "success", "ticket-4711")


def test_a_connection_is_disabled_and_enabled(sync, added):
    assert sync("enable", added, *TENANT, "--off", "--json").json["enabled"] is False
    assert "is disabled" in sync("dispatch", added, *TENANT).err
    assert sync("enable", added, *TENANT, "--json").json["enabled"] is True


def test_what_does_not_exist_is_not_found(sync, added):
    for words in (("show", "nothing"), ("show", added, "--tenant", "globex"), ("dispatch", "nothing")):
        tenant = () if "--tenant" in words else TENANT
        assert sync(*words, *tenant).code == 3


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--workspace", "somewhere-else"), "is not where Airbyte has the connection"),
        (("--every", "1 h"), "cannot be chosen on the plan free"),
        (("--credential", "own-acme"), "AIRBYTE_API_TOKEN"),
        ((), "AIRBYTE_WORKSPACE_ID"),
    ],
)
def test_a_connection_that_cannot_work_is_refused_early(sync, shop, words, why):
    unchecked = () if "--workspace" in words else ("--unchecked",)
    workspace = ("--workspace", shop[1]) if words and "--workspace" not in words else ()

    refused = sync("add", shop[0], *TENANT, "--account", "shop-456", *words, *workspace, *unchecked)

    assert (refused.code, why in refused.err) == (2, True)
    assert sync("list", "--json").json == {"connections": []}


def test_a_credential_that_airbyte_refuses_is_told_before_anything_is_added(sync, shop, outside):
    outside.airbyte.script(revoke="client-of-mine")

    refused = sync("add", shop[0], *TENANT, "--account", "shop-456", "--workspace", shop[1], "--json")

    assert (refused.code, refused.error["code"]) == (1, "airbyte_auth_failed")
    assert "secret-of-mine-01" not in refused.err
    assert sync("list", "--json").json == {"connections": []}


def test_jobs_are_listed_for_one_tenant(sync):
    assert sync("list", "--jobs").code == 2
    assert sync("list", "--limit", "0").code == 2


def test_without_its_tables_the_command_says_what_to_do(bare, empty_database_url, outside):
    del outside
    if empty_database_url.startswith("sqlite"):
        pytest.skip("SQLite migrates itself")
    bare("db", "migrate", "--database", empty_database_url)

    answer = bare("sync", "list", "--database", empty_database_url)

    assert (answer.code, " db migrate syncs" in answer.err) == (69, True)


@pytest.mark.proves("CLI-05")
def test_syncs_have_a_worker_of_their_own(made_database_url, sync, added, outside, process):
    sync("dispatch", added, *TENANT)
    environment = {"HAULWRIGHT_DATABASE_URL": made_database_url}
    words = ("worker", "-A", "haulwright.apps.syncs.worker:app", "--queues", "syncs", "--until-empty")

    ended = process(*words, extra=environment)

    assert ended.wait(60) == 0, ended.communicate()[1]
    assert len(outside.airbyte.jobs()) == 1
    ended.communicate()


def test_a_connection_is_removed_and_its_active_sync_only_where_that_is_said(sync, added):
    job_id = sync("dispatch", added, *TENANT).out.strip()

    refused = sync("remove", added, *TENANT, "--json")
    removed = sync("remove", added, *TENANT, "--cancel", "--json")

    assert (refused.code, refused.error["code"], "--cancel" in refused.error["hint"]) == (4, "active_job_exists", True)
    assert removed.json == {"tenant_id": "acme", "connector_id": added, "cancelled": job_id}
    assert sync("list", "--json").json == {"connections": []}
    assert sync("show", job_id, *TENANT, "--json").json["status"] == "cancelled"
    assert sync("remove", added, *TENANT).code == 3


WORDS = (
    ("show", "{connection}"),
    ("show", "{job}"),
    ("dispatch", "{connection}"),
    ("dispatch", "{connection}", "--as-support", "sam", "--reason", "ticket 4711"),
    ("enable", "{connection}"),
    ("enable", "{connection}", "--off"),
    ("remove", "{connection}", "--cancel"),
    ("requeue", "{letter}", "--as-support", "sam", "--reason", "ticket 4711"),
)
"""Every way to name a connection or a sync."""
LISTS = {"list", "stats", "plan", "add"}


@pytest.mark.proves("TN-02")
def test_what_is_another_tenants_looks_like_nothing_to_every_verb(sync, added, work, outside, shop):
    outside.airbyte.connections[shop[0]].status = "inactive"
    letter = sync("dispatch", added, *TENANT).out.strip()
    work()
    job = sync("dispatch", added, *TENANT, "--as-support", "sam", "--reason", "again").out.strip()
    theirs, nobodys = {"connection": added, "job": job, "letter": letter}, {"connection": "nothing"}

    assert {verb for verb, *_ in WORDS} | LISTS == set(command.commands)
    for words in WORDS:
        foreign, absent = (
            sync(*(word.format(**ids) for word in words), "--tenant", "globex", "--json")
            for ids in (theirs, nobodys | {"job": new_id(), "letter": new_id()})
        )
        assert (foreign.code, absent.code, foreign.error["code"]) == (3, 3, "not_found"), words
    other = ("--tenant", "globex", "--json")
    assert sync("list", *other).json == {"connections": []}
    assert sync("list", "--jobs", *other).json == {"jobs": []}
    assert not any(sync("stats", *other).json.values())
    assert sync("show", job, *TENANT, "--json").json["status"] == "queued"
