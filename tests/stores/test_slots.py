"""A due slot has one disposition and at most one job, however many workers look at it."""

from __future__ import annotations

import pytest

from haulwright import events
from haulwright.engine.job import Unique
from haulwright.engine.outcome import Bury
from haulwright.engine.schedule import ScheduleSpec
from haulwright.engine.transitions import State
from haulwright.errors import NotFound
from haulwright.stores.job_rows import Requeue
from tests.stores.scenes import HOUR, MINUTE, START, bury, claim, claim_one, count, ids, new_job, race, rows, settle
from tests.stores.test_schedules import TEMPLATE, dispositions, every


def declare(store, minutes=5, template=TEMPLATE, **words):
    store.schedules.declare(every(minutes, **words), template)


def drain(store, name="tick"):
    """Open slots until none is due; the jobs they made."""
    jobs = []
    while True:
        opened = store.schedules.open_due(name)
        jobs += opened.jobs
        if not opened.behind:
            return jobs


@pytest.mark.proves("SL-03", "SL-04", "SL-06", "GU-01", "AU-07")
def test_a_due_slot_makes_one_job_and_is_written_down(store, clock):
    declare(store, template=new_job(id="", priority=3, args='{"v":1}'))
    clock.advance(300)

    opened = store.schedules.open_due("tick", actor="worker:w1")

    (slot,) = store.schedules.slots("tick")
    assert (slot.scheduled_for, slot.disposition, [slot.job_id]) == (START + 5 * MINUTE, "fired", opened.jobs)
    assert (slot.actor, slot.revision, slot.opened_at) == ("worker:w1", 1, START + 5 * MINUTE)
    job = store.listing.get(slot.job_id)
    assert (job.state, job.run_at, job.priority, job.args) == (State.QUEUED, START + 5 * MINUTE, 3, '{"v":1}')
    told = store.events.of_job(job.id)[0]
    assert (told.name, told.data["scheduled_for"]) == (events.SLOT_OPENED, "2024-01-01T00:05:00Z")


@pytest.mark.proves("SL-05", "SL-06")
def test_a_slot_that_is_open_is_not_opened_again(store, clock):
    declare(store)
    clock.advance(300)
    store.schedules.open_due("tick")

    again = store.schedules.open_due("tick")

    assert (again.slots, again.jobs, again.behind) == (0, [], False)
    assert store.schedules.due() == []


def test_slots_of_an_unknown_schedule_are_not_opened(store):
    with pytest.raises(NotFound):
        store.schedules.open_due("none")


@pytest.mark.proves("GU-01", "SL-05", "SL-08", "SL-12")
def test_workers_at_once_make_one_job_a_slot(store, open_store, clock):
    declare(store, 1, coalesce=False, overlap="allow", misfire_grace=None)
    stores = [open_store() for _ in range(4)]
    made = []
    for _ in range(5):
        clock.advance(10 * 60)
        made += [job for opened in race(*(lambda s=s: drain(s) for s in stores)) for job in opened]

    slots = rows(store, "select scheduled_for, job_id from haulwright_slots")
    assert len(slots) == len(set(made)) == count(store, "haulwright_jobs") == 50
    assert {job for _, job in slots} == set(made)


@pytest.mark.proves("SL-10")
def test_of_several_due_slots_only_the_newest_fires_and_the_others_say_into_which(store, clock):
    declare(store, misfire_grace=None)
    clock.advance(1500)

    (job,) = drain(store)

    newest, *merged = store.schedules.slots("tick")
    assert (newest.scheduled_for, newest.disposition, newest.job_id) == (START + 25 * MINUTE, "fired", job)
    assert {(slot.disposition, slot.merged_into) for slot in merged} == {("coalesced", newest.scheduled_for)}
    assert len(merged) == 4


@pytest.mark.proves("SL-10")
def test_catching_up_goes_in_bounded_steps_and_fires_the_newest_alone(store, clock):
    declare(store, 1, misfire_grace=None)
    clock.advance(450 * 60)
    newest = START + 450 * MINUTE

    steps = []
    while not steps or steps[-1].behind:
        steps.append(store.schedules.open_due("tick"))

    assert [opened.slots for opened in steps] == [200, 200, 50]
    assert [len(opened.jobs) for opened in steps] == [0, 0, 1]
    assert {slot.merged_into for slot in store.schedules.slots("tick", limit=1000)[1:]} == {newest}


def test_catching_up_exactly_one_step_fires_the_newest(store, clock):
    declare(store, 1, misfire_grace=None)
    clock.advance(200 * 60)

    (job,) = drain(store)

    assert store.schedules.slots("tick", limit=1)[0].job_id == job
    assert dispositions(store) == {"coalesced": 199, "fired": 1}


@pytest.mark.proves("SL-11")
def test_a_slot_found_too_late_is_missed_and_says_so(store, clock):
    declare(store, misfire_grace="5 min")
    clock.advance(1500 + 60)

    drain(store)

    assert dispositions(store) == {"missed": 4, "fired": 1}


@pytest.mark.proves("SL-08", "SL-09")
def test_a_slot_is_skipped_while_a_job_of_its_schedule_is_queued_or_running(store, clock, worker):
    declare(store)
    clock.advance(300)
    drain(store)
    clock.advance(300)
    drain(store)
    lease = claim_one(store, worker)
    clock.advance(300)
    drain(store)
    settle(store, lease)
    clock.advance(300)
    drain(store)

    asked = [slot.disposition for slot in store.schedules.slots("tick")]
    assert asked == ["fired", "skipped_overlap", "skipped_overlap", "fired"]


@pytest.mark.proves("SL-09")
def test_slots_may_overlap_where_their_schedule_says_so(store, clock, worker):
    declare(store, coalesce=False, overlap="allow", misfire_grace=None)
    clock.advance(900)

    assert len(drain(store)) == 3
    assert len(claim(store, worker, 9)) == 3


@pytest.mark.proves("SL-08")
def test_a_job_of_another_schedule_or_by_hand_is_no_overlap(store, clock, make_job):
    declare(store)
    make_job()
    store.schedules.declare(every(name="other"), TEMPLATE)
    clock.advance(300)
    drain(store, "other")

    assert len(drain(store)) == 1


@pytest.mark.proves("SL-08", "MT-03")
def test_a_requeued_job_of_a_schedule_does_not_run_beside_its_next_one(store, clock, worker):
    """The successor is not the job of any slot, and yet the two never run at once."""
    declare(store)
    clock.advance(300)
    drain(store)
    dead = claim_one(store, worker)
    settle(store, dead, Bury("permanent"))
    store.jobs.requeue(dead.id, Requeue("me"), tenant=None)
    clock.advance(300)
    drain(store)

    assert len(claim(store, worker, 9)) == 1


def test_a_schedule_keeps_the_concurrency_that_its_task_declares(store, clock):
    declare(store, template=new_job(id="", concurrency_key="shop", concurrency_limit=3))
    clock.advance(300)

    (job,) = drain(store)

    assert store.listing.get(job).concurrency_key == "shop"


@pytest.mark.parametrize("args", ["{}", '{"other":1}'], ids=["same arguments", "other arguments"])
def test_a_slot_whose_job_would_be_a_duplicate_names_the_job_that_stands_for_it(store, clock, args):
    """Whatever that job was given: a schedule must not stand still because somebody was first."""
    unique = Unique("k")
    (twin,) = store.jobs.enqueue([new_job(unique=unique, args=args)])
    declare(store, template=new_job(id="", unique=unique))
    clock.advance(300)

    assert drain(store) == []

    (slot,) = store.schedules.slots("tick")
    assert (slot.disposition, slot.job_id) == ("skipped_duplicate", twin.id)
    assert store.schedules.next_due().at == START + 10 * MINUTE


@pytest.mark.proves("SL-07")
def test_a_failed_job_does_not_use_its_slot_up(store, clock, worker):
    declare(store)
    clock.advance(300)
    (job,) = drain(store)
    lease = claim_one(store, worker)
    clock.advance(121)
    store.recovery.reap()

    again = claim_one(store, worker)

    assert (again.id, again.attempts, lease.id) == (job, 2, job)


def test_the_job_of_a_slot_that_is_caught_up_late_still_has_its_time_to_wait(store, clock):
    store.schedules.declare(ScheduleSpec.declare("tick", "0 0 * * *", "work", misfire_grace=None), TEMPLATE)
    clock.advance(30 * 86400)
    (job,) = drain(store)

    assert store.recovery.expire() == []
    assert store.listing.get(job).state is State.QUEUED


def test_a_clock_that_goes_back_opens_no_slot_twice(store, clock):
    declare(store, coalesce=False, overlap="allow")
    clock.advance(300)
    drain(store)
    clock.advance(-240)
    assert drain(store) == []
    clock.advance(240)

    assert drain(store) == []
    assert count(store, "haulwright_slots") == 1


def test_old_slots_are_forgotten_when_their_job_is_finished(store, clock, worker):
    declare(store, coalesce=False, overlap="allow", misfire_grace=None)
    clock.advance(600)
    done, waiting = drain(store)
    settle(store, claim_one(store, worker))
    clock.advance(3600)

    assert store.schedules.prune(3600) == 0
    clock.advance(1)
    assert store.schedules.prune(3600) == 1

    assert ids(claim(store, worker)) == [waiting]
    assert [slot.job_id for slot in store.schedules.slots("tick")] == [waiting]
    assert done != waiting


def test_a_slot_that_the_clock_has_still_to_open_is_never_forgotten(store, clock, worker):
    """It was triggered by hand while nobody opened slots: forgotten, it would make a second job."""
    store.schedules.declare(ScheduleSpec.declare("yearly", "0 0 1 12 *", "work", misfire_grace=None), TEMPLATE)
    december = START + 335 * 24 * HOUR
    clock.set(december)
    store.schedules.trigger("yearly", december, tenant=None, actor="alice")
    settle(store, claim_one(store, worker))
    clock.advance(200 * 86400)

    assert store.schedules.prune(90 * 86400) == 0
    assert drain(store, "yearly") == []


def test_slots_are_listed_newest_first_a_page_at_a_time(store, clock):
    declare(store, misfire_grace=None)
    clock.advance(1500)
    drain(store)

    first = store.schedules.slots("tick", limit=2)
    rest = store.schedules.slots("tick", before=first[-1].scheduled_for)

    times = [(slot.scheduled_for - START) // MINUTE for slot in first + rest]
    assert times == [25, 20, 15, 10, 5]


def test_a_dead_letter_is_no_overlap(store, clock, worker):
    bury(store, worker)
    declare(store)
    clock.advance(300)

    assert len(drain(store)) == 1
