"""Bulk actions: what a preview counts is what is done, each job once, by whoever may, and never to anybody else's."""

from __future__ import annotations

from itertools import count

import pytest

from haulwright import Haulwright, Permanent, Principal, State, events
from haulwright.engine.ids import new_id
from haulwright.engine.task import UniqueBy
from haulwright.errors import Forbidden, IllegalTransition, InvalidValue, NotFound, Refused
from haulwright.operations import bulk, bulk_run
from haulwright.operations.bulk_order import BULK_TASK
from haulwright.runtime.identity import this_process
from haulwright.stores.listing import JobFilter, Listing

app = Haulwright()

ACME = Principal.of_tenant("acme")
GLOBEX = Principal.of_tenant("globex")
SUPPORT = Principal.support("ann", tenant="acme", reason="ticket 7")
ADMIN = Principal.admin("root", "the shop is back")


@app.task()
def fails(sku: str) -> None:
    raise Permanent(f"no {sku}")


@app.task(unique=UniqueBy("sku"))
def fails_alone(sku: str) -> None:
    raise Permanent(f"no {sku}")


@app.task()
def waits(sku: str) -> None: ...


@pytest.fixture(autouse=True)
def on_the_bench(bench):
    bench.use(app)


@pytest.fixture
def small_pages(monkeypatch):
    monkeypatch.setattr(bulk_run, "PAGE_JOBS", 2)


@pytest.fixture
def between_pages(monkeypatch):
    """Do something once, before the page of this number is read."""

    def plan(number, act):
        read, calls = Listing.ids, count(0)  # the first call counts all of them

        def ids(*args, **options):
            if next(calls) == number:
                act()
            return read(*args, **options)

        monkeypatch.setattr(Listing, "ids", ids)

    return plan


def bury(bench, *tenants):
    """A dead letter of each of these tenants, in this order."""
    handles = [fails.using(tenant=tenant).enqueue("A1") for tenant in tenants]
    bench.drain()
    return [handle.id for handle in handles]


def later(tenant, count=1):
    """Jobs that are not due for a day."""
    return [waits.using(tenant=tenant, delay="1 day").enqueue("A1").id for _ in range(count)]


def states(bench, ids):
    return [bench.store.listing.get(job_id).state for job_id in ids]


def requeued(bench, ids):
    return [bench.store.listing.get(job_id).requeued_to is not None for job_id in ids]


def events_of(bench, name):
    return bench.store.events.latest(name=name)


@pytest.mark.usefixtures("small_pages")
def test_what_a_preview_counts_is_what_is_done(bench):
    letters = bury(bench, "acme", "globex", "acme", "acme", "acme", "acme")
    acme = [letters[place] for place in (0, 2, 3, 4, 5)]
    bulk = app.operations(SUPPORT).bulk

    preview = bulk.preview("requeue", "task:fails")
    action = bulk.start("requeue", "task:fails")
    bench.drain(1)

    assert (preview.count, preview.more) == (5, False)
    assert [job.id for job in preview.sample] == acme[::-1]
    ended = bulk.get(action.job.id)
    assert (ended.job.state, ended.progress.done, ended.progress.of, ended.progress.refused) == ("succeeded", 5, 5, 0)
    assert requeued(bench, acme) == [True] * 5
    assert requeued(bench, [letters[1]]) == [False]


@pytest.mark.parametrize(("act", "state"), [("cancel", State.CANCELLED), ("retry", State.QUEUED)])
def test_jobs_that_wait_are_cancelled_or_made_due(bench, act, state):
    ids, foreign = later("acme", 3), later("globex")

    app.operations(ACME).bulk.start(act, "task:waits tenant:globex")
    app.operations(ACME).bulk.start(act, "task:waits")
    bench.drain(2)

    assert states(bench, ids) == [state] * 3
    now = bench.clock.now()
    assert all(bench.store.listing.get(job_id).run_at <= now for job_id in ids) is (act == "retry")
    assert bench.store.listing.get(foreign[0]).run_at > now
    assert states(bench, foreign) == [State.QUEUED]


def test_jobs_of_others_are_out_of_reach_whatever_the_filter_says(bench):
    (foreign,) = later("globex")
    bulk = app.operations(ACME).bulk

    counted = [bulk.preview("cancel", where).count for where in ("", "tenant:globex", f"id:{foreign}")]
    action = bulk.start("cancel", f"id:{foreign}")
    bench.drain()

    assert counted == [0, 0, 0]
    assert bulk.get(action.job.id).progress.done == 0
    assert states(bench, [foreign]) == [State.QUEUED]


def test_an_admin_reaches_all_tenants_and_none_of_them_sees_the_action(bench):
    ids = [*later("acme"), *later("globex"), *later("default")]

    action = app.operations(ADMIN).bulk.start("cancel", "task:waits")
    bench.drain()

    assert states(bench, ids) == [State.CANCELLED] * 3
    for principal in (ACME, Principal.of_tenant("default")):
        bulk = app.operations(principal).bulk
        assert bulk.page().rows == []
        for verb in (bulk.get, bulk.stop):
            with pytest.raises(NotFound):
                verb(action.job.id)


def test_nobody_acts_for_the_tenant_that_stands_for_all_of_them():
    for principal in (
        lambda: Principal.of_tenant("*"),
        lambda: Principal.support("ann", tenant="*", reason="ticket 7"),
        lambda: ADMIN.for_tenant("*"),
    ):
        with pytest.raises(InvalidValue, match="stands for all tenants"):
            principal()


def test_jobs_that_come_after_the_start_are_not_touched(bench):
    old = later("acme")
    action = app.operations(ACME).bulk.start("cancel", "task:waits")
    bench.advance(1)
    new = later("acme")

    bench.drain()

    assert [*states(bench, old), *states(bench, new)] == [State.CANCELLED, State.QUEUED]
    assert app.operations(ACME).bulk.get(action.job.id).progress.done == 1


def test_a_requeue_does_not_feed_itself(bench):
    first, second = [fails.using(tenant="acme", priority=100).enqueue("A1").id for _ in range(2)]
    bench.drain()
    bulk = app.operations(SUPPORT).bulk
    action = bulk.start("requeue")
    bench.advance(1)
    successor = app.operations(SUPPORT).dead_letters.requeue(first).id
    bench.drain(1)
    assert states(bench, [successor]) == [State.DEAD]

    bench.drain()

    assert bulk.get(action.job.id).progress.done == 1
    assert requeued(bench, [second, successor]) == [True, False]


def test_an_action_leaves_itself_and_its_like_alone(bench):
    ids = later("acme")
    bulk = app.operations(ACME).bulk
    first, second = bulk.start("retry", "task:waits"), bulk.start("cancel")

    bench.drain(2)

    assert states(bench, [first.job.id, second.job.id, *ids]) == [State.SUCCEEDED] * 2 + [State.CANCELLED]
    assert bulk.get(second.job.id).progress.of == 1


@pytest.mark.usefixtures("small_pages")
def test_a_job_that_cannot_be_is_counted_and_named_and_the_others_go_on(bench):
    held = [fails_alone.using(tenant="acme").enqueue("A1").id]
    bench.drain()
    free = bury(bench, "acme", "acme", "acme", "acme")
    twin = fails_alone.using(tenant="acme", delay="1 day").enqueue("A1").id

    action = app.operations(SUPPORT).bulk.start("requeue")
    bench.drain(1)

    progress = app.operations(SUPPORT).bulk.get(action.job.id).progress
    assert (progress.done, progress.refused, progress.of) == (4, 1, 5)
    (refusal,) = progress.refusals
    assert (refusal.id, refusal.code) == (held[0], "conflict")
    assert twin in refusal.message
    assert (requeued(bench, free), requeued(bench, held)) == ([True] * 4, [False])


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("act", ["requeue", "cancel"])
def test_a_run_that_lost_its_lease_does_nothing_more_and_the_next_goes_on(bench, between_pages, act):
    ids = bury(bench, *["acme"] * 5) if act == "requeue" else later("acme", 5)
    action = app.operations(SUPPORT).bulk.start(act, "task:fails,waits")
    seen = []

    def lose():
        bench.advance("1 h")
        assert bench.store.recovery.reap()
        seen.append(app.operations(SUPPORT).bulk.get(action.job.id).progress.done)

    between_pages(2, lose)
    bench.drain(1)
    seen.append(app.operations(SUPPORT).bulk.get(action.job.id).progress.done)
    bench.advance("1 h")
    bench.drain(1)

    assert seen == [2, 2]
    ended = app.operations(SUPPORT).bulk.get(action.job.id)
    assert (ended.progress.done, ended.progress.refused, ended.progress.of) == (5, 0, 5)
    name = "job.requeued" if act == "requeue" else "job.cancelled"
    assert sorted(event.job_id for event in events_of(bench, name)) == sorted(ids)
    assert len(events_of(bench, "bulk.finished")) == 1


@pytest.mark.usefixtures("small_pages")
def test_an_action_that_is_stopped_begins_no_further_page(bench, between_pages):
    ids = later("acme", 5)
    bulk = app.operations(ACME).bulk
    action = bulk.start("cancel", "task:waits")
    between_pages(2, lambda: bulk.stop(action.job.id, "wrong filter"))

    bench.drain()

    stopped = bulk.get(action.job.id)
    assert (stopped.job.state, stopped.job.reason) == (State.CANCELLED, "wrong filter")
    assert (stopped.progress.done, stopped.progress.ended) == (2, "stopped")
    assert states(bench, ids) == [State.QUEUED] * 3 + [State.CANCELLED] * 2
    (event,) = events_of(bench, "bulk.stopped")
    assert (event.job_id, event.data["done"], event.data["refused"]) == (action.job.id, 2, 0)
    assert event.data["reason"] == "wrong filter"
    assert events_of(bench, "bulk.finished") == []


def test_an_action_that_is_stopped_before_it_ran_says_so_too(bench):
    ids = later("acme", 2)
    bulk = app.operations(ACME).bulk
    action = bulk.start("cancel", "task:waits")

    stopped = bulk.stop(action.job.id, "wrong filter")
    bench.drain()

    assert (stopped.job.state, states(bench, ids)) == (State.CANCELLED, [State.QUEUED] * 2)
    (event,) = events_of(bench, "bulk.stopped")
    assert (event.actor, event.data["done"], event.data["reason"]) == ("tenant:acme", 0, "wrong filter")
    assert event.data.keys() >= set(events.FIELDS["bulk.stopped"])
    with pytest.raises(IllegalTransition):
        bulk.stop(action.job.id)


def test_every_event_says_who_and_why_and_for_which_request(bench):
    (letter,) = bury(bench, "acme")
    token = events.request_id.set("request-9")
    try:
        action = app.operations(SUPPORT).bulk.start("requeue", "task:fails", correlation_id="ticket-1")
    finally:
        events.request_id.reset(token)
    bench.drain(1)

    for name in ("bulk.started", "job.requeued", "bulk.finished"):
        (event,) = events_of(bench, name)
        assert (event.actor, event.data["reason"], event.data["request_id"]) == ("support:ann", "ticket 7", "request-9")
        assert event.data.keys() >= set(events.FIELDS[name])
    assert event.data["where"] == "task:fails"
    assert bench.store.listing.get(letter).requeued_to is not None
    successor = bench.store.listing.get(bench.store.listing.get(letter).requeued_to)
    assert (successor.correlation_id, action.actor, action.reason) == ("ticket-1", "support:ann", "ticket 7")


def test_an_action_takes_the_right_to_its_act_as_well(bench):
    bury(bench, "acme")
    bulk = app.operations(ACME).bulk

    for verb in (bulk.preview, bulk.start):
        with pytest.raises(Forbidden, match=r"dead\.requeue"):
            verb("requeue")
    assert bench.all_enqueued()[-1].task == "fails"


@pytest.mark.parametrize(
    ("act", "where", "options", "message"),
    [
        ("delete", "", {}, "is none of requeue, cancel, retry"),
        ("cancel", "stat:dead", {}, "is no field to filter by"),
        ("requeue", "state:queued", {}, "is no state of jobs to requeue"),
        ("cancel", "state:dead", {}, "is no state of jobs to cancel"),
        ("cancel", "", {"fresh": True}, "goes with requeue"),
    ],
)
def test_what_cannot_be_carried_out_is_refused_before_anything_is_written(bench, act, where, options, message):
    for verb in (app.operations(ADMIN).bulk.preview, app.operations(ADMIN).bulk.start):
        with pytest.raises(InvalidValue, match=message):
            verb(act, where, **options)
    assert bench.store.listing.page(JobFilter()).jobs == []


def test_nobody_enqueues_an_action_by_its_task(bench):
    app.operations(ACME).bulk.start("cancel")
    values = {"act": "cancel", "where": "", "up_to": bench.clock.now(), "role": "admin", "name": "root"}

    for principal in (ACME, ADMIN):
        with pytest.raises(Refused, match="the engine's own"):
            app.operations(principal).jobs.enqueue(BULK_TASK, values, tenant=principal.tenant)
    assert BULK_TASK not in [task.name for task in app.operations(ADMIN).tasks.list()]


def test_actions_are_listed_by_pages_the_newest_first():
    bulk = app.operations(ACME).bulk
    ids = [bulk.start("cancel").job.id for _ in range(3)]
    app.operations(GLOBEX).bulk.start("cancel")
    later("acme")

    first = bulk.page(limit=2)
    rest = bulk.page(after=first.next, limit=2)

    assert [action.job.id for action in first.rows] == ids[:0:-1]
    assert ([action.job.id for action in rest.rows], rest.next) == (ids[:1], None)
    assert len(app.operations(ADMIN).bulk.page().rows) == 4


def test_a_preview_says_who_is_missing_to_run_it(bench):
    bulk = app.operations(ADMIN).bulk
    assert "no live worker serves the queue 'default'" in bulk.preview("cancel").problem

    bench.store.workers.register(this_process("old"), ["default"], ["waits"])
    assert "knows the task 'haulwright.bulk'" in bulk.preview("cancel").problem

    bench.store.workers.register(this_process("new"), ["default"], [BULK_TASK, "waits"])
    assert bulk.preview("cancel").problem is None

    app.operations(ADMIN).queues.pause("default")
    assert "is paused" in bulk.preview("cancel").problem


def test_a_preview_counts_no_further_than_its_limit(monkeypatch):
    monkeypatch.setattr(bulk, "COUNT_LIMIT", 2)
    later("acme", 3)

    preview = app.operations(ACME).bulk.preview("cancel")

    assert (preview.count, preview.more) == (2, True)


@pytest.mark.usefixtures("small_pages")
def test_an_action_ends_at_its_limit_and_says_that_there_are_more(monkeypatch, bench):
    monkeypatch.setattr(bulk_run, "MOST_JOBS", 3)
    ids = later("acme", 4)
    action = app.operations(ACME).bulk.start("cancel")

    bench.drain()

    progress = app.operations(ACME).bulk.get(action.job.id).progress
    assert (progress.done, progress.of, progress.more) == (3, 3, True)
    assert states(bench, ids) == [State.QUEUED] + [State.CANCELLED] * 3


def test_what_is_no_action_looks_like_none():
    (job_id,) = later("acme")

    for missing in (job_id, new_id(), "no-id"):
        with pytest.raises(NotFound):
            app.operations(ADMIN).bulk.get(missing)
