"""A schedule is declared by every process that has its code, and changed, paused and listed by people."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from haulwright import events
from haulwright.engine.job import Unique
from haulwright.engine.schedule import ScheduleSpec
from haulwright.errors import NotFound
from tests.stores.scenes import HOUR, MINUTE, START, count, new_job, race

TEMPLATE = new_job(id="", task="work")


def every(minutes=5, name="tick", **words):
    return ScheduleSpec.declare(name, f"*/{minutes} * * * *", "work", attempts=5, **words)


def dispositions(store, name="tick"):
    return Counter(slot.disposition for slot in store.schedules.slots(name, limit=1000))


def test_a_declared_schedule_comes_back_as_it_was_said(store):
    spec = ScheduleSpec.declare(
        "nightly", "30 2 * * *", "work", tz="Europe/Berlin", coalesce=False, misfire_grace=None, overlap="allow",
        max_runtime="2 h", attempts=3, tenant="acme", args={"v": 1},
    )  # fmt: skip
    template = new_job(
        id="", tenant="acme", args=spec.args, max_attempts=3, unique=Unique("k", "period", 7), tags='["t"]', priority=-4
    )

    assert store.schedules.declare(spec, template)

    row = store.schedules.get("nightly")
    assert (row.spec, row.template, row.revision) == (spec, template, 1)
    assert (row.paused_at, row.opened_until) == (None, START)
    assert row.next_at == START + HOUR + 30 * MINUTE


def test_declaring_the_same_again_changes_nothing(store):
    assert store.schedules.declare(every(), TEMPLATE)
    assert not store.schedules.declare(every(), TEMPLATE)

    assert store.schedules.get("tick").revision == 1
    assert len(store.events.latest(name=events.SCHEDULE_DECLARED)) == 1


@pytest.mark.proves("CF-05", "SL-10", "SL-11")
@pytest.mark.parametrize(
    "words",
    [{"tz": "Asia/Tokyo"}, {"coalesce": False}, {"misfire_grace": None}, {"overlap": "allow"}, {"max_runtime": 60}],
)
def test_every_changed_word_starts_a_revision(store, words):
    store.schedules.declare(every(), TEMPLATE)

    assert store.schedules.declare(every(**words), TEMPLATE)

    row = store.schedules.get("tick")
    assert (row.spec, row.revision) == (every(**words), 2)


def test_a_changed_job_starts_a_revision_too(store):
    store.schedules.declare(every(), TEMPLATE)

    assert store.schedules.declare(every(), new_job(id="", priority=9))
    assert store.schedules.get("tick").template.priority == 9


@pytest.mark.usefixtures("store")
def test_declared_at_once_by_many_it_is_declared_once(open_store):
    stores = [open_store() for _ in range(4)]
    for each in stores:
        each.now()

    changed = race(*(lambda s=s: s.schedules.declare(every(), TEMPLATE) for s in stores))

    assert sorted(changed) == [False, False, False, True]


def test_a_new_schedule_owes_nothing_for_the_past(store, clock):
    store.schedules.declare(every(), TEMPLATE)

    assert store.schedules.due() == []
    assert store.schedules.next_due().at == START + 5 * MINUTE
    clock.advance(300)
    assert store.schedules.due() == ["tick"]


def test_a_new_cron_line_owes_nothing_for_the_past_either(store, clock):
    """Daily became every five minutes at noon: the morning had no such slots."""
    store.schedules.declare(ScheduleSpec.declare("tick", "0 0 * * *", "work", misfire_grace=None), TEMPLATE)
    clock.advance(12 * 3600)

    store.schedules.declare(every(coalesce=False, overlap="allow", misfire_grace=None), TEMPLATE)
    store.schedules.open_due("tick")

    assert dispositions(store) == {}
    assert store.schedules.next_due().at == START + 12 * HOUR + 5 * MINUTE


def test_what_the_old_cron_line_owed_is_settled_before_it_changes(store, clock):
    """Five workers were down at six o'clock, and came back with new code."""
    store.schedules.declare(ScheduleSpec.declare("tick", "0 6 * * *", "work", misfire_grace="1 h"), TEMPLATE)
    clock.advance(6 * 3600 + 600)

    store.schedules.declare(ScheduleSpec.declare("tick", "0 7 * * *", "work"), TEMPLATE)

    (slot,) = store.schedules.slots("tick")
    assert (slot.scheduled_for, slot.disposition) == (START + 6 * HOUR, "fired")
    assert store.schedules.next_due().at == START + 7 * HOUR


def test_a_change_far_behind_is_settled_in_bounded_steps(store, clock):
    store.schedules.declare(every(1), TEMPLATE)
    clock.advance(450 * 60)

    store.schedules.declare(every(5), TEMPLATE)

    assert sum(dispositions(store).values()) == 450


def test_a_change_of_anything_else_keeps_what_is_owed(store, clock):
    store.schedules.declare(every(), TEMPLATE)
    clock.advance(300)

    store.schedules.declare(every(), new_job(id="", args='{"v":2}'))

    assert store.schedules.due() == ["tick"]
    (job,) = store.schedules.open_due("tick").jobs
    assert json.loads(store.listing.get(job).args) == {"v": 2}


def test_the_slots_of_a_pause_are_recorded_as_skipped(store, clock):
    store.schedules.declare(every(), TEMPLATE)
    assert store.schedules.pause("tick", tenant=None, actor="alice")
    assert not store.schedules.pause("tick", tenant=None, actor="bob")
    clock.advance(900)

    assert store.schedules.resume("tick", tenant=None, actor="bob")

    assert dispositions(store) == {"skipped_paused": 3}
    assert not store.schedules.resume("tick", tenant=None, actor="bob")
    told = [(event.name, event.actor) for event in store.events.latest()[1:]]
    assert told == [(events.SCHEDULE_PAUSED, "alice"), (events.SCHEDULE_RESUMED, "bob")]


def test_after_a_long_pause_not_one_of_its_slots_fires(store, clock):
    """A pause has more slots than one transaction opens."""
    store.schedules.declare(every(1, misfire_grace=None), TEMPLATE)
    store.schedules.pause("tick", tenant=None, actor="alice")
    clock.advance(450 * 60)

    store.schedules.resume("tick", tenant=None, actor="alice")
    store.schedules.open_due("tick")

    assert dispositions(store) == {"skipped_paused": 450}


@pytest.mark.proves("TN-03")
@pytest.mark.parametrize("verb", ["pause", "resume", "trigger", "backfill", "get"])
def test_a_foreign_schedule_looks_exactly_like_an_absent_one(store, clock, verb):
    store.schedules.declare(every(tenant="acme"), new_job(id="", tenant="acme"))
    clock.advance(300)
    before = [count(store, f"haulwright_{table}") for table in ("slots", "jobs", "events")]

    refusals = []
    for name in ("tick", "none"):
        with pytest.raises(NotFound) as refusal:
            _ask(store.schedules, verb, name)
        refusals.append(str(refusal.value).replace(name, "X"))

    assert refusals[0] == refusals[1]
    assert [count(store, f"haulwright_{table}") for table in ("slots", "jobs", "events")] == before


def _ask(schedules, verb, name):
    match verb:
        case "get":
            schedules.get(name, tenant="other")
        case "trigger":
            schedules.trigger(name, None, tenant="other", actor="eve")
        case "backfill":
            schedules.backfill(name, START - HOUR, START, tenant="other", actor="eve")
        case _:
            getattr(schedules, verb)(name, tenant="other", actor="eve")


def test_schedules_are_listed_by_name_and_tenant(store):
    for name, tenant in (("b", "acme"), ("a", "acme"), ("c", "other")):
        store.schedules.declare(every(name=name, tenant=tenant), TEMPLATE)

    assert [row.spec.name for row in store.schedules.list()] == ["a", "b", "c"]
    assert [row.spec.name for row in store.schedules.list("acme")] == ["a", "b"]


def test_the_next_slot_of_all_schedules_is_the_nearest(store):
    assert store.schedules.next_due().at is None
    store.schedules.declare(every(30, name="slow"), TEMPLATE)
    store.schedules.declare(every(5, name="fast"), TEMPLATE)

    assert store.schedules.next_due().at == START + 5 * MINUTE
