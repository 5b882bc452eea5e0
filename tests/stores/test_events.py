"""What happened is written beside what it describes, and never changed."""

from __future__ import annotations

import pytest

from haulwright import events
from haulwright.engine.ids import new_id
from haulwright.engine.job import LeaseKey
from haulwright.engine.outcome import Bury, Cancel, Done, RetryLater, Skip, Snooze
from haulwright.engine.schedule import ScheduleSpec
from haulwright.engine.settlement import RELEASE, Settlement
from haulwright.engine.source import source_limits
from haulwright.engine.transitions import State
from haulwright.events import FIELDS, Event
from haulwright.stores.events import EventFilter, Place
from haulwright.stores.job_rows import Requeue
from haulwright.stores.sources.admission import Release, Requester
from haulwright.stores.workers import Identity
from tests.stores.scenes import (
    BOOM,
    START,
    bury,
    claim,
    claim_one,
    count,
    fail,
    lose,
    names,
    new_job,
    rows,
    settle,
    settlement,
)


def record(store, *told):
    store.database.transact(lambda connection: store.events.record(connection, told))


def test_an_event_comes_back_as_it_was_told(store):
    job = new_id()
    told = Event("x.happened", "acme", job, 2, 2**40, "w1", "alice", 7, {"ключ": ["it's", 1.5, None, {"a": True}]})

    record(store, told, Event("y.happened", "acme"))

    first, second = store.events.latest()
    assert first == Event(*(getattr(told, name) for name in Event.__dataclass_fields__ if name != "seq"), seq=first.seq)
    assert (second.at, second.job_id, second.data, second.seq) == (START, None, {}, first.seq + 1)


@pytest.mark.parametrize("statement", ["update haulwright_events set name = 'x'", "delete from haulwright_events"])
def test_events_cannot_be_changed_or_removed(store, statement):
    record(store, Event("x.happened", "acme"))

    with pytest.raises(Exception, match="events are"):
        store.database.transact(lambda connection: connection.execute(statement))

    assert [event.name for event in store.events.latest()] == ["x.happened"]


@pytest.mark.postgres
def test_events_cannot_be_emptied_by_truncate(store):
    if store.database.dialect == "sqlite":
        pytest.skip("SQLite has no truncate")
    record(store, Event("x.happened", "acme"))

    with pytest.raises(Exception, match="events are"):
        store.database.transact(lambda connection: connection.execute("truncate haulwright_events"))


def test_retention_removes_the_oldest_and_leaves_the_door_shut(store, clock):
    for name in "abcd":
        record(store, Event(name, "acme"))
        clock.advance(10)

    assert store.events.prune(age_seconds=15, limit=2) == 2
    assert store.events.prune(age_seconds=15, limit=2) == 1
    assert [event.name for event in store.events.latest()] == ["d"]
    with pytest.raises(Exception, match="events are"):
        store.database.transact(lambda connection: connection.execute("delete from haulwright_events"))


def test_an_event_is_gone_with_the_transaction_that_it_describes(store):
    def work(connection):
        store.events.record(connection, [Event("x.happened", "acme")])
        raise KeyError

    with pytest.raises(KeyError):
        store.database.transact(work)

    assert store.events.latest() == []


def test_events_are_read_in_order_from_a_place_by_tenant_and_name(store):
    record(store, *(Event(name, tenant) for tenant in "ab" for name in ("x", "y", "x")))
    everything = store.events.latest()

    assert [event.seq for event in everything] == sorted(event.seq for event in everything)
    assert store.events.follow(Place(everything[3].seq))[0] == everything[4:]
    start = Place(everything[0].seq - 1)
    assert [e.tenant for e in store.events.follow(start, EventFilter("b"))[0]] == ["b", "b", "b"]
    assert len(store.events.follow(start, EventFilter("b", "x"), limit=1)[0]) == 1
    assert [e.seq for e in store.events.latest(name="y", limit=1)] == [everything[4].seq]


def test_a_follower_waits_for_prepared_transactions_that_a_restart_gave_another_name():
    place = Place(0, 9, ("4/12",))

    assert place.still_writing(["5/1", "-1/77"]) == ("-1/77",)
    assert Place(9).still_writing(["5/1", "-1/77"]) == ()


def test_the_timeline_of_a_job_is_bounded(store):
    job = new_id()
    record(store, *(Event(f"x{n}", "acme", job) for n in range(5)))

    assert [event.name for event in store.events.of_job(job, limit=2)] == ["x0", "x1"]


@pytest.mark.parametrize("job_id", ["018f2f6e-7c1a-7abc-8def-0123456789ab", "no-id-at-all"])
def test_an_unknown_job_has_no_timeline(store, job_id):
    assert store.events.of_job(job_id) == []


def test_each_attempt_has_a_start_and_an_end_with_worker_and_fence(store, clock, worker, make_job):
    """Failed, snoozed, released, lost, then done: five runs, ten lines at least, none missing."""
    job = make_job()
    ends = []
    for step in (RetryLater(BOOM), Snooze(0, "gate"), RELEASE, None, Done()):
        clock.advance(3600)
        lease = claim_one(store, worker)
        if step is None:
            lose(store, clock)
        else:
            one = Settlement(lease, RELEASE) if step is RELEASE else settlement(lease, step)
            store.settlements.settle([one], "web-1")
        ends.append(lease.fence)

    told = store.events.of_job(job.id)

    starts = [event for event in told if event.name == events.JOB_STARTED]
    assert [event.fence for event in starts] == ends == [1, 2, 3, 4, 5]
    finals = {event.name: event.fence for event in told if event.name != events.JOB_STARTED}
    expected = {events.JOB_FAILED: 1, events.JOB_SNOOZED: 2, events.JOB_RELEASED: 3, events.JOB_LEASE_EXPIRED: 4}
    assert finals == {**expected, events.JOB_RETRY: 4, events.JOB_COMPLETED: 5}
    assert {event.worker for event in told} == {"web-1", worker}


@pytest.mark.proves("AU-06")
def test_the_events_of_a_job_carry_what_its_task_declares(store, clock, worker, make_job):
    job = make_job(event_fields='{"connector_id":"c1"}')
    fail(store, claim_one(store, worker))
    clock.advance(3600)
    lease = claim_one(store, worker)
    done = settlement(lease, Done("1", event_fields='{"records_synced":7}'))
    store.settlements.settle([Settlement(lease, done.step, seconds=1.5)])

    told = {event.name: event.data for event in store.events.of_job(job.id)}

    assert told[events.JOB_STARTED]["connector_id"] == "c1"
    assert told[events.JOB_COMPLETED] == {"job_id": job.id, "records_synced": 7, "duration_seconds": 1.5}


@pytest.mark.proves("AU-03", "AU-04", "AU-05", "AU-06")
def test_every_event_carries_the_fields_of_its_name(store, clock, worker):
    """One of everything that writes an event."""
    outcomes = [RetryLater(BOOM), Snooze(9, "g"), Skip("s"), Cancel("c"), Bury("permanent", BOOM), Bury("permanent")]
    store.jobs.enqueue([new_job() for _ in outcomes])
    leases = claim(store, worker, 9)
    ended = [Settlement(one.lease, one.step, 0.1) for one in map(settlement, leases, outcomes)]
    store.settlements.settle(ended)
    store.jobs.requeue(leases[4].id, Requeue("me"), tenant=None)
    clock.advance(30)
    (retried, *_) = claim(store, worker, 9)
    store.jobs.cancel(retried.id, tenant=None, reason="no", actor="me")
    store.effects.begin(retried, "key", "pay")
    store.effects.mark_unknown(retried, "key", "pay")
    store.effects.resolve("default", "key", happened=True, result="1", actor="me", reason="asked")
    lose(store, clock)
    for job in claim(store, worker, 9):
        store.settlements.settle([Settlement(job, settlement(job, Done()).step, 0.1)])
    store.jobs.enqueue([new_job(), new_job()])
    store.settlements.settle([Settlement(claim_one(store, worker), RELEASE)])
    clock.advance(30 * 86400)
    store.recovery.expire()
    store.jobs.prune(State.DEAD, 0.5)
    store.queues.pause("default", actor="me", reason="no")
    store.queues.resume("default", actor="me")
    store.schedules.declare(ScheduleSpec.declare("s", "* * * * *", "work"), new_job(id=""))
    store.schedules.pause("s", tenant=None, actor="me")
    store.schedules.resume("s", tenant=None, actor="me")
    store.schedules.trigger("s", None, tenant=None, actor="me")
    store.sources.declare("shop", source_limits(breaker="1 failure / 1 min"))
    store.sources.override("shop", {"budget": 9}, actor="me")
    store.sources.pause("shop", actor="me", reason="no")
    store.sources.resume("shop", actor="me")
    for left in (Release("failed", park_seconds=30), Release("ok")):
        store.gates.leave(store.gates.ask("shop", Requester(LeaseKey(worker, 0, worker)), lease_seconds=60), left)
        clock.advance(60)
    one = Identity(worker, "w", "h", "b", 1, "1", "0")
    store.workers.register(one, [], [])
    store.workers.recovered(one, [], 0)
    store.workers.put_back(one, 1, 2)
    store.workers.stopped(one, 0)
    _, token = store.api_tokens.create("ci", "tenant", "acme", expires_at=None, actor="me")
    store.api_tokens.revoke(token.prefix, tenant=None, actor="me")

    told = store.events.latest(limit=1000)

    assert [(e.name, field) for e in told for field in FIELDS[e.name] if field not in e.data] == []
    of_others = {events.JOB_QUEUED, events.REQUEST_REFUSED, events.ROW_UNREADABLE}
    of_others |= {events.BULK_STARTED, events.BULK_FINISHED, events.BULK_STOPPED}  # by operations
    assert {event.name for event in told} == FIELDS.keys() - of_others


def test_a_claim_and_a_first_success_write_no_event(store, worker):
    """The hot path writes what cannot be read from the row, and nothing else."""
    store.jobs.enqueue([new_job() for _ in range(5)])
    for lease in claim(store, worker, 5):
        settle(store, lease)

    assert count(store, "haulwright_events") == 0


@pytest.mark.proves("TN-02")
def test_an_event_belongs_to_the_tenant_of_its_job(store, worker):
    dead = bury(store, worker, tenant="acme")

    assert rows(store, "select distinct tenant from haulwright_events") == [("acme",)]
    assert names(store, dead) == [events.JOB_STARTED, events.JOB_DEAD_LETTERED]
