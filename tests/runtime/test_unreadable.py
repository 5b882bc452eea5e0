"""A worker beside rows that it cannot read: it starts, says so once, and does everything else."""

from __future__ import annotations

import logging

import pytest

from haulwright import events
from haulwright.engine.schedule import ScheduleSpec
from haulwright.engine.source import source_limits
from haulwright.engine.transitions import State
from haulwright.runtime.identity import this_process
from haulwright.runtime.maintenance import Maintenance
from haulwright.runtime.observers import Observers
from haulwright.settings import Settings
from tests.runtime.waiting import eventually
from tests.stores.scenes import claim_one, new_job


def write(store, sql):
    store.database.transact(lambda connection: connection.execute(sql))


@pytest.fixture
def bad_rows(app):
    """A schedule that is due, a source and a worker, of which this version can read none."""
    store = app.store
    store.schedules.declare(ScheduleSpec.declare("bad", "* * * * *", "work"), new_job(id=""))
    store.sources.declare("bad", source_limits(concurrency=2))
    write(store, "update haulwright_schedules set tz = 'Mars/Phobos', next_at = 0")
    write(store, "update haulwright_sources set overridden = '{\"colour\": 1}'")
    store.workers.register(this_process("bad"), ["default"], [])
    write(store, "update haulwright_workers set queues = '{' where name = 'bad'")
    return store


@pytest.mark.usefixtures("bad_rows")
def test_a_worker_starts_beside_rows_that_it_cannot_read_and_does_all_the_rest(app, start_worker, caplog):
    """It opens the slots of another schedule, takes back a lease, and runs jobs; of each bad row it tells once."""
    app.source("bad", concurrency=3)

    @app.task(lease="1 s")
    def work():
        return 1

    app.schedule("good", "* * * * *", work)
    app.declare_schedules()
    write(app.store, "update haulwright_schedules set opened_until = opened_until - 60000000, next_at = 0")
    lost = work.using(queue="other").enqueue()  # nobody serves that queue, and everybody takes back its leases
    lease = claim_one(app.store, "018f2f6e-7c1a-7abc-8def-0123456789ab", "other")
    write(app.store, f"update haulwright_jobs set lease_expires_at = {lease.leased_at}")  # noqa: S608 - our own

    with caplog.at_level(logging.ERROR, "haulwright.worker"):
        start_worker()
        assert work.enqueue().result(90) == 1
        eventually(lambda: lost.job().losses == 1)
        eventually(lambda: app.store.schedules.slots("good"))
        eventually(lambda: len(app.store.events.latest(name=events.ROW_UNREADABLE)) == 3)

    record = [(event.data["noun"], event.data["name"]) for event in app.store.events.latest(name=events.ROW_UNREADABLE)]
    assert sorted(record) == [("schedule", "bad"), ("source", "bad"), ("worker", "bad")]
    lines = [line for line in caplog.messages if "put aside" in line]
    assert sorted(line.split()[1] for line in lines) == ["schedule", "source", "worker"]


def test_a_schedule_that_is_put_aside_is_told_of_once_and_tried_again_when_it_is_mended(bench, monkeypatch):
    store = bench.store
    maintenance = Maintenance(store, this_process("w"), Observers("w"), Settings.load())
    store.schedules.declare(ScheduleSpec.declare("s", "* * * * *", "work"), new_job(id=""))
    write(store, "update haulwright_schedules set tz = 'Mars/Phobos'")
    bench.advance("1 min")

    assert [maintenance.open_slots() for _ in range(3)] == [0, 0, 0]
    assert len(store.events.latest(name=events.ROW_UNREADABLE)) == 1
    write(store, "update haulwright_schedules set tz = 'UTC'")
    assert maintenance.open_slots() == 0
    monkeypatch.setattr("haulwright.runtime.rows_aside.ASIDE_SECONDS", 0.0)
    assert maintenance.open_slots() == 1


def test_a_schedule_whose_job_cannot_be_made_keeps_no_other_from_its_slots(bench):
    """Its row can be read, and what it says cannot be written."""
    store = bench.store
    maintenance = Maintenance(store, this_process("w"), Observers("w"), Settings.load())
    for name in ("a", "b"):
        store.schedules.declare(ScheduleSpec.declare(name, "* * * * *", "work"), new_job(id=""))
    bad = 'replace(template, \'"priority": 0\', \'"priority": "x"\')'
    write(store, f"update haulwright_schedules set template = {bad} where name = 'a'")  # noqa: S608 - our own
    bench.advance("1 min")

    assert maintenance.open_slots() == 1
    (event,) = store.events.latest(name=events.ROW_UNREADABLE)
    assert (event.data["name"], "TypeError" in event.data["reason"]) == ("a", True)


@pytest.mark.parametrize("column", ["args", "tags", "headers", "event_fields"])
@pytest.mark.parametrize("text", ["{", "7"])
def test_a_job_whose_row_cannot_be_read_is_buried_and_the_others_run(app, start_worker, column, text):
    if (column, text) == ("args", "7"):
        text = "{,}"
    ran = []

    @app.task()
    def work(n: int = 0):
        ran.append(n)

    bad, *others = [work.enqueue(n) for n in range(4)]
    write(app.store, f"update haulwright_jobs set {column} = '{text}' where id = '{bad.id}'")  # noqa: S608 - our own

    start_worker()
    for handle in others:
        handle.result(90)
    eventually(lambda: bad.job().state is State.DEAD)

    job = bad.job()
    assert (job.reason, job.error_code, job.attempts) == ("unreadable", "unreadable", 1)
    assert sorted(ran) == [1, 2, 3]
    assert [event.name for event in app.store.events.of_job(bad.id)][-1] == events.JOB_DEAD_LETTERED
