"""The jobs of an audited task are in the stream of events from their first moment, each event once, when it happens."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import psycopg
import pytest

from haulwright import Context, Haulwright, Permanent, Principal, Retry, Tx
from haulwright.engine.task import UniqueBy

app = Haulwright()
ADMIN = Principal.admin("root", "because")
RETRY = Retry(2, base="1 min", jitter=0)
seen_by_runs: list[list[str]] = []


@app.task(audit=True, retry=RETRY, event_fields=("sku",))
def audited(ctx: Context, sku: str) -> int:
    seen_by_runs.append(names(ctx.store, ctx.job.id))
    if sku == "fails" or (sku == "fails once" and ctx.job.attempts == 1):
        raise ValueError(sku)
    if sku == "dies":
        raise Permanent(sku)
    return ctx.commit("save", lambda _: 1, settle=True) if sku == "commits" else 1


@app.task(audit=True, unique=UniqueBy("sku"), event_fields=("sku",))
def unique_while_active(sku: str) -> None: ...


@app.task(audit=True, unique=UniqueBy("sku", "forever"), event_fields=("sku",))
def unique_for_ever(sku: str) -> None: ...


@app.task(event_fields=("sku",))
def silent(sku: str) -> None: ...


@app.task()
def parent(ctx: Context) -> list[str]:
    (handle,) = ctx.enqueue_many("parts", [audited.call("A1")])
    return [ctx.commit("save", enqueue_in), handle.id]


def enqueue_in(tx: Tx) -> str:
    return tx.enqueue(audited, "A1")


def names(store, job_id) -> list[str]:
    """The names of the events that are written of a job, in the order in which they were."""
    return [event.name for event in store.events.of_job(job_id)]


def callers_connection(bench):
    database = bench.store.database
    return sqlite3.connect(database.path) if database.dialect == "sqlite" else psycopg.connect(bench.database_url)


def on_a_connection(bench, *, commit: bool = True) -> list[str]:
    with closing(callers_connection(bench)) as connection:
        connection.execute("create table if not exists orders (id integer)")
        connection.execute("insert into orders values (1)")
        handles = [audited.using(connection=connection).enqueue("A1")]
        handles += app.enqueue_many([audited.call("A1"), audited.call("A1")], connection=connection)
        (connection.commit if commit else connection.rollback)()
    return [handle.id for handle in handles]


def by_a_run(bench) -> list[str]:
    handle = parent.enqueue()
    bench.drain(limit=1)
    return handle.result(0)


def by_schedule(bench) -> list[str]:
    app.schedules.clear()
    app.schedule("hourly", "0 * * * *", audited, args={"sku": "A1"})
    app.declare_schedules()
    bench.advance("1 h")
    return list(bench.store.schedules.open_due("hourly").jobs)


def by_requeue(bench) -> list[str]:
    dead = audited.enqueue("dies")
    bench.drain()
    return [app.operations(ADMIN).dead_letters.requeue(dead.id).id]


WAYS = {
    "one": lambda _: [audited.enqueue("A1").id],
    "one with a key": lambda _: [audited.using(job_key="k").enqueue("A1").id],
    "one that is unique": lambda _: [unique_while_active.enqueue("A1").id],
    "one that is unique for ever": lambda _: [unique_for_ever.enqueue("A1").id],
    "one with large arguments": lambda _: [audited.enqueue("A" * 20_000).id],
    "many": lambda _: [handle.id for handle in app.enqueue_many([audited.call("A1") for _ in range(3)])],
    "many of all kinds": lambda _: [
        handle.id
        for handle in app.enqueue_many([audited.call("A1"), unique_while_active.call("B1"), unique_for_ever.call("C1")])
    ],
    "a caller's connection": on_a_connection,
    "a run": by_a_run,
    "a person": lambda _: [app.operations(ADMIN).jobs.enqueue("audited", {"sku": "A1"}).id],
    "a schedule": by_schedule,
    "a requeue": by_requeue,
}


@pytest.fixture(autouse=True)
def on_the_bench(bench):
    seen_by_runs.clear()
    bench.use(app)


@pytest.mark.proves("AU-01")
@pytest.mark.parametrize("way", WAYS)
def test_whoever_enqueues_a_job_its_first_event_is_in_the_stream_at_once(bench, way):
    job_ids = WAYS[way](bench)

    for job_id in job_ids:
        (queued,) = [event for event in bench.store.events.of_job(job_id) if event.name == "job.queued"]
        assert (queued.job_id, queued.tenant, queued.at) == (job_id, "default", bench.clock.now())
        assert {"job_id", "tenant_id", "sku"} <= queued.data.keys()
        assert queued.actor == (ADMIN.actor if way in {"a person", "a requeue"} else None)
    assert job_ids


def test_a_job_that_is_rolled_back_and_one_that_exists_leave_no_event(bench):
    assert [names(bench.store, job_id) for job_id in on_a_connection(bench, commit=False)] == [[], [], []]

    for task in (unique_while_active, unique_for_ever):
        first, second = task.enqueue("A1"), task.enqueue("A1")
        assert (second.created, names(bench.store, first.id)) == (False, ["job.queued"])
    assert len(bench.store.events.latest(name="job.queued")) == 2, "nor under an id that no job has"


@pytest.mark.proves("AU-02")
def test_the_start_of_a_run_is_in_the_stream_while_it_runs(bench):
    handle = audited.enqueue("fails once")
    bench.drain()
    bench.advance("1 min")
    bench.drain()

    queued, first, failed, retry, second, completed = bench.store.events.of_job(handle.id)
    assert seen_by_runs == [
        ["job.queued", "job.started"],
        ["job.queued", "job.started", "job.failed", "job.retry", "job.started"],
    ]
    assert [(event.name, event.attempt, event.fence) for event in (first, second)] == [
        ("job.started", 1, 1),
        ("job.started", 2, 2),
    ]
    assert {event.worker for event in (first, failed, retry, second, completed)} == {"bench"}
    assert (first.data["sku"], first.data["worker"], queued.name, completed.name) == (
        "fails once", "bench", "job.queued", "job.completed",
    )  # fmt: skip


@pytest.mark.parametrize("sku", ["A1", "commits", "fails", "fails once", "dies"])
def test_a_timeline_shows_each_event_once(bench, sku):
    """What the stream has is the timeline: nothing is read from the row as well."""
    handle = audited.enqueue(sku)
    for _ in range(3):
        bench.drain()
        bench.advance("1 min")

    stored = names(bench.store, handle.id)
    assert [event.name for event in app.operations(ADMIN).jobs.timeline(handle.id).rows] == stored
    assert stored.count("job.queued") == 1
    assert stored.count("job.started") == handle.job().fence
    ends = {"job.completed": "succeeded", "job.dead_lettered": "dead"}
    assert ends[stored[-1]] == handle.state()


def test_a_run_that_is_lost_has_its_start_once(bench):
    handle = audited.enqueue("A1")
    with bench.crash(audited, after="claim"):
        bench.drain()
    assert names(bench.store, handle.id) == ["job.queued", "job.started"]

    bench.advance("10 min")
    bench.drain()

    started = ["job.started", "job.lease_expired", "job.retry"]
    assert names(bench.store, handle.id) == ["job.queued", *started, "job.started", "job.completed"]


def test_a_task_that_is_not_audited_writes_nothing_for_a_first_success(bench):
    handle = silent.enqueue("A1")
    bench.drain()

    assert names(bench.store, handle.id) == []
    timeline = app.operations(ADMIN).jobs.timeline(handle.id).rows
    assert [event.name for event in timeline] == ["job.queued", "job.started", "job.completed"]
