"""The poll of a workspace: one request for many syncs, for as long as there are any."""

from __future__ import annotations

import pytest

from haulwright.engine.transitions import State

JOBS = "/airbyte/v1/jobs"


def looks(world):
    """How often a workspace was looked at."""
    asked = world.sandbox.books.requests(path=JOBS, method="GET")
    return [entry for entry in asked if "workspaceIds" in entry.query]


def test_one_request_looks_after_all_syncs_of_a_workspace(world):
    for tenant in ("acme", "globex", "initech"):
        world.connect(tenant)
        world.dispatch(tenant=tenant)
    world.sandbox.airbyte.script(duration_seconds=300, times=None)
    world.bench.drain()
    before = len(looks(world))

    world.go("30 s", times=5)

    assert len(looks(world)) - before == 5
    assert len(world.bench.all_enqueued(world.syncs.poll_task)) == 1


def test_each_workspace_has_a_poll_of_its_own(world):
    for place, workspace in enumerate(world.sandbox.airbyte.workspaces):
        world.connect(name=f"shop-{place}", workspace=workspace)
        world.dispatch(f"shop-{place}")
    world.bench.drain()

    assert len(world.bench.all_enqueued(world.syncs.poll_task)) == 3


def test_the_poll_ends_with_the_last_sync_and_nothing_is_asked_any_more(world):
    world.connect()
    world.finish(world.dispatch())
    world.go("1 min")
    (poll,) = world.bench.all_enqueued(world.syncs.poll_task)
    asked = world.sandbox.books.count()

    world.go("2 min", times=2)

    assert poll.state is State.SUCCEEDED
    assert world.sandbox.books.count() == asked


def test_a_later_look_asks_only_for_what_changed(world):
    world.connect()
    world.sandbox.airbyte.script(duration_seconds=7200)
    world.dispatch()
    world.go("30 min", times=2)

    first, *_, last = [entry.query["updatedAtStart"][0] for entry in looks(world)]

    assert first.startswith("2023-12-31T23:50")
    assert last.startswith("2024-01-01T00:20")


def test_an_attempt_that_fails_inside_airbyte_is_no_end(world):
    world.connect()
    world.sandbox.airbyte.script(attempt_fails=True, duration_seconds=600)

    job = world.finish(world.dispatch(), "2 min")

    assert (job.state, job.attempts, len(world.remote())) == (State.SUCCEEDED, 1, 1)


@pytest.mark.parametrize("fault", [{"kind": "status", "code": 500}, {"kind": "refuse"}], ids=["500", "no connection"])
def test_a_poll_that_gets_no_answer_goes_on_later_and_never_dies(world, fault):
    world.connect()
    job_id = world.dispatch()
    world.bench.drain()
    world.sandbox.faults.add(path=JOBS, method="GET", containing=world.workspace, times=4, **fault)

    job = world.finish(job_id)

    (poll,) = world.bench.all_enqueued(world.syncs.poll_task)
    assert (job.state, job.attempts) == (State.SUCCEEDED, 1)
    assert (poll.state is State.DEAD, poll.error_code) == (False, None)


def test_a_poll_that_is_lost_is_begun_again_by_the_next_dispatch(world):
    world.connect()
    world.sandbox.airbyte.script(duration_seconds=600)
    job_id = world.dispatch()
    world.bench.drain()
    (poll,) = world.bench.all_enqueued(world.syncs.poll_task)
    world.app.operations().jobs.cancel(poll.id)

    world.go("5 min", times=3)

    assert world.job(job_id).state is State.SUCCEEDED


def test_a_poll_that_dies_before_it_wakes_a_sync_leaves_that_to_the_next_look(world):
    world.connect()
    job_id = world.dispatch()
    world.bench.drain()
    (poll,) = world.bench.all_enqueued(world.syncs.poll_task)
    with world.bench.crash(world.syncs.poll_task, after=f"seen:{poll.fence + 1}"):
        world.go("1 min")
    assert world.job(job_id).state is State.QUEUED

    world.go("1 min", times=5)

    assert [event.actor for event in world.events(job_id, "job.retry")] == ["system:syncs.poll"]
    assert world.job(job_id).state is State.SUCCEEDED


def test_a_sync_that_nobody_polls_looks_for_itself(world, monkeypatch):
    monkeypatch.setattr(world.syncs._dispatch, "_watch", lambda _tx: 0)
    monkeypatch.setattr(world.syncs._polls, "of", lambda *_: world.syncs.dispatch_task.call())
    world.connect()
    world.sandbox.airbyte.script(duration_seconds=600)

    job_id = world.dispatch()
    world.go("30 min", times=3)

    assert world.job(job_id).state is State.SUCCEEDED
