"""The timeline of a job is complete, whatever happened to it: every attempt has its start, its end and its worker."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import pytest

from haulwright import Bury, Context, Haulwright, Permanent, Principal, Retry, Retryable, Skip, Snooze, Tx
from haulwright.engine.ids import new_id
from haulwright.events import FIELDS

app = Haulwright()
ADMIN = Principal.admin("root", "because")
FACTS = ("connector_id", "records_synced")


@dataclass
class Synced:
    records_synced: int
    seconds: float = 0.5


script: list[object] = []


@app.task(retry=Retry(3, base="1 min", jitter=0), event_fields=FACTS)
def sync(connector_id: str) -> Synced | Skip | Snooze | Bury:
    step = script.pop(0) if script else None
    if isinstance(step, BaseException):
        raise step
    return step or Synced(6 * len(connector_id))  # type: ignore[return-value] # one of them


@app.task(retry=Retry(3, base="1 min", jitter=0), event_fields=FACTS)
def sync_in_one_commit(ctx: Context, connector_id: str) -> Synced:
    if script:
        raise script.pop(0)
    return ctx.commit("save", save, connector_id, settle=True)


def save(tx: Tx, connector_id: str) -> Synced:
    tx.execute("select 1")
    return Synced(len(connector_id))


@pytest.fixture(autouse=True)
def on_the_bench(bench):
    script.clear()
    bench.use(app)


def story(bench, handle):
    """The names of its events, each checked: its fields are there, it belongs to the job, and time does not go back."""
    events = app.operations(ADMIN).jobs.timeline(handle.id).rows
    for event in events:
        assert set(FIELDS[event.name]) <= event.data.keys(), event
        assert (event.job_id, event.tenant, event.data["job_id"]) == (handle.id, "default", handle.id)
    assert all(one.at <= next_one.at for one, next_one in pairwise(events))
    assert bench.clock.now() >= events[-1].at
    return [event.name.removeprefix("job.") for event in events]


def data_of(handle, name):
    return [event.data for event in app.operations(ADMIN).jobs.timeline(handle.id).rows if event.name == name]


def play(bench, *steps, task=sync):
    """Enqueue a job, let each of its runs do one of these steps, and run it to its end."""
    script.extend(steps)
    handle = task.enqueue("hubspot")
    for _ in range(len(steps) + 1):
        bench.drain()
        bench.advance("10 min")
    return handle


@pytest.mark.proves("AU-06")
def test_success_at_once(bench):
    handle = play(bench)

    assert story(bench, handle) == ["queued", "started", "completed"]
    assert data_of(handle, "job.queued")[0]["connector_id"] == "hubspot"
    assert "records_synced" not in data_of(handle, "job.queued")[0]
    (done,) = data_of(handle, "job.completed")
    assert (done["connector_id"], done["records_synced"]) == ("hubspot", 42)


@pytest.mark.proves("AU-03", "AU-04", "AU-06", "JOB-09", "JOB-20")
def test_retries_and_then_success(bench):
    handle = play(bench, ValueError("first"), Retryable("second", after=5))

    assert story(bench, handle) == [
        "queued", "started", "failed", "retry", "started", "failed", "retry", "started", "completed",
    ]  # fmt: skip
    assert [(d["error_class"], d["error_code"], d["error_message"]) for d in data_of(handle, "job.failed")] == [
        ("ValueError", "value_error", "first"),
        ("Retryable", "retryable", "second"),
    ]
    retries = [(d["retry_count"], d["delay_seconds"]) for d in data_of(handle, "job.retry")]
    assert retries == [(1, 60.0), (2, 5.0)]
    assert data_of(handle, "job.completed")[0]["records_synced"] == 42
    assert all("duration_seconds" in data for data in data_of(handle, "job.completed"))


def test_each_attempt_has_its_number_its_fence_and_its_worker(bench):
    handle = play(bench, ValueError("first"))

    events = [event for event in app.operations(ADMIN).jobs.timeline(handle.id).rows if event.name != "job.queued"]
    assert [(event.attempt, event.fence) for event in events] == [(1, 1)] * 3 + [(2, 2)] * 2
    assert {event.worker for event in events} == {"bench"}


@pytest.mark.proves("AU-05", "DL-01", "DL-05")
def test_a_spent_budget_ends_in_a_dead_letter(bench):
    handle = play(bench, ValueError("one"), ValueError("two"), ValueError("three"))

    assert story(bench, handle)[-2:] == ["started", "dead_lettered"]
    (dead,) = data_of(handle, "job.dead_lettered")
    assert (dead["reason"], dead["retry_count"], dead["error_message"]) == ("attempts_exhausted", 2, "three")


def test_a_permanent_error_and_a_task_that_gives_up_are_dead_at_once(bench):
    raised, said = play(bench, Permanent("gone")), play(bench, Bury("no such shop"))

    assert story(bench, raised) == story(bench, said) == ["queued", "started", "dead_lettered"]
    assert [data_of(one, "job.dead_lettered")[0]["reason"] for one in (raised, said)] == ["permanent", "no such shop"]


def test_a_snooze_is_told_and_burns_no_attempt(bench):
    handle = play(bench, Snooze(30, "shop.example"))

    assert story(bench, handle) == ["queued", "started", "snoozed", "started", "completed"]
    (snoozed,) = data_of(handle, "job.snoozed")
    assert (snoozed["delay_seconds"], snoozed["gate"]) == (30.0, "shop.example")
    assert [event.attempt for event in app.operations().jobs.timeline(handle.id).rows] == [None, 1, 1, 1, 1]


def test_a_skip(bench):
    handle = play(bench, Skip("nothing new"))

    assert story(bench, handle) == ["queued", "started", "skipped"]
    assert data_of(handle, "job.skipped")[0]["reason"] == "nothing new"


@pytest.mark.proves("HB-04", "HB-05")
def test_a_lost_lease_is_told_with_who_held_it_and_how_it_was_found(bench):
    handle = sync.enqueue("hubspot")
    with bench.crash(sync, after="claim"):
        bench.drain()
    bench.advance("121 s")
    bench.drain()

    names = story(bench, handle)
    assert names[:3] == ["queued", "started", "lease_expired"]
    assert names[-2:] == ["started", "completed"]
    (lost,) = data_of(handle, "job.lease_expired")
    assert (lost["losses"], lost["detected_by"]) == (1, "sweep")


def test_a_cancel_of_a_waiting_job(bench):
    handle = sync.enqueue("hubspot")
    app.operations(ADMIN).jobs.cancel(handle.id, "not needed")

    assert story(bench, handle) == ["queued", "cancelled"]
    (event,) = [event for event in app.operations().jobs.timeline(handle.id).rows if event.name == "job.cancelled"]
    assert (event.actor, event.data["reason"]) == ("admin:root", "not needed")


def test_a_cancel_of_a_running_job_is_told_after_its_start(bench):
    handle = sync.enqueue("hubspot")
    bench.store.leases.claim(new_id(), ["default"])
    app.operations(ADMIN).jobs.cancel(handle.id, "not needed")

    assert story(bench, handle) == ["queued", "started", "cancel_requested"]
    bench.advance("121 s")
    bench.drain()
    assert story(bench, handle) == ["queued", "started", "cancel_requested", "lease_expired", "cancelled"]


@pytest.mark.proves("DL-02")
def test_a_requeue_is_told_by_the_dead_letter(bench):
    handle = play(bench, Permanent("gone"))
    made = app.operations(ADMIN).dead_letters.requeue(handle.id)

    assert story(bench, handle) == ["queued", "started", "dead_lettered", "requeued"]
    (event,) = data_of(handle, "job.requeued")
    assert (event["successor"], event["reason"]) == (made.id, "because")


@pytest.mark.proves("AU-06")
@pytest.mark.parametrize("failures", [[], [ValueError("first")]])
def test_a_job_that_settles_itself_tells_the_same_facts(bench, failures):
    handle = play(bench, *failures, task=sync_in_one_commit)

    assert story(bench, handle)[-2:] == ["started", "completed"]
    (done,) = data_of(handle, "job.completed")
    assert (done["connector_id"], done["records_synced"]) == ("hubspot", 7)


def test_a_job_past_its_deadline(bench):
    handle = sync.using(deadline="1 h", delay="59 min").enqueue("hubspot")
    bench.advance("2 h")
    bench.drain()

    assert story(bench, handle) == ["queued", "dead_lettered"]
