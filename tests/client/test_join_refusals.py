"""What a job cannot wait for is refused, with the reason."""

from __future__ import annotations

import pytest

from haulwright import Context, Haulwright, Retry
from haulwright.engine.ids import new_id
from haulwright.engine.join import JOIN_LIMIT
from haulwright.errors import BlockingCall, InvalidValue
from tests.client.joined import app, impatient, part, runs

pytestmark = pytest.mark.usefixtures("on_the_bench")


def test_a_join_until_a_time_without_a_zone_is_refused(bench):
    handle = impatient.enqueue("2024-01-01T00:00:00")
    bench.drain()

    assert "has no time zone" in bench.store.listing.get(handle.id).error_message


@pytest.mark.parametrize(
    ("jobs", "why"),
    [
        (lambda _: "018f2f6e-7c1a-7abc-8def-0123456789ab", "is not a list of jobs"),
        (lambda _: ["nonsense"], "is neither a handle nor the id of a job"),
        (lambda _: [None], "is neither a handle nor the id of a job"),
        (lambda ctx: [ctx.job.id], "is the job itself, which would wait for ever"),
        (lambda _: [new_id()] * (JOIN_LIMIT + 1), f"are more than {JOIN_LIMIT} jobs"),
        (lambda _: [part.enqueue(1)], "was enqueued by this run"),
        (lambda _: [part.enqueue(1).id], "was enqueued by this run"),
        (lambda _: [part.using(unique="u").enqueue(1)], "was enqueued by this run"),
        (lambda _: app.enqueue_many([part.call(1), part.call(2)]), "was enqueued by this run"),
    ],
)
def test_what_makes_no_sense_to_wait_for_is_refused(bench, jobs, why):
    other = Haulwright()

    @other.task(name="senseless", retry=Retry(1))
    def senseless(ctx: Context) -> None:
        ctx.join(jobs(ctx))

    bench.use(other)
    with pytest.raises(InvalidValue, match=why):
        bench.run_inline(senseless)


def test_jobs_that_a_later_run_finds_again_may_be_waited_for(bench):
    other = Haulwright()

    @other.task(name="keyed")
    def keyed(ctx: Context) -> int:
        planned = part.using(job_key=f"{ctx.job.job_key}-1").enqueue(2)
        recorded = ctx.effect("enqueue", lambda: part.enqueue(3).id)
        return sum(outcome.value() for outcome in ctx.join([planned.id, recorded]))

    bench.use(other)
    handle = keyed.enqueue()
    bench.drain()

    assert handle.result(0) == 4 + 9


def test_two_jobs_that_wait_for_each_other_are_refused(bench):
    other = Haulwright()

    @other.task(name="upper", retry=Retry(1))
    def upper(ctx: Context) -> str:
        (outcome,) = ctx.join(ctx.enqueue_many("lower", [lower.call(ctx.job.id)]))
        return outcome.error.message if outcome.error else ""

    @other.task(name="lower", retry=Retry(1))
    def lower(ctx: Context, above: str) -> None:
        ctx.join([above])

    bench.use(other)
    handle = upper.enqueue()
    bench.drain()

    assert f"cannot wait for job {handle.id}, which waits for it" in handle.result(0)


def test_the_plain_door_is_refused_on_the_event_loop(bench):
    other = Haulwright()

    @other.task(name="on_loop", retry=Retry(1))
    async def on_loop(ctx: Context) -> None:
        ctx.join([])

    bench.use(other)
    with pytest.raises(BlockingCall, match="ajoin"):
        bench.run_inline(on_loop)


def test_calls_that_change_between_runs_are_refused(bench):
    other = Haulwright()

    @other.task(name="fickle", retry=Retry(1))
    def fickle(ctx: Context) -> None:
        ctx.join(ctx.enqueue_many("parts", [part.call(n) for n in range(1 + len(runs))]))

    bench.use(other)
    handle = fickle.enqueue()
    bench.drain()

    assert "enqueued 1 jobs in an earlier run, and 2 calls are given now" in str(handle.job().error_message)


def test_other_jobs_under_a_name_of_this_run_are_refused_and_not_answered_with_the_first_ones_handles(bench):
    @app.task(name="loop")
    def loop(ctx: Context) -> None:
        for number in (1, 1, 2):
            ctx.enqueue_many("part", [part.call(number)])

    with pytest.raises(InvalidValue, match="enqueue_many: 'part' enqueued other jobs before in this run"):
        bench.run_inline(loop)
