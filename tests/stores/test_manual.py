"""A person may open a slot too, under the same rules, and fill the slots of the past."""

from __future__ import annotations

import pytest

from haulwright.engine.schedule import ScheduleSpec
from haulwright.engine.transitions import State
from haulwright.errors import InvalidValue, SlotForgotten, SlotTaken
from tests.stores.scenes import HOUR, MINUTE, START, claim, claim_one, count, new_job, race, settle
from tests.stores.test_schedules import TEMPLATE, dispositions, every

NOON = START - 12 * HOUR


@pytest.fixture(autouse=True)
def schedule(store):
    store.schedules.declare(ScheduleSpec.declare("hourly", "0 * * * *", "work"), TEMPLATE)


def trigger(store, moment=NOON):
    return store.schedules.trigger("hourly", moment, tenant=None, actor="alice")


@pytest.mark.proves("MT-01", "MT-02")
def test_a_manual_run_claims_the_slot_that_it_names(store):
    job = trigger(store)

    (slot,) = store.schedules.slots("hourly")
    assert (slot.scheduled_for, slot.disposition, slot.job_id, slot.actor) == (NOON, "manual", job, "alice")
    found = store.listing.get(job)
    assert (found.state, found.run_at) == (State.QUEUED, START)


@pytest.mark.proves("MT-02")
def test_a_taken_slot_is_refused_naming_its_job(store):
    job = trigger(store)

    with pytest.raises(SlotTaken, match=job) as refusal:
        trigger(store)

    event_fields = refusal.value
    assert (event_fields.schedule, event_fields.slot) == ("hourly", "2023-12-31T12:00:00Z")
    assert (event_fields.disposition, event_fields.job_id) == ("manual", job)
    assert count(store, "haulwright_jobs") == 1


@pytest.mark.proves("MT-02")
def test_a_slot_that_fired_cannot_be_triggered_again(store, clock):
    clock.advance(3600)
    (job,) = store.schedules.open_due("hourly").jobs

    with pytest.raises(SlotTaken, match=job):
        trigger(store, START + HOUR)


@pytest.mark.proves("MT-01", "GU-01")
def test_a_slot_that_was_triggered_by_hand_does_not_fire_again(store, clock, worker):
    clock.advance(3600)
    trigger(store, START + HOUR)
    settle(store, claim_one(store, worker))

    assert store.schedules.open_due("hourly").jobs == []
    assert dispositions(store, "hourly") == {"manual": 1}


@pytest.mark.proves("MT-02", "GU-01")
def test_of_a_person_and_a_worker_at_once_one_opens_the_slot(store, open_store, clock):
    other = open_store()
    other.now()
    clock.advance(3600)

    by_hand, by_worker = race(lambda: trigger(store, START + HOUR), lambda: other.schedules.open_due("hourly"))

    assert isinstance(by_hand, SlotTaken) is (len(by_worker.jobs) == 1)
    assert count(store, "haulwright_jobs") == count(store, "haulwright_slots") == 1


@pytest.mark.proves("MT-02")
def test_a_slot_in_the_future_is_refused(store):
    """A brief of another year would stand for that day, and bar every one before it."""
    with pytest.raises(InvalidValue, match=r"2024-01-01T01:00:00Z.*is in the future"):
        trigger(store, START + HOUR)

    assert count(store, "haulwright_slots") == count(store, "haulwright_jobs") == 0


@pytest.fixture
def missed(store, clock):
    """Nobody opened slots for three hours: two were missed, the last one fired."""
    clock.advance(3 * 3600)
    store.schedules.open_due("hourly")
    assert dispositions(store, "hourly") == {"missed": 2, "fired": 1}


@pytest.mark.usefixtures("missed")
@pytest.mark.proves("MT-01", "MT-02")
def test_a_missed_slot_can_be_triggered_once(store):
    job = trigger(store, START + HOUR)

    with pytest.raises(SlotTaken, match=job):
        trigger(store, START + HOUR)
    assert dispositions(store, "hourly") == {"manual": 1, "missed": 1, "fired": 1}
    (event,) = [event for event in store.events.latest(name="slot.opened") if event.job_id == job]
    assert (event.data["disposition"], event.data["was"], event.actor) == ("manual", "missed", "alice")


@pytest.mark.usefixtures("missed")
def test_missed_slots_are_backfilled_once_and_those_with_a_job_are_left_alone(store):
    made = backfill(store, 1, 3)

    assert [((slot.scheduled_for - START) // HOUR, slot.disposition) for slot in made] == [
        (1, "backfilled"),
        (2, "backfilled"),
    ]
    assert backfill(store, 1, 3) == []
    assert dispositions(store, "hourly") == {"backfilled": 2, "fired": 1}


def test_slots_of_a_pause_or_beside_a_running_job_can_be_opened_by_hand_too(store, clock):
    clock.advance(3600)
    store.schedules.open_due("hourly")
    clock.advance(3600)
    store.schedules.open_due("hourly")
    store.schedules.pause("hourly", tenant=None, actor="alice")
    clock.advance(3600)
    store.schedules.open_due("hourly")
    assert dispositions(store, "hourly") == {"fired": 1, "skipped_overlap": 1, "skipped_paused": 1}

    assert len(backfill(store, 1, 3)) == 2
    assert dispositions(store, "hourly") == {"fired": 1, "backfilled": 2}


def test_a_slot_for_which_a_newer_one_stands_is_taken(store, clock):
    store.schedules.declare(ScheduleSpec.declare("hourly", "0 * * * *", "work", misfire_grace=None), TEMPLATE)
    clock.advance(2 * 3600)
    store.schedules.open_due("hourly")

    with pytest.raises(SlotTaken, match="coalesced"):
        trigger(store, START + HOUR)


@pytest.mark.usefixtures("missed")
@pytest.mark.proves("MT-03", "GU-01")
def test_of_two_people_at_once_one_opens_a_missed_slot(store, open_store):
    other = open_store()
    other.now()

    answers = race(lambda: trigger(store, START + HOUR), lambda: trigger(other, START + HOUR))

    assert sorted(isinstance(answer, SlotTaken) for answer in answers) == [False, True]
    assert count(store, "haulwright_jobs") == 2


def test_a_trigger_without_a_moment_takes_this_one(store, clock):
    clock.advance(17)
    trigger(store, None)

    (slot,) = store.schedules.slots("hourly")
    assert slot.scheduled_for == clock.now()


@pytest.mark.proves("MT-01", "MT-03", "SL-09")
def test_a_manual_run_waits_for_the_run_that_is_active(store, clock, worker):
    clock.advance(3600)
    store.schedules.open_due("hourly")
    running = claim_one(store, worker)
    job = trigger(store)

    assert claim(store, worker) == []
    assert store.listing.get(job).waiting_on == "concurrency:schedule:hourly"
    settle(store, running)
    assert claim_one(store, worker).id == job


def test_a_backfill_opens_the_slots_of_the_past_that_have_no_disposition(store, clock):
    clock.advance(5 * 3600)
    trigger(store, START + 2 * HOUR)

    made = store.schedules.backfill("hourly", START + HOUR, START + 4 * HOUR, tenant=None, actor="alice")

    assert [(slot.scheduled_for - START) // HOUR for slot in made] == [1, 3, 4]
    assert {slot.disposition for slot in made} == {"backfilled"}
    assert made == [slot for slot in reversed(store.schedules.slots("hourly")) if slot.disposition == "backfilled"]
    assert store.schedules.backfill("hourly", START + HOUR, START + 4 * HOUR, tenant=None, actor="bob") == []


def test_a_backfill_is_of_the_past_alone(store, clock):
    """What is still to come fires at its time."""
    clock.advance(2 * 3600)

    made = store.schedules.backfill("hourly", START - HOUR, START + 9 * HOUR, tenant=None, actor="alice")

    assert [(slot.scheduled_for - START) // HOUR for slot in made] == [-1, 0, 1, 2]


def test_a_long_backfill_is_written_in_steps_and_complete(store):
    store.schedules.declare(every(1), TEMPLATE)

    made = store.schedules.backfill("tick", START - 450 * MINUTE, START, tenant=None, actor="alice")

    assert len(made) == len({slot.job_id for slot in made}) == 451


@pytest.mark.proves("MT-03", "SL-08")
def test_backfilled_runs_of_one_schedule_do_not_overlap(store, worker):
    store.schedules.backfill("hourly", START - 3 * HOUR, START, tenant=None, actor="alice")
    done = 0
    while leases := claim(store, worker, 9):
        (lease,) = leases
        done += settle(store, lease)

    assert done == 4


def test_a_paused_schedule_can_still_be_run_by_hand(store):
    store.schedules.pause("hourly", tenant=None, actor="alice")

    assert store.listing.get(trigger(store)).state is State.QUEUED


@pytest.mark.proves("MT-01", "TN-02")
def test_a_manual_run_belongs_to_the_tenant_of_its_schedule(store):
    store.schedules.declare(every(tenant="acme"), new_job(id="", tenant="acme"))

    job = store.schedules.trigger("tick", NOON, tenant="acme", actor="alice")

    assert store.listing.get(job).tenant == "acme"


@pytest.fixture
def pruned(store, clock, worker):
    """Of the first ten slots, each with its job, the records of the first six are gone; two before them never were."""
    for _ in range(10):
        clock.advance(3600)
        store.schedules.open_due("hourly")
        settle(store, claim_one(store, worker))
    assert store.schedules.prune(4 * 3600 - 1) == 6


def backfill(store, first, last):
    return store.schedules.backfill("hourly", START + first * HOUR, START + last * HOUR, tenant=None, actor="alice")


@pytest.mark.usefixtures("pruned")
@pytest.mark.parametrize(("first", "last"), [(1, 10), (6, 6), (6, 9), (-2, 1)])
def test_a_slot_whose_record_was_pruned_is_not_filled_again(store, first, last):
    """Nobody knows any more that it had its job."""
    with pytest.raises(SlotForgotten, match="2024-01-01T06:00:00Z") as refusal:
        backfill(store, first, last)

    assert refusal.value.until == "2024-01-01T06:00:00Z"
    assert count(store, "haulwright_jobs") == 0


@pytest.mark.usefixtures("pruned")
def test_slots_outside_of_what_was_pruned_are_filled(store):
    """Before the first that was ever opened nothing can have been forgotten."""
    assert len(backfill(store, -2, 0)) == 3
    assert backfill(store, 7, 10) == []


@pytest.mark.usefixtures("pruned")
def test_a_slot_whose_record_was_pruned_is_not_triggered(store):
    with pytest.raises(SlotForgotten):
        trigger(store, START + 3 * HOUR)

    assert trigger(store, START - HOUR)
    with pytest.raises(SlotTaken):
        trigger(store, START + 9 * HOUR)


@pytest.mark.usefixtures("pruned")
def test_what_was_pruned_is_remembered_over_a_new_declaration_and_further_pruning(store, clock):
    store.schedules.declare(ScheduleSpec.declare("hourly", "30 * * * *", "work"), TEMPLATE)
    store.schedules.declare(ScheduleSpec.declare("hourly", "0 * * * *", "work"), TEMPLATE)
    clock.advance(3600)
    assert store.schedules.prune(4 * 3600 - 1) == 1

    row = store.schedules.get("hourly")

    assert (row.pruned_from, row.pruned_until) == (START + HOUR, START + 7 * HOUR)


def test_a_pruning_and_a_backfill_at_once_leave_one_job_a_slot(store, open_store, clock, worker):
    """Whichever comes first, the slot is taken or forgotten, and never filled a second time."""
    other = open_store()
    for _ in range(20):
        clock.advance(3600)
        slot = store.now()
        store.schedules.open_due("hourly")
        settle(store, claim_one(store, worker))
        hour = (slot - START) // HOUR
        answers = race(lambda: other.schedules.prune(-1), lambda hour=hour: backfill(store, hour, hour))

        assert answers[1] == [] or isinstance(answers[1], SlotForgotten)
        assert count(store, "haulwright_jobs") == 0
