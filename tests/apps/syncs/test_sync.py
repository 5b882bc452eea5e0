"""One sync: started once whatever happens, without a worker while it goes on, and ended with its figures."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import pytest

from haulwright.clock import SECOND
from haulwright.engine.transitions import State
from tests.apps.syncs.scenes import QUICK, World, support

JOBS = "/airbyte/v1/jobs"


@pytest.mark.proves("IN-15", "AU-06")
def test_a_sync_ends_with_records_bytes_and_duration(world):
    world.connect()
    world.sandbox.airbyte.script(rows=1234, duration_seconds=90)

    job_id = world.dispatch(correlation_id="req-789")
    job = world.finish(job_id)

    (run,) = world.remote()
    (done,) = world.events(job_id, "job.completed")
    assert (job.state, job.correlation_id, job.attempts) == (State.SUCCEEDED, "req-789", 1)
    assert job.finished_at - job.created_at <= 180 * SECOND
    assert done.data["records_synced"] == 1234
    assert (done.data["run_id"], done.data["duration_seconds"]) == (str(run.id), 90)
    assert done.data["bytes_synced"] == 1234 * 412
    assert world.syncs.connections.get("acme", "shop").last_run_id == run.id


@pytest.mark.proves("AU-02", "LG-05")
def test_the_start_at_airbyte_is_an_event_of_its_own_with_the_run(world):
    world.connect()
    job_id = world.dispatch(correlation_id="req-789")
    world.bench.drain()

    (told,) = world.events(job_id, "job.remote_started")

    assert told.data == {
        "job_id": job_id,
        "connector_id": "shop",
        "run_id": str(world.remote()[0].id),
        "adopted": False,
    }
    assert told.fence == 1
    stream = [event.name for event in world.bench.store.events.of_job(job_id)]
    assert stream[:3] == ["job.queued", "job.started", "job.remote_started"]


def test_no_worker_is_held_and_no_attempt_burnt_while_airbyte_works(world):
    world.connect()
    world.sandbox.airbyte.script(duration_seconds=7200)
    job_id = world.dispatch()
    world.go("5 min", times=6)

    job = world.job(job_id)

    assert (job.state, job.attempts, job.losses) == (State.QUEUED, 0, 0)
    assert job.waiting_on == f"airbyte run {world.remote()[0].id}"


FAULTS = [
    pytest.param({"kind": "lost_reply"}, id="lost reply"),
    pytest.param({"kind": "status", "code": 500, "carried_out": True}, id="500 after it began"),
    pytest.param({"kind": "status", "code": 500}, id="500 before it began"),
    pytest.param({"kind": "refuse"}, id="dropped before it began"),
    pytest.param({"kind": "rate_limit", "retry_after": 5}, id="429"),
]


@pytest.mark.parametrize("seconds", [0, 30], ids=["over at once", "takes a while"])
@pytest.mark.parametrize("fault", FAULTS)
def test_whatever_becomes_of_the_trigger_one_sync_is_started(world, fault, seconds):
    world.connect()
    world.sandbox.airbyte.script(duration_seconds=seconds, times=None)
    world.sandbox.faults.add(path=JOBS, method="POST", **fault)

    job = world.finish(world.dispatch())

    assert job.state is State.SUCCEEDED
    assert len(world.remote()) == 1


@pytest.mark.parametrize(
    "moment",
    [
        {"after": "claim"},
        {"before": "trigger"},
        {"after": "trigger"},
        {"before": "begun:0"},
        {"after": "begun:0"},
        {"before": "settle"},
    ],
    ids=lambda moment: " ".join(*moment.items()),
)
def test_wherever_the_process_dies_one_sync_is_started(world, moment):
    world.connect()
    job_id = world.dispatch()
    with world.bench.crash(world.syncs.sync_task, **moment):
        world.bench.drain()

    job = world.finish(job_id)

    assert job.state is State.SUCCEEDED
    assert len(world.remote()) == 1


def begin_elsewhere(world):
    """A person begins a sync in Airbyte itself."""
    client = world.syncs.clients.of("shared")
    begun = client.airbyte.trigger(world.airbyte_id())
    client._http.close()
    return begun


def test_a_sync_that_runs_already_is_adopted(world):
    world.connect()
    begun = begin_elsewhere(world)

    job = world.finish(world.dispatch())

    assert job.state is State.SUCCEEDED
    assert [run.id for run in world.remote()] == [begun.id]
    assert '"adopted":true' in job.result


@pytest.mark.parametrize("fault", FAULTS)
def test_a_run_that_somebody_else_had_is_not_taken_for_a_sync_that_never_began(world, fault):
    world.connect()
    world.finish(world.dispatch())
    begin_elsewhere(world)
    world.bench.advance("1 h")
    world.sandbox.faults.add(path=JOBS, method="POST", **fault)

    job = world.finish(world.syncs.dispatch(support(), "shop"))

    _first, _theirs, ours = world.remote()
    assert (job.state, json.loads(job.result)["run_id"]) == (State.SUCCEEDED, str(ours.id))


def test_a_trigger_that_died_before_its_request_adopts_nobodys_run(world):
    world.connect()
    job_id = world.dispatch()
    with world.bench.crash(world.syncs.sync_task, before="trigger"):
        world.bench.drain()
    begin_elsewhere(world)

    job = world.finish(job_id, "10 min")

    _theirs, ours = world.remote()
    assert (job.state, json.loads(job.result)["run_id"]) == (State.SUCCEEDED, str(ours.id))


def test_a_sync_that_is_over_when_it_begins_waits_for_no_poll(world):
    world.connect()
    world.sandbox.airbyte.script(duration_seconds=0)
    world.sandbox.faults.add("status", path=JOBS, method="GET", code=500, skip=1, times=None)

    job_id = world.dispatch()
    world.bench.drain()

    assert world.job(job_id).state is State.SUCCEEDED


@pytest.mark.proves("RT-04")
def test_a_run_that_fails_at_airbyte_is_tried_again_with_a_new_one(world):
    world.connect()
    world.sandbox.airbyte.script(ending="failed")

    job_id = world.dispatch()
    job = world.finish(job_id)

    (failed,) = world.events(job_id, "job.failed")
    (retry, *_) = [one for one in world.events(job_id, "job.retry") if "reason" not in one.data]
    assert (job.state, job.attempts, len(world.remote())) == (State.SUCCEEDED, 2, 2)
    assert (failed.data["error_code"], retry.data["retry_count"]) == ("sync_failed", 1)
    assert 45 <= retry.data["delay_seconds"] <= 75


def test_a_run_that_is_cancelled_at_airbyte_ends_the_job_as_cancelled(world):
    world.connect()
    world.sandbox.airbyte.script(ending="cancelled")

    job = world.finish(world.dispatch())

    assert (job.state, len(world.remote())) == (State.CANCELLED, 1)


def test_a_cancelled_job_stops_the_sync_at_airbyte(world):
    world.connect()
    world.sandbox.airbyte.script(ending="never")
    job_id = world.dispatch()
    world.go("1 min")

    world.app.operations(support()).jobs.cancel(job_id, "the shop is closed")
    world.go("1 min")

    assert world.job(job_id).state is State.CANCELLED
    assert world.remote()[0].status(world.sandbox.clock.now()) == "cancelled"
    world.go("1 min", times=2)
    assert [job.state for job in world.bench.all_enqueued(world.syncs.poll_task)] == [State.SUCCEEDED]


def test_a_sync_that_never_ends_is_stopped_and_counts_as_timed_out(bench, sandbox):
    world = World.open(bench, sandbox, replace(QUICK, longest="2 h"))
    world.connect()
    sandbox.airbyte.script(ending="never")

    job_id = world.dispatch()
    world.go("10 min", times=20)

    (failed,) = world.events(job_id, "job.failed")
    first, second = world.remote()
    assert failed.data["error_code"] == "timeout"
    assert first.status(sandbox.clock.now()) == "cancelled"
    assert 2 * 3600 <= second.started - first.started <= 2 * 3600 + 1200


@pytest.mark.proves("RL-01", "RL-03", "SC-03")
def test_triggers_of_a_connection_are_a_minute_apart_whoever_asks(bench, sandbox):
    world = World.open(bench, sandbox, replace(QUICK, account_rate="1000/min", min_interval="60 s", poll="5 s"))
    world.connect()
    sandbox.airbyte.script(duration_seconds=1, times=None)
    for _ in range(3):
        job_id = world.syncs.dispatch(support(), "shop")
        world.finish(job_id, "5 s")

    starts = [run.started for run in world.remote()]
    assert [later - earlier >= 60 for earlier, later in pairwise(starts)] == [True, True]


@pytest.mark.proves("RL-02", "RL-03")
def test_an_external_account_has_a_limit_across_tenants(world):
    for tenant in ("acme", "globex", "initech"):
        world.connect(tenant, external_account_id="shop-456")
        world.dispatch(tenant=tenant)
    world.go("20 s", times=12)

    starts = sorted(run.started for tenant in ("acme", "globex", "initech") for run in world.remote(tenant))
    assert len(starts) == 3
    assert all(later - earlier >= 60 for earlier, later in pairwise(starts))


def test_a_connection_that_was_disabled_meanwhile_is_skipped(world):
    world.connect()
    job_id = world.dispatch()
    world.syncs.connections.enable("acme", "shop", enabled=False, actor="test")

    world.bench.drain()

    job = world.job(job_id)
    assert (job.state, job.reason) == (State.SKIPPED, "the connection shop is disabled")
    assert world.remote() == []


@pytest.mark.proves("SC-01")
def test_no_secret_is_written_down(world):
    world.connect(credential="own-acme")
    world.sandbox.airbyte.script(revoke="client-own-acme")
    world.finish(world.dispatch())

    tables = ("jobs", "history", "events", "effects", "sources", "traffic")
    written = [str(world.rows(f"select * from haulwright_{name}")) for name in tables]  # noqa: S608 - from above
    written.append(str(world.rows("select * from syncs_connections")))
    assert "own-acme-secret" not in "".join(written)


ODD_STARTS = {
    "a number as text": {"kind": "status", "code": 200, "body": '{"jobId": "1001", "status": "PENDING"}'},
    "a page of a gateway": {"kind": "status", "code": 200, "body": "<html>One moment</html>"},
    "a body that is cut": {"kind": "status", "code": 200, "body": '{"jobId": 1001, "sta'},
    "an empty body": {"kind": "status", "code": 204},
    "no number": {"kind": "status", "code": 200, "body": '{"jobId": Infinity, "status": "pending"}'},
    "nested without end": {"kind": "status", "code": 200, "body": "[" * 100_000},
    "502 after it was accepted": {"kind": "status", "code": 502, "body": "<html>Bad gateway</html>"},
    "504 after it was accepted": {"kind": "status", "code": 504},
}


@pytest.mark.proves("IN-15")
@pytest.mark.parametrize("fault", ODD_STARTS.values(), ids=ODD_STARTS)
def test_a_sync_that_was_accepted_runs_once_whatever_the_answer_looks_like(world, fault):
    world.connect()
    world.sandbox.faults.add(path="/airbyte/v1/jobs", method="POST", carried_out=True, **fault)

    job = world.finish(world.dispatch(), "6 min")

    assert (job.state, len(world.remote())) == (State.SUCCEEDED, 1)


def test_a_workspace_with_a_job_that_cannot_be_read_is_polled_all_the_same(world):
    world.connect()
    world.sandbox.airbyte.script(duration_seconds=60, rows=7)
    job_id = world.dispatch()
    world.bench.drain()
    ours = {"jobId": world.remote()[0].id, "status": "succeeded", "rowsSynced": 7, "duration": "PT1M"}
    page = {"data": [{"jobId": "who knows"}, ours]}
    world.sandbox.faults.add(
        "status", path="/airbyte/v1/jobs", method="GET", containing=world.workspace, code=200, body=json.dumps(page)
    )
    world.bench.advance("61 s")
    world.bench.drain()

    assert world.job(job_id).state is State.SUCCEEDED
