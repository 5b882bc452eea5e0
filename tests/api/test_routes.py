"""Every noun of the engine over HTTP, as those see it who may."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx2
import pytest

from haulwright.errors import DatabaseUnavailable
from tests.api.scenes import SOURCE, bury, furnish


@pytest.fixture(autouse=True)
def things(served):
    return furnish(served.app, "acme", "globex")


@pytest.fixture
def admin(served):
    return served.admin()


def ok(answer, status=200):
    assert answer.status_code == status, answer.text
    return answer.json()


@pytest.mark.parametrize(("path", "methods"), [("/jobs", "GET, POST"), ("/queues", "GET")])
def test_a_method_that_an_address_does_not_take_is_answered_with_all_that_it_takes(served, path, methods):
    answer = served.client().put(path, json={})

    assert (answer.status_code, answer.headers["allow"]) == (405, methods)


def last_hour():
    return datetime.now(UTC).replace(minute=0, second=0, microsecond=0)


@pytest.mark.proves("DL-04")
def test_dead_letters_are_listed_counted_and_put_together_by_what_they_died_of(served):
    bury(served.app, "acme", reason="unauthorized")
    client, admin = served.client(), served.admin()

    first = ok(client.get("/dead-letters", params={"limit": 1}))
    rest = ok(client.get("/dead-letters", params={"cursor": first["next"]}))
    assert [job["tenant"] for job in first["jobs"] + rest["jobs"]] == ["acme", "acme"]
    assert (
        ok(client.get("/dead-letters", params={"q": "tenant:globex state:queued"}))["jobs"] != []
    )  # narrowed to its own

    counts = ok(admin.get("/dead-letters/counts"))["counts"]
    assert {(row["tenant"], row["count"]) for row in counts} == {("acme", 2), ("globex", 1)}
    assert {row["tenant"] for row in ok(client.get("/dead-letters/counts"))["counts"]} == {"acme"}

    (group,) = ok(admin.get("/dead-letters/groups"))["groups"]
    (own,) = ok(client.get("/dead-letters/groups"))["groups"]
    assert (group["count"], own["count"]) == (3, 2)
    assert own["sample_job_id"] == first["jobs"][0]["id"] == group["sample_job_id"]
    assert group["first_seen_at"] <= group["last_seen_at"]


@pytest.mark.proves("DL-03")
def test_support_gives_a_dead_letter_another_life_once_and_a_tenant_does_not(served, things):
    path = f"/dead-letters/{things['acme'].dead}/requeue"
    assert served.client().post(path, json={}).status_code == 403
    support = served.support()

    new = ok(support.post(path, json={"correlation_id": "ticket-7"}))

    assert new["requeued_from"] == things["acme"].dead
    assert ok(support.get(f"/jobs/{new['id']}"))["correlation_id"] == "ticket-7"
    assert support.post(path, json={}).status_code == 409
    assert support.post(f"/dead-letters/{things['globex'].dead}/requeue", json={}).status_code == 404


@pytest.mark.proves("DL-03")
def test_dead_letters_of_a_filter_are_requeued_after_a_look(served, things):
    other = bury(served.app, "acme")
    support = served.support()
    for body in ({}, {"preview": True}):
        assert served.client().post("/dead-letters/requeue", json=body).status_code == 403
    preview = ok(support.post("/dead-letters/requeue", json={"preview": True, "q": "queue:graves"}))
    assert preview == {"would_requeue": [other, things["acme"].dead], "more": False}
    assert support.post("/dead-letters/requeue", json={"limit": 1001}).status_code == 422

    done = ok(support.post("/dead-letters/requeue", json={"limit": 1}))

    assert [new["requeued_from"] for new in done["requeued"]] == [other]
    assert [job["id"] for job in ok(support.get("/dead-letters"))["jobs"]] == [things["acme"].dead]
    (group,) = ok(support.get("/dead-letters/groups"))["groups"]
    assert (group["count"], group["sample_job_id"]) == (1, things["acme"].dead)  # what was requeued waits for nobody


def test_a_queue_is_paused_with_a_reason_and_resumed(served, admin):
    assert ok(admin.post("/queues/default/pause", json={"reason": "deploy"}))["changed"] is True
    queue = ok(admin.get("/queues/default"))
    assert (queue["due"], queue["reason"], queue["paused_by"]) == (4, "deploy", "admin:test-admin")
    own = ok(served.client().get("/queues"))["queues"]
    assert {row["name"]: row["due"] for row in own} == {"acme-queue": 1, "default": 2}
    assert ok(admin.post("/queues/default/resume", json={}))["changed"] is True
    assert ok(admin.get("/queues/a%2Fb"))["name"] == "a/b"


def test_a_schedule_is_seen_triggered_and_paused_by_support(served, things):
    support, name = served.support(), things["acme"].schedule
    assert [row["name"] for row in ok(served.client().get("/schedules"))["schedules"]] == [name]
    assert len(ok(support.get(f"/schedules/{name}/upcoming", params={"count": 3}))["slots"]) == 3
    moment = (last_hour() - timedelta(hours=2)).isoformat()

    triggered = ok(support.post(f"/schedules/{name}/trigger", json={"scheduled_for": moment}))

    assert ok(support.get(f"/jobs/{triggered['job_id']}"))["state"] == "queued"
    assert ok(support.get(f"/schedules/{name}"))["slots"][0]["job_id"] == triggered["job_id"]
    assert support.post(f"/schedules/{name}/trigger", json={"scheduled_for": moment}).status_code == 409
    assert ok(support.post(f"/schedules/{name}/pause", json={}))["changed"] is True
    assert ok(support.get(f"/schedules/{name}"))["paused_by"] == "support:test-support"
    assert ok(support.post(f"/schedules/{name}/resume", json={}))["changed"] is True


def test_a_backfill_says_what_it_would_open_and_opens_it(served, things):
    support, path = served.support(), f"/schedules/{things['acme'].schedule}"
    end = last_hour()
    span = {"first": (end - timedelta(hours=30)).isoformat(), "last": (end - timedelta(hours=1)).isoformat()}
    preview = ok(support.post(f"{path}/backfill", json={**span, "preview": True}))
    assert len(preview["slots"]) == 30
    assert ok(support.get(f"{path}/slots"))["slots"] == []

    opened = ok(support.post(f"{path}/backfill", json=span))["opened"]

    assert [slot["scheduled_for"] for slot in opened] == preview["slots"]
    shown = ok(support.get(path))
    rest = ok(support.get(f"{path}/slots", params={"cursor": shown["next"]}))
    assert [slot["job_id"] for slot in shown["slots"] + rest["slots"]] == [slot["job_id"] for slot in opened][::-1]
    too_long = {**span, "first": (end - timedelta(days=60)).isoformat()}
    assert support.post(f"{path}/backfill", json=too_long).status_code == 422


def test_a_source_is_paused_changed_and_given_back_to_its_code(served, admin):
    path = f"/sources/{SOURCE}"
    assert served.client().get("/sources").status_code == 403
    assert [row["name"] for row in ok(served.support().get("/sources"))["sources"]] == [SOURCE]
    assert ok(admin.post(f"{path}/pause", json={"seconds": 60, "reason": "they asked"}))["seconds"] == 60
    source = ok(admin.get(path))
    assert (source["gate"], source["reason"]) == ("paused", "they asked")
    assert ok(admin.post(f"{path}/resume", json={}))["changed"] is True

    changed = ok(admin.put(f"{path}/limits", json={"rate": "6/min", "concurrency": 1}))
    assert (changed["rate_limit_per_minute"], changed["concurrency"]) == (6, 1)
    assert admin.put(f"{path}/limits", json={"rate": "much"}).status_code == 422
    assert ok(admin.delete(f"{path}/limits"))["rate_limit_per_minute"] == 30
    assert admin.get("/sources/none").status_code == 404


def test_workers_are_for_staff_and_the_overview_is_for_everybody(served, admin):
    served.app.run_worker(until_empty=True)
    (worker,) = ok(admin.get("/workers", params={"everyone": True}))["workers"]
    assert "add" in worker["tasks"]
    assert served.client().get("/workers").status_code == 403

    frame = ok(served.client().get("/overview"))
    assert frame["workers"] == []
    assert {failure["tenant"] for failure in frame["failures"]} == {"acme"}
    assert ok(admin.get("/overview", params={"queue": "default"}))["at"] is not None


def test_an_unknown_effect_is_resolved_by_support_for_its_tenant(served):
    support = served.support()
    assert [effect["key"] for effect in ok(support.get("/effects/unresolved"))["effects"]] == ["pay-acme"]
    body = {"happened": True, "result": {"receipt": 7}, "reason": "asked the bank"}
    assert support.post("/effects/resolve", json={**body, "key": "pay-globex"}).status_code == 404

    resolved = ok(support.post("/effects/resolve", json={**body, "key": "pay-acme"}))

    assert resolved == {"key": "pay-acme", "tenant": "acme", "resolution": "done"}
    assert ok(support.get("/effects/unresolved"))["effects"] == []
    (event,) = ok(support.get("/events", params={"name": "effect.resolved"}))["events"]
    assert (event["actor"], event["data"]["reason"]) == ("support:test-support", "asked the bank")


def test_events_come_in_pages_each_tenant_its_own(served, admin):
    first = ok(served.client().get("/events", params={"limit": 1}))
    before = ok(served.client().get("/events", params={"limit": 1000, "cursor": first["next"]}))
    assert {event["tenant"] for event in first["events"] + before["events"]} == {"acme"}
    assert {event["tenant"] for event in ok(admin.get("/events"))["events"]} >= {"acme", "globex"}
    narrowed = ok(admin.get("/events", headers={"Haulwright-Tenant": "globex"}))
    assert {event["tenant"] for event in narrowed["events"]} == {"globex"}
    unknown = served.client().get("/events", params={"name": "job.dead"})
    assert (unknown.status_code, unknown.json()["hint"]) == (422, "Did you mean job.dead_lettered?")


def test_tasks_say_what_they_take(served):
    tasks = {task["name"]: task for task in ok(served.client().get("/tasks"))["tasks"]}
    schema = tasks["add"]["arguments"]
    assert tasks["add"]["queue"] == "default"
    assert (schema["properties"]["a"]["type"], schema["required"]) == ("integer", ["a"])
    assert schema["additionalProperties"] is False


def test_an_admin_gives_a_program_a_way_in_and_takes_it(served, admin):
    new = ok(admin.post("/tokens", json={"name": "shop", "tenant": "acme", "expires_in": "1 day"}), 201)
    program = served.anonymous(Authorization=f"Bearer {new['token']}")
    job = ok(program.post("/jobs", json={"task": "add", "args": {"a": 1}}), 202)
    assert ok(admin.get(f"/jobs/{job['id']}"))["tenant"] == "acme"
    listed = admin.get("/tokens")
    assert new["prefix"] in {token["prefix"] for token in ok(listed)["tokens"]}
    assert new["token"] not in listed.text

    assert ok(admin.delete(f"/tokens/{new['prefix']}")) == {"prefix": new["prefix"], "revoked": True}
    assert admin.delete(f"/tokens/{new['prefix']}").status_code == 404


def test_who_acts_for_one_tenant_lets_nobody_in_to_another_or_to_all(served):
    admin = served.admin(**{"Haulwright-Tenant": "acme"})
    for body in ({"tenant": "globex"}, {"role": "admin"}):
        assert admin.post("/tokens", json={"name": "x", **body}).status_code in {403, 422}
    assert ok(admin.post("/tokens", json={"name": "x"}), 201)["tenant"] == "acme"


def test_whoever_starts_the_process_sees_that_it_lives_and_is_ready(served):
    with httpx2.Client(base_url=served.address) as anybody:
        assert ok(anybody.get("/healthz")) == {"alive": True}
        ready = {"ready": True, "database": True, "schema": True, "workers_seen": 0}
        assert ok(anybody.get("/readyz")) == ready


def test_a_database_that_is_gone_is_not_ready_and_says_no_more(served, monkeypatch):
    def gone(*_):
        raise DatabaseUnavailable("connection to 10.1.2.3 refused")

    monkeypatch.setattr(served.app.store.database, "read", gone)
    answer = httpx2.get(f"{served.address}/readyz")
    assert answer.status_code == 503
    assert answer.json() == {"ready": False, "database": False, "schema": False, "workers_seen": 0}
    assert httpx2.get(f"{served.address}/healthz").status_code == 200
