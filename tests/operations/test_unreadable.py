"""Rows that this version cannot read are shown as far as they can be, and doctor names them."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import psycopg
import pytest

from haulwright import Haulwright, Principal
from haulwright.engine.outcome import Bury, Failure
from haulwright.engine.schedule import ScheduleSpec
from haulwright.engine.source import source_limits
from haulwright.errors import IllegalTransition, UnreadableRow
from haulwright.operations.views.jobs import job_view
from haulwright.operations.views.schedules import SCHEDULE_COLUMNS, schedule_view
from haulwright.operations.views.sources import SOURCE_COLUMNS, source_view
from haulwright.runtime.identity import this_process
from haulwright.settings import Settings
from tests.stores.scenes import claim_one, new_job, settle

app = Haulwright()
ADMIN = Principal.admin("root")


@pytest.fixture
def store(bench):
    bench.use(app)
    return bench.store


def write(store, sql):
    store.database.transact(lambda connection: connection.execute(sql))


def write_unchecked(database_url, table, change):
    """Write what the checks of a table forbid, as a newer schema might allow it."""
    if database_url.startswith("sqlite"):
        with closing(sqlite3.connect(database_url.removeprefix("sqlite:///"))) as file, file:
            file.execute("pragma ignore_check_constraints = on")
            file.execute(f"update {table} set {change}")  # noqa: S608 - our own
        return
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(f"alter table {table} drop constraint {table}_state_check")
        connection.execute(f"update {table} set {change}")  # noqa: S608 - our own


def test_a_schedule_that_cannot_be_read_is_shown_among_the_others_and_refused_where_it_is_used(store):
    for name in ("bad", "good"):
        store.schedules.declare(ScheduleSpec.declare(name, "* * * * *", "work"), new_job(id=""))
    write(store, "update haulwright_schedules set tz = 'Mars/Phobos' where name = 'bad'")
    schedules = app.operations(ADMIN).schedules

    bad, good = schedules.page().rows

    assert (bad.next_slot, bad.unreadable, good.unreadable) == (None, "is no time zone", None)
    assert schedule_view(bad)["unreadable"] == "is no time zone"
    assert "cannot be read" in str(SCHEDULE_COLUMNS[-1].value(bad))
    assert {slot.spec.name for slot in schedules.upcoming()} == {"good"}
    uses = (
        schedules.upcoming,
        lambda name: schedules.trigger(name, 0),
        lambda name: schedules.backfill(name, 0, 1),
    )
    for use in uses:
        with pytest.raises(UnreadableRow):
            use("bad")


def test_a_source_that_cannot_be_read_is_shown_with_the_figures_of_its_gate(store):
    store.sources.declare("bad", source_limits(concurrency=2))
    write(store, "update haulwright_sources set declared = '{'")

    (bad,) = app.operations(ADMIN).sources.page().rows

    assert source_view(bad)["concurrency"] == 2
    assert source_view(bad)["unreadable"] == "what the code declared is no JSON object"
    assert "cannot be read" in str(SOURCE_COLUMNS[1].value(bad))


def test_a_job_with_texts_that_are_no_json_is_listed_with_them(store):
    job = new_job()
    store.jobs.enqueue([job, new_job()])
    changes = ", ".join(f"{column} = '{{'" for column in ("args", "tags", "headers", "progress", "event_fields"))
    write(store, f"update haulwright_jobs set {changes} where id = '{job.id}'")  # noqa: S608 - our own
    jobs = app.operations(ADMIN).jobs

    views = {view["id"]: view for view in map(job_view, jobs.page().jobs)}

    assert len(views) == 2
    assert [views[job.id][name] for name in ("args", "tags", "headers", "progress")] == ["{", [], {}, "{"]
    assert [event.name for event in jobs.timeline(job.id).rows] == ["job.queued"]


def test_a_job_in_a_state_that_this_version_does_not_know_is_listed_and_left_alone(store, database_url):
    job = new_job()
    store.jobs.enqueue([job, new_job()])
    write_unchecked(database_url, "haulwright_jobs", f"state = 'resting' where id = '{job.id}'")
    jobs = app.operations(ADMIN).jobs

    assert sorted(view["state"] for view in map(job_view, jobs.page().jobs)) == ["queued", "resting"]
    for verb in (jobs.cancel, jobs.retry):
        with pytest.raises(IllegalTransition, match="resting"):
            verb(job.id)
    assert claim_one(store, this_process("w").id).id != job.id


def test_doctor_names_every_row_that_cannot_be_read(store):
    store.schedules.declare(ScheduleSpec.declare("nightly", "* * * * *", "work"), new_job(id=""))
    store.sources.declare("shop", source_limits())
    store.workers.register(this_process("old"), ["default"], [])
    health = app.operations(ADMIN).health

    assert [f.level for f in health.examine(Settings.load()) if f.check == "rows"] == ["ok"]

    write(store, "update haulwright_schedules set template = '{'")
    write(store, "update haulwright_sources set declared = '{\"colour\": 1}'")
    write(store, "update haulwright_workers set tasks = '7'")
    write(store, "insert into haulwright_events (at, tenant, name, data) values (0, 'acme', 'x', '{')")
    store.jobs.enqueue([new_job()])
    lease = claim_one(store, this_process("w").id)
    settle(store, lease, Bury("unreadable", Failure("UnreadableJob", "unreadable", "its args are no JSON")))
    findings = [finding for finding in health.examine(Settings.load()) if finding.check == "rows"]

    sentences = " ".join(finding.sentence for finding in findings)
    assert [finding.level for finding in findings] == ["problem"] * 3 + ["warn"] * 2
    for word in ("'nightly'", "'shop'", "colour", "'old'", "1 of the newest", "1 dead letters"):
        assert word in sentences
