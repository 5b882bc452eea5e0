"""Schedules: those of the code and of the database together, each tenant's own for the tenant."""

from __future__ import annotations

import pytest

from haulwright import Haulwright, events
from haulwright.errors import Forbidden, InvalidValue, NotFound, SlotForgotten, SlotTaken
from tests.operations.fleet import ACME, ADMIN, SUPPORT, app
from tests.stores.scenes import HOUR, START

NAMES = ["acme-hourly", "globex-hourly", "nightly"]


@pytest.fixture(autouse=True)
def on_the_bench(bench):
    bench.use(app)


@pytest.fixture
def bare(bench):
    """The same database, looked at without the code of the app."""
    return bench.use(Haulwright())


@pytest.fixture
def fresh(bench):
    """An app whose schedules no worker has declared yet."""
    fresh = Haulwright()
    bench.use(fresh)

    @fresh.task()
    def later() -> None: ...

    fresh.schedule("a-later", "0 * * * *", later, tenant="acme")
    fresh.schedule("z-later", "0 * * * *", later, tenant="globex")
    return fresh


def names(page):
    return [schedule.spec.name for schedule in page.rows]


def test_an_admin_sees_the_schedules_of_all_tenants_with_their_next_slot(bare):
    page = bare.operations(ADMIN).schedules.page()

    assert names(page) == NAMES
    assert [schedule.next_slot for schedule in page.rows] == [START + HOUR, START + HOUR, START + 90 * HOUR // 60]


@pytest.mark.parametrize("principal", [ACME, SUPPORT])
def test_a_tenant_and_its_support_see_its_own_schedules_alone(principal):
    schedules = app.operations(principal).schedules

    assert names(schedules.page()) == names(schedules.page(tenant="globex")) == ["acme-hourly"]
    assert {slot.spec.name for slot in schedules.upcoming()} == {"acme-hourly"}
    for look in (schedules.get, schedules.slots, schedules.upcoming):
        with pytest.raises(NotFound):
            look("globex-hourly")


def test_what_only_the_code_knows_is_listed_among_the_others_as_not_declared(fresh):
    page = fresh.operations(ADMIN).schedules.page()

    assert names(page) == ["a-later", *NAMES, "z-later"]
    assert [schedule.row is not None for schedule in page.rows] == [False, True, True, True, False]
    assert names(fresh.operations(ACME).schedules.page()) == ["a-later", "acme-hourly"]
    with pytest.raises(NotFound):
        fresh.operations(ACME).schedules.get("z-later")


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5])
def test_the_pages_of_code_and_database_together_are_the_whole_list(fresh, limit):
    schedules = fresh.operations(ADMIN).schedules
    seen, after = [], None
    while True:
        page = schedules.page(after=after, limit=limit)
        seen += names(page)
        assert len(page.rows) <= limit
        if (after := page.next) is None:
            break

    assert seen == ["a-later", *NAMES, "z-later"]


def test_the_slots_of_a_schedule_come_in_pages_the_newest_first():
    schedules = app.operations(ADMIN).schedules
    list(schedules.backfill("acme-hourly", START - 5 * HOUR, START - HOUR))

    first = schedules.slots("acme-hourly", limit=3)
    rest = schedules.slots("acme-hourly", after=first.next, limit=3)

    assert [slot.scheduled_for for slot in [*first.rows, *rest.rows]] == [START - n * HOUR for n in range(1, 6)]
    assert (first.next, rest.next) == ("2023-12-31T21:00:00Z", None)
    with pytest.raises(InvalidValue):
        schedules.slots("acme-hourly", after="yesterday")


def test_upcoming_slots_of_all_schedules_stand_in_the_order_of_time():
    slots = app.operations(ADMIN).schedules.upcoming(count=2)

    assert [(slot.spec.name, slot.scheduled_for - START) for slot in slots] == [
        ("acme-hourly", HOUR), ("globex-hourly", HOUR), ("nightly", 90 * HOUR // 60), ("acme-hourly", 2 * HOUR),
        ("globex-hourly", 2 * HOUR), ("nightly", 24 * HOUR + 90 * HOUR // 60),
    ]  # fmt: skip


@pytest.mark.parametrize("principal", [SUPPORT, ADMIN])
def test_support_and_admin_trigger_a_schedule_of_the_tenant_by_their_own_name(principal):
    schedules = app.operations(principal).schedules
    job_id = schedules.trigger("acme-hourly", START - HOUR)

    assert app.store.listing.get(job_id).tenant == "acme"
    (slot,) = schedules.slots("acme-hourly").rows
    assert (slot.job_id, slot.disposition, slot.actor) == (job_id, "manual", principal.actor)
    with pytest.raises(SlotTaken):
        schedules.trigger("acme-hourly", START - HOUR)


def test_support_of_one_tenant_does_nothing_to_the_schedule_of_another():
    schedules = app.operations(SUPPORT).schedules
    acts = {
        "trigger": lambda name: schedules.trigger(name, START - HOUR),
        "pause": schedules.pause, "resume": schedules.resume,
        "backfill": lambda name: schedules.backfill(name, START - HOUR, START),
    }  # fmt: skip
    for act in acts.values():
        with pytest.raises(NotFound):
            act("globex-hourly")

    assert app.operations(ADMIN).schedules.slots("globex-hourly").rows == []
    assert app.store.schedules.get("globex-hourly").paused_at is None


@pytest.mark.parametrize("act", ["trigger", "pause", "resume"])
def test_a_tenant_does_not_act_on_its_schedules_by_itself(act):
    with pytest.raises(Forbidden):
        getattr(app.operations(ACME).schedules, act)("acme-hourly")

    (refusal,) = app.store.events.latest(name=events.REQUEST_REFUSED)
    assert (refusal.tenant, refusal.data["verb"]) == ("acme", f"schedule.{act}")


SLOT_OF = {"trigger": (START - HOUR,)}
"""What an act names beside the schedule."""


@pytest.mark.parametrize("act", ["trigger", "pause", "resume"])
def test_a_schedule_that_only_the_code_knows_is_declared_before_it_is_acted_on(fresh, act):
    getattr(fresh.operations(ADMIN).schedules, act)("a-later", *SLOT_OF.get(act, ()))

    assert fresh.store.schedules.get("a-later").spec.tenant == "acme"


@pytest.mark.parametrize("act", ["trigger", "pause", "resume"])
def test_support_of_one_tenant_does_not_even_declare_the_schedule_of_another(fresh, act):
    with pytest.raises(NotFound):
        getattr(fresh.operations(SUPPORT).schedules, act)("z-later", *SLOT_OF.get(act, ()))

    assert "z-later" not in [row.spec.name for row in fresh.store.schedules.list()]


def test_a_pause_and_a_resume_say_whether_they_changed_something():
    schedules = app.operations(SUPPORT).schedules

    assert (schedules.pause("acme-hourly"), schedules.pause("acme-hourly")) == (True, False)
    assert schedules.get("acme-hourly").row.paused_by == "support:ann"
    assert (schedules.resume("acme-hourly"), schedules.resume("acme-hourly")) == (True, False)


def test_a_preview_of_a_backfill_names_its_slots_and_opens_none():
    schedules = app.operations(ACME).schedules

    slots = schedules.backfill_preview("acme-hourly", START - 3 * HOUR, START)

    assert slots == [START - n * HOUR for n in (3, 2, 1, 0)]
    assert schedules.slots("acme-hourly").rows == []


def test_a_backfill_opens_each_slot_of_the_range_once():
    schedules = app.operations(SUPPORT).schedules
    schedules.trigger("acme-hourly", START - 2 * HOUR)

    opened = [slot for batch in schedules.backfill("acme-hourly", START - 3 * HOUR, START - HOUR) for slot in batch]

    assert [slot.scheduled_for for slot in opened] == [START - 3 * HOUR, START - HOUR]
    assert {slot.actor for slot in opened} == {"support:ann"}


@pytest.mark.parametrize(
    ("first", "last", "limit"), [(START, START - HOUR, 10), (START, START + HOUR, 10), (START - 9 * HOUR, START, 9)]
)
def test_a_backfill_backwards_of_the_future_or_above_its_bound_is_refused_before_anything_is_opened(first, last, limit):
    schedules = app.operations(ADMIN).schedules
    for ask in (schedules.backfill_preview, schedules.backfill):
        with pytest.raises(InvalidValue):
            ask("acme-hourly", first, last, limit=limit)

    assert schedules.slots("acme-hourly").rows == []


def test_the_events_of_what_support_does_say_who_did_it_and_why():
    schedules = app.operations(SUPPORT).schedules
    schedules.trigger("acme-hourly", START - 2 * HOUR)
    list(schedules.backfill("acme-hourly", START - HOUR, START - HOUR))
    schedules.pause("acme-hourly")
    schedules.resume("acme-hourly")

    acts = (events.SLOT_OPENED, events.SCHEDULE_PAUSED, events.SCHEDULE_RESUMED)
    recorded = [event for name in acts for event in app.store.events.latest(name=name)]
    assert [(event.actor, event.data["reason"]) for event in recorded] == [("support:ann", "ticket 7")] * 4


def test_a_backfill_over_pruned_slots_is_refused_before_anything_is_opened(bench):
    """Its first batch would have been all right: nothing of it was ever opened."""
    schedules = app.operations(ADMIN).schedules
    schedules.trigger("acme-hourly", START - HOUR)
    bench.drain()
    bench.advance("200 d")
    app.store.schedules.prune(180 * 86400)

    for ask in (schedules.backfill_preview, schedules.backfill):
        with pytest.raises(SlotForgotten, match="haulwright run"):
            ask("acme-hourly", START - 500 * HOUR, START - HOUR)

    assert schedules.slots("acme-hourly").rows == []
