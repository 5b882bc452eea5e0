"""A job waits for others without holding a worker, wakes when the last of them ends, and gets how they ended."""

from __future__ import annotations

from datetime import timedelta

import pytest

from haulwright import Context, Haulwright, State
from haulwright.engine.ids import new_id
from haulwright.engine.join import JOIN_GATE
from haulwright.errors import JobFailed, Suspended
from haulwright.stores.job_rows import Requeue
from tests.client.joined import app, asynchronous_whole, broken, for_all_tenants, impatient, mixed, part, runs, whole

pytestmark = pytest.mark.usefixtures("on_the_bench")


def test_a_task_that_works_for_all_tenants_waits_for_jobs_of_any_and_no_other_does(bench):
    for_all, for_one = for_all_tenants.enqueue(any_tenant=True), for_all_tenants.enqueue(any_tenant=False)
    bench.drain()

    assert for_all.result(0) == [["succeeded", 9], ["succeeded", 16]]
    assert for_one.result(0) == [[None, None], [None, None]]


def test_a_join_until_a_time_returns_then_with_how_each_job_stands(bench):
    handle = impatient.enqueue((bench.now + timedelta(seconds=90)).isoformat())
    bench.drain()
    assert handle.state() == "queued"

    for _ in range(3):  # it looks by itself meanwhile, and never later than it was told
        bench.advance("30 s")
        bench.drain()

    assert handle.result(0) == [["succeeded", 25], ["queued", None]]
    assert runs.count("part 6") == 0


def test_a_join_until_a_time_returns_before_it_where_all_jobs_have_ended(bench):
    handle = impatient.enqueue((bench.now + timedelta(days=1)).isoformat())
    bench.drain()
    bench.advance("1 h")
    bench.drain()

    assert handle.result(0) == [["succeeded", 25], ["succeeded", 36]]


def test_a_job_gets_the_results_of_the_jobs_that_it_waited_for(bench):
    handle = whole.enqueue(3)
    bench.drain()

    assert handle.result(0) == 0 + 1 + 4
    assert runs == ["whole", "effect", "part 0", "part 1", "part 2", "whole", "joined"]


def test_an_asynchronous_job_waits_the_same_way(bench):
    handle = asynchronous_whole.enqueue(3)
    bench.drain()

    assert handle.result(0) == 0 + 1 + 4


def test_a_waiting_job_holds_no_worker_and_burns_no_attempt(bench):
    handle = whole.enqueue(3)
    bench.drain(limit=1)

    job = handle.job()
    assert (job.state, job.waiting_on, job.attempts, job.deferrals) == (State.QUEUED, JOIN_GATE, 0, 1)
    assert (job.worker_id, job.error_code) == (None, None)
    bench.drain(limit=2)
    assert handle.job().run_at > bench.clock.now()


def test_the_end_of_the_last_one_wakes_the_job(bench):
    handle = whole.enqueue(2)
    bench.drain(limit=3)

    assert handle.job().run_at == bench.clock.now()
    assert (bench.drain(), handle.result(0)) == (1, 1)


def test_jobs_that_have_ended_already_are_not_waited_for(bench):
    ids = [part.enqueue(n).id for n in (3, 4)]
    bench.drain()
    handle = mixed.enqueue(ids)
    bench.drain()

    assert [row[:2] for row in handle.result(0)][3:] == [["succeeded", 9], ["succeeded", 16]]
    assert bench.all_enqueued(mixed)[0].deferrals == 1  # for those of its own


def test_every_way_to_end_is_told_as_it_is(bench):
    pruned = new_id()
    foreign = part.using(tenant="globex").enqueue(7).id
    handle = mixed.enqueue([pruned, foreign])
    bench.drain()

    assert handle.result(0) == [
        ["succeeded", 1, None, None],
        ["dead", None, "permanent", "no such part"],
        ["skipped", None, "nothing to do", None],
        [None, None, None, None],
        [None, None, None, None],
    ]


def test_an_outcome_without_a_result_raises_when_its_value_is_asked_for(bench):
    @app.task(name="strict")
    def strict(ctx: Context) -> str:
        (outcome,) = ctx.join(ctx.enqueue_many("one", [broken.call()]))
        with pytest.raises(JobFailed) as failure:
            outcome.value()
        return f"{failure.value.state} {(failure.value.error or {})['message']}"

    try:
        handle = strict.enqueue()
        bench.drain()
        assert handle.result(0) == "dead no such part"
    finally:
        del app.tasks["strict"]


def test_a_job_may_wait_for_several_sets_one_after_the_other(bench):
    phases = Haulwright()

    @phases.task(name="phases")
    def run(ctx: Context) -> list[int]:
        first = ctx.join(ctx.enqueue_many("first", [part.call(2), part.call(3)]))
        values = [outcome.value() for outcome in first]
        second = ctx.join(ctx.enqueue_many("second", [part.call(n) for n in values]))
        return [outcome.value() for outcome in second]

    bench.use(phases)
    handle = run.enqueue()
    bench.drain()

    assert handle.result(0) == [16, 81]
    assert sorted(runs) == ["part 2", "part 3", "part 4", "part 9"]
    assert bench.store.database.read(lambda c: c.execute("select count(*) from haulwright_joins")) == [(0,)]


def test_a_requeued_job_is_waited_for_in_its_next_life(bench):
    dead = broken.enqueue()
    bench.drain()
    successor = bench.store.jobs.requeue(dead.id, Requeue("alice"), tenant=None)
    handle = mixed.enqueue([dead.id])
    bench.drain(limit=2)  # the successor is next in line; it fails again

    assert bench.store.listing.get(successor.id).state is State.DEAD
    bench.drain()
    assert handle.result(0)[3] == ["dead", None, "permanent", "no such part"]


def test_one_job_may_be_given_twice_and_none_is_a_list_too(bench):
    other = Haulwright()

    @other.task(name="twice")
    def twice(ctx: Context) -> int:
        (handle,) = ctx.enqueue_many("one", [part.call(5)])
        return sum(outcome.value() for outcome in ctx.join([handle, handle])) + len(ctx.join([]))

    bench.use(other)
    handle = twice.enqueue()
    bench.drain()

    assert handle.result(0) == 50


def test_code_that_swallows_the_signal_does_not_end_the_job(bench):
    other = Haulwright()

    @other.task(name="greedy")
    def greedy(ctx: Context) -> str:
        parts = ctx.enqueue_many("parts", [part.call(1)])
        try:
            ctx.join(parts)
        except BaseException:  # noqa: BLE001 - what nobody should do, and somebody will
            with pytest.raises(Suspended):
                ctx.effect("later", runs.append, "too early")
            return "ended without its parts"
        return "ended with its parts"

    bench.use(other)
    handle = greedy.enqueue()
    bench.drain()

    assert handle.result(0) == "ended with its parts"
    assert "too early" not in runs


@pytest.mark.parametrize("moment", [{"before": "join"}, {"after": "join"}, {"before": "settle"}, {"after": "parts"}])
def test_a_crash_at_any_moment_of_a_join_costs_nothing_but_time(bench, moment):
    handle = whole.enqueue(3)
    with bench.crash(whole, **moment):
        bench.drain()
    bench.drain()  # the others go on meanwhile
    bench.advance("3 min")
    bench.drain()
    bench.advance("10 min")
    bench.drain()

    assert handle.result(0) == 5
    assert sorted(one for one in runs if one.startswith("part")) == ["part 0", "part 1", "part 2"]
    assert runs.count("effect") == 1


def test_a_crash_of_the_last_one_only_delays_the_job(bench):
    handle = whole.enqueue(2)
    bench.drain(limit=2)
    with bench.crash(part, before="settle"):
        bench.drain()
    bench.advance("3 min")
    bench.drain()
    bench.advance("10 min")
    bench.drain()

    assert handle.result(0) == 1


def test_in_immediate_mode_a_job_waits_for_its_parts_too(bench):
    with bench.immediate():
        handle = whole.enqueue(3)

    assert handle.result(0) == 5


def test_a_deadline_holds_while_a_job_waits_for_others(bench):
    handle = whole.using(deadline="1 h").enqueue(1)
    bench.drain(limit=1)
    bench.advance("2 h")
    bench.drain()

    assert (handle.state(), handle.job().reason) == ("dead", "deadline")
    assert bench.store.database.read(lambda c: c.execute("select count(*) from haulwright_joins")) == [(0,)]


def test_a_person_ends_a_waiting_job(bench):
    handle = whole.enqueue(1)
    bench.drain(limit=1)
    bench.store.jobs.cancel(handle.id, tenant=None, reason="enough", actor="alice")
    bench.drain()

    assert (handle.state(), runs.count("part 0")) == ("cancelled", 1)
    assert bench.store.database.read(lambda c: c.execute("select count(*) from haulwright_joins")) == [(0,)]
