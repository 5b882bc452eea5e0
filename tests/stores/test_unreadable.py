"""One row that this version cannot read stops nothing: it is told of, left alone, and all others go on."""

from __future__ import annotations

import pytest

from haulwright.engine.outcome import RetryLater
from haulwright.engine.schedule import ScheduleSpec
from haulwright.engine.source import source_limits
from haulwright.errors import UnreadableRow
from haulwright.events import UNREADABLE, Event
from haulwright.stores.events import Place
from haulwright.stores.listing import Condition, JobFilter
from haulwright.stores.workers import Identity
from tests.stores.scenes import BOOM, claim, claim_one, lose, names, new_job, rows, settle, settlement

BAD_SCHEDULES = {
    "a zone that this host does not know": "tz = 'Mars/Phobos'",
    "a cron line that means nothing": "cron = 'whenever'",
    "a field of a newer version": "template = '{\"args\": \"{}\", \"id\": \"\", \"task\": \"work\", \"colour\": 1}'",
    "a template that is no object": "template = '[]'",
    "a template that is no JSON": "template = '{\"args\": '",
    "a template that lacks its task": "template = '{\"id\": \"\"}'",
    "a unique key of a newer version": (
        "template = '{\"args\": \"{}\", \"id\": \"\", \"task\": \"work\", \"unique\": {\"key\": \"k\", \"span\": 2}}'"
    ),
}  # fmt: skip


def write(store, sql):
    store.database.transact(lambda connection: connection.execute(sql))


def declare(store, name, cron="* * * * *"):
    return store.schedules.declare(ScheduleSpec.declare(name, cron, "work"), new_job(id=""))


@pytest.fixture(params=BAD_SCHEDULES.values(), ids=[*BAD_SCHEDULES])
def beside_a_bad_schedule(request, store):
    """Two schedules, of which the first cannot be read."""
    declare(store, "bad")
    declare(store, "good")
    write(store, f"update haulwright_schedules set {request.param} where name = 'bad'")  # noqa: S608 - our own


@pytest.mark.usefixtures("beside_a_bad_schedule")
def test_a_schedule_that_cannot_be_read_keeps_no_other_from_its_slots(store, clock):
    clock.advance(60)

    assert sorted(store.schedules.due()) == ["bad", "good"]
    with pytest.raises(UnreadableRow, match="'bad' cannot be read by this version"):
        store.schedules.open_due("bad")
    assert len(store.schedules.open_due("good").jobs) == 1
    assert store.schedules.due(aside=["bad"]) == []
    assert store.schedules.next_due(aside=["bad"]).seconds == 60
    assert rows(store, "select schedule from haulwright_slots") == [("good",)]


@pytest.mark.usefixtures("beside_a_bad_schedule")
def test_a_schedule_that_cannot_be_read_is_listed_with_the_reason_and_may_be_paused(store):
    bad, good = store.schedules.list()

    assert (bad.spec.name, good.spec.name, good.unreadable) == ("bad", "good", None)
    assert [(row.noun, row.name, row.why) for row in store.unreadable_rows()] == [("schedule", "bad", bad.unreadable)]
    assert store.schedules.pause("bad", tenant=None, actor="me")
    for verb in (store.schedules.trigger, lambda *a, **k: store.schedules.backfill(a[0], 0, 1, **k)):
        with pytest.raises(UnreadableRow):
            verb("bad", None, tenant=None, actor="me")


@pytest.mark.usefixtures("beside_a_bad_schedule")
@pytest.mark.parametrize("cron", ["* * * * *", "0 * * * *"])
def test_the_code_that_declares_a_schedule_mends_its_row(store, clock, cron):
    """With the same times nothing is lost; with others they count from now on."""
    clock.advance(3600)

    assert declare(store, "bad", cron)

    assert store.unreadable_rows() == []
    store.schedules.open_due("bad")


def test_a_source_whose_changes_cannot_be_read_keeps_them_and_the_others_are_declared(store):
    store.sources.declare("bad", source_limits(concurrency=2))
    write(store, 'update haulwright_sources set overridden = \'{"concurrency": 9, "colour": 1}\', concurrency = 9')

    assert not store.sources.declare("bad", source_limits(concurrency=3))
    assert store.sources.declare("good", source_limits(concurrency=3))

    bad, good = store.sources.page().rows
    assert (bad.figures.concurrency, good.figures.concurrency, good.unreadable) == (9, 3, None)
    assert bad.unreadable == "what a person changed has fields that this version does not know: colour"
    assert [(row.noun, row.name) for row in store.unreadable_rows()] == [("source", "bad")]
    with pytest.raises(UnreadableRow):
        store.sources.override("bad", {"budget": 1}, actor="me")


def test_the_changes_of_a_source_that_cannot_be_read_can_be_taken_back(store):
    store.sources.declare("bad", source_limits(concurrency=2))
    write(store, "update haulwright_sources set overridden = '{'")

    store.sources.override("bad", None, actor="me")

    assert store.unreadable_rows() == []


def test_a_source_whose_declaration_cannot_be_read_is_declared_anew(store):
    store.sources.declare("bad", source_limits(concurrency=2))
    write(store, "update haulwright_sources set declared = '{\"colour\": 1}'")

    (bad,) = store.sources.page().rows
    assert (bad.figures.concurrency, bool(bad.unreadable)) == (2, True)
    assert store.sources.declare("bad", source_limits(concurrency=2))
    assert store.unreadable_rows() == []


def test_a_worker_whose_row_cannot_be_read_is_listed_among_the_others(store, worker, other_worker):
    for worker_id, name in ((worker, "bad"), (other_worker, "good")):
        store.workers.register(Identity(worker_id, name, "h", "b", 1, "1", "0"), ["default"], ["work"])
    write(store, "update haulwright_workers set queues = 'default' where name = 'bad'")

    assert {row.name: row.queues for row in store.workers.list()} == {"bad": [], "good": ["default"]}
    assert [(row.noun, row.name) for row in store.unreadable_rows()] == [("worker", "bad")]


@pytest.mark.parametrize("data", ["{", "[]", "null", "7"])
def test_an_event_whose_data_cannot_be_read_is_shown_with_its_text(store, data):
    values = f"(0, 'acme', 'x.bad', '{data}')"
    write(store, f"insert into haulwright_events (at, tenant, name, data) values {values}")  # noqa: S608 - our own
    store.database.transact(lambda connection: store.events.record(connection, [Event("x.good", "acme")]))

    events, _ = store.events.follow(Place(store.events.latest()[0].seq - 1))

    assert [(event.name, event.data) for event in events] == [("x.bad", {UNREADABLE: data}), ("x.good", {})]
    assert store.events.latest() == events


@pytest.mark.parametrize("event_fields", ["{", "[1]", "null"])
def test_a_job_whose_event_fields_cannot_be_read_stops_no_claim_settlement_or_sweep(
    store, clock, worker, make_job, event_fields
):
    """Two of them find their key full in the claim, one ends beside a sound job, and one is lost."""
    bad = [make_job(concurrency_key="k", concurrency_limit=1) for _ in range(2)]
    sound = make_job()
    write(store, f"update haulwright_jobs set event_fields = '{event_fields}' where concurrency_key = 'k'")  # noqa: S608 - our own

    leases = {lease.id: lease for lease in claim(store, worker, 9)}
    assert set(leases) == {bad[0].id, sound.id}
    ends = [settlement(lease, RetryLater(BOOM)) for lease in leases.values()]
    assert store.settlements.settle(ends) == set(leases)
    clock.advance(3600)
    claim(store, worker, 9)
    assert len(lose(store, clock)) == 2

    assert names(store, bad[1].id)[0] == "job.snoozed"


def test_a_search_in_arguments_steps_over_those_that_cannot_be_read(store, worker, make_job):
    bad, good = make_job(args='{"a":"x"}'), make_job(args='{"a":"y"}')
    settle(store, claim_one(store, worker))
    write(store, f"update haulwright_history set args = '{{' where id = '{bad.id}'")  # noqa: S608 - our own

    which = JobFilter(conditions=(Condition("args", "in", ("y",), path=("a",)),))

    assert [job.id for job in store.listing.page(which).jobs] == [good.id]
