"""Effects happen once: a retry gets the recorded result; what was interrupted is looked up before it is repeated."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from haulwright import Context, Haulwright, Principal, Retry
from haulwright.engine.payload import EFFECT_INLINE_LIMIT_BYTES, EFFECT_LIMIT_BYTES
from haulwright.errors import BlockingCall, EffectMismatch, InvalidPayload, InvalidValue, ResultTooLarge

app = Haulwright()
ADMIN = Principal.admin("root")
seen: list[Any] = []


@dataclass
class Payment:
    order: int
    at: datetime


def pay(order: int) -> Payment:
    seen.append(order)
    return Payment(order, datetime(2024, 1, 1, tzinfo=UTC))


async def apay(order: int) -> Payment:
    return pay(order)


def once(task: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Make a function a task that retries after a minute."""
    return app.task(retry=Retry(4, base="1 min", jitter=0), **options)(task)


def fail_first(ctx: Context) -> None:
    """Let the first attempt of a job fail after its effects."""
    if ctx.job.attempts == 1:
        raise ValueError("later")


@once
def bill(ctx: Context, order: int) -> Payment:
    payment = ctx.effect("pay", pay, order)
    fail_first(ctx)
    return payment


@once
async def abill(ctx: Context, order: int) -> Payment:
    payment = await ctx.aeffect("pay", apay, order)
    fail_first(ctx)
    return payment


@once
def recovering(ctx: Context, order: int) -> Payment | None:
    return ctx.effect("pay", pay, order, recover=look_up)


@once
async def arecovering(ctx: Context, order: int) -> Payment | None:
    return await ctx.aeffect("pay", apay, order, recover=alook_up)


def look_up(key: str) -> Payment | None:
    """Ask the bank whether this payment exists."""
    seen.append(key)
    return Payment(99, datetime(2024, 1, 1, tzinfo=UTC)) if 99 in seen else None


async def alook_up(key: str) -> Payment | None:
    return look_up(key)


@once
def careful(ctx: Context, order: int) -> int:
    return ctx.effect("pay", pay, order, at_most_once=True).order


@once
def with_artefact(ctx: Context) -> str:
    path = ctx.effect("write", write, verify=lambda path: path not in missing)
    fail_first(ctx)
    return path


missing: set[str] = set()


def write() -> str:
    seen.append("write")
    return "file.pdf"


@pytest.fixture(autouse=True)
def on_the_bench(bench):
    seen.clear()
    missing.clear()
    bench.use(app)


def run_to_the_end(bench, handle):
    for _ in range(4):
        bench.drain()
        bench.advance("5 min")
    return handle.job()


@pytest.mark.proves("EF-01", "EF-02", "EF-04", "EF-06")
@pytest.mark.parametrize("task", [bill, abill])
def test_a_retry_gets_the_recorded_result_and_does_not_call_again(bench, task):
    handle = task.enqueue(7)
    bench.drain()
    bench.advance("1 min")
    bench.drain()

    assert handle.result(0) == Payment(7, datetime(2024, 1, 1, tzinfo=UTC))
    assert (seen, handle.job().attempts) == ([7], 2)
    (effect,) = app.operations(ADMIN).effects.of_job(handle.id).rows
    assert (effect.name, effect.kind, effect.state, effect.fence) == ("pay", "effect", "done", 1)
    assert json.loads(effect.result) == {"order": 7, "at": "2024-01-01T00:00:00Z"}


@pytest.mark.proves("EF-03", "GU-02")
@pytest.mark.parametrize("task", [recovering, arecovering])
def test_an_interrupted_effect_that_happened_is_adopted(bench, task):
    handle = task.enqueue(99)
    with bench.crash(task, after="pay"):
        bench.drain()
    job = run_to_the_end(bench, handle)

    key = app.operations(ADMIN).effects.of_job(handle.id).rows[0].key
    assert (job.state, seen) == ("succeeded", [99, key])
    assert handle.result(0).order == 99


def test_an_interrupted_effect_that_did_not_happen_is_done_under_the_same_key(bench):
    handle = recovering.enqueue(7)
    with bench.crash(recovering, before="pay"):
        bench.drain()
    intent = app.operations(ADMIN).effects.of_job(handle.id).rows[0]
    run_to_the_end(bench, handle)
    (done,) = app.operations(ADMIN).effects.of_job(handle.id).rows

    assert (intent.state, done.state, done.key, done.tries) == ("intent", "done", intent.key, 2)
    assert seen == [intent.key, 7]


@pytest.mark.proves("GU-02")
def test_an_interrupted_effect_without_a_way_to_look_is_repeated_under_the_same_key(bench):
    handle = bill.enqueue(7)
    with bench.crash(bill, after="pay"):
        bench.drain()
    job = run_to_the_end(bench, handle)

    assert (job.state, seen) == ("succeeded", [7, 7])
    assert len(app.operations(ADMIN).effects.of_job(handle.id).rows) == 1


def unknown_effect(bench):
    """A job that is dead because nobody knows whether its payment happened."""
    handle = careful.enqueue(7)
    with bench.crash(careful, after="pay"):
        bench.drain()
    job = run_to_the_end(bench, handle)
    assert (job.state, job.reason, seen) == ("dead", "effect_unknown", [7])
    (effect,) = app.operations(ADMIN).effects.of_job(handle.id).rows
    assert effect.state == "unknown"
    return handle, effect.key


@pytest.mark.proves("RC-03")
def test_an_at_most_once_effect_that_was_interrupted_waits_for_a_person(bench):
    handle, key = unknown_effect(bench)

    names = [event.name for event in app.operations(ADMIN).jobs.timeline(handle.id).rows]
    assert "effect.unknown" in names
    assert f"haulwright effect resolve {key}" in handle.job().error_message


@pytest.mark.parametrize(("happened", "payments"), [(True, [7]), (False, [7, 7])])
def test_what_a_person_found_out_lets_a_requeued_job_go_on(bench, happened, payments):
    handle, key = unknown_effect(bench)
    result = '{"at":"2024-01-01T00:00:00Z","order":7}'

    bench.store.effects.resolve(
        "default", key, happened=happened, result=result if happened else None, actor="ann", reason="asked the bank"
    )
    successor = app.operations(ADMIN).dead_letters.requeue(handle.id)
    bench.drain()

    assert app.operations(ADMIN).jobs.get(successor.id).result == "7"
    assert seen == payments


def test_a_recorded_result_whose_artefact_is_gone_is_made_again(bench):
    handle = with_artefact.enqueue()
    bench.drain()
    missing.add("file.pdf")
    bench.advance("1 min")
    bench.drain()

    assert (handle.state(), seen) == ("succeeded", ["write", "write"])
    assert [effect.state for effect in app.operations(ADMIN).effects.of_job(handle.id).rows] == ["done"]


def in_a_run(bench, body, **kwargs):
    """Run a function as the body of a job, and return or raise what it does."""

    async def aodd(ctx: Context) -> Any:
        return await body(ctx)

    def odd(ctx: Context) -> Any:
        return body(ctx)

    own = Haulwright()
    task = own.task(name="odd", **kwargs)(aodd if asyncio.iscoroutinefunction(body) else odd)
    bench.use(own)
    return bench.run_inline(task)


def test_one_key_under_two_names_is_refused(bench):
    def body(ctx: Context) -> None:
        ctx.effect("pay", pay, 7, key="order-7")
        ctx.effect("refund", pay, 7, key="order-7")

    with pytest.raises(EffectMismatch, match="recorded as 'pay' and was asked for as 'refund'"):
        in_a_run(bench, body)


def test_effects_are_told_apart_by_name_and_arguments_or_by_their_key(bench):
    def body(ctx: Context) -> list[str]:
        ctx.effect("pay", pay, 1)
        ctx.effect("pay", pay, 2)
        ctx.effect("pay", pay, order=2)
        ctx.effect("pay", pay, 1)
        ctx.effect("pay", pay, 3, key="mine")
        ctx.effect("pay", pay, 4, key="mine")
        return [effect.name for effect in ctx.store.effects.of_job(ctx.job.tenant, ctx.job.job_key)]

    assert in_a_run(bench, body) == ["pay"] * 4
    assert seen == [1, 2, 2, 3]


def test_arguments_without_canonical_json_need_a_key(bench):
    def touch(_: object) -> str:
        return "done"

    def body(ctx: Context) -> str:
        with pytest.raises(InvalidPayload, match="Give the effect a key="):
            ctx.effect("touch", touch, object())
        return ctx.effect("touch", touch, object(), key="k")

    assert in_a_run(bench, body) == "done"


@pytest.mark.parametrize("size", [EFFECT_INLINE_LIMIT_BYTES - 2, EFFECT_INLINE_LIMIT_BYTES + 1, 1_000_000])
def test_a_large_result_comes_back_as_it_went_in(bench, size):
    def read() -> str:
        seen.append("read")
        return "é" * (size // 2)

    def body(ctx: Context) -> bool:
        return ctx.effect("read", read) == ctx.effect("read", read) == read()

    assert in_a_run(bench, body)
    assert len(seen) == 2


@pytest.mark.parametrize("letter", ["x", "é"])
def test_a_result_that_is_too_large_to_keep_never_repeats_its_effect(bench, letter):
    def read() -> str:
        seen.append("read")
        return letter * (EFFECT_LIMIT_BYTES // len(letter.encode()))

    def body(ctx: Context) -> None:
        for _ in range(2):
            with pytest.raises(ResultTooLarge, match="is done, but its result is over"):
                ctx.effect("read", read)

    in_a_run(bench, body)
    assert seen == ["read"]


def test_a_result_without_a_json_form_ends_the_job_instead_of_repeating_the_effect(bench):
    def odd(ctx: Context) -> None:
        ctx.effect("odd", object)

    own = Haulwright()
    task = own.task(name="odd")(odd)
    bench.use(own)
    handle = task.enqueue()
    bench.drain()

    job = handle.job()
    assert (job.state, job.reason) == ("dead", "permanent")
    assert "is done, but its result cannot be recorded" in job.error_message


def test_what_an_effect_raises_is_no_result(bench):
    bench.fail_effect("pay", ConnectionError("no answer"), times=2)
    handle = bill.enqueue(7)
    job = run_to_the_end(bench, handle)

    assert (job.state, job.attempts, seen) == ("succeeded", 3, [7])


def test_the_plain_doors_are_refused_on_the_event_loop_before_anything_is_written(bench):
    async def body(ctx: Context) -> int:
        for door, act in {
            "aeffect": lambda: ctx.effect("pay", pay, 7),
            "acommit": lambda: ctx.commit("save", pay),
            "astage": lambda: ctx.stage("x", None),
            "aprogress": lambda: ctx.progress(1),
        }.items():
            with pytest.raises(BlockingCall, match=rf"Write: await ctx\.{door}"):
                act()
        return len(ctx.store.effects.of_job(ctx.job.tenant, ctx.job.job_key))

    assert in_a_run(bench, body) == 0


def test_an_asynchronous_function_is_refused_by_a_plain_effect_before_anything_is_written(bench):
    def body(ctx: Context) -> int:
        for given in ({"function": apay}, {"function": pay, "recover": alook_up}):
            with pytest.raises(BlockingCall, match="Make the task async def"):
                ctx.effect("pay", order=7, **given)
        return len(ctx.store.effects.of_job(ctx.job.tenant, ctx.job.job_key))

    assert in_a_run(bench, body) == 0


@once
def bill_with_key(ctx: Context, order: int) -> str:
    ctx.effect("pay", pay, order)
    fail_first(ctx)
    return ctx.key_for("pay", order)


def test_a_task_can_tell_the_other_side_the_key_under_which_the_ledger_knows_its_effect(bench):
    handle = bill_with_key.enqueue(7)
    bench.drain()
    bench.advance("1 min")
    bench.drain()

    (effect,) = app.operations(ADMIN).effects.of_job(handle.id).rows
    assert handle.result(0) == effect.key


class Page:
    def __init__(self, number: int) -> None:
        self.number = number

    def load(self) -> int:
        return self.number


LOOPS: dict[str, Callable[[Context], list[int]]] = {
    "lambda": lambda ctx: [ctx.effect("load", lambda: number) for number in (1, 2)],  # noqa: B023 - the trap itself
    "default": lambda ctx: [ctx.effect("load", lambda number=number: number) for number in (1, 2)],
    "partial": lambda ctx: [ctx.effect("load", partial(int, number)) for number in (1, 2)],
    "method": lambda ctx: [ctx.effect("load", page.load) for page in (Page(1), Page(2))],
    "function": lambda ctx: [ctx.effect("load", function) for function in (int, float)],
    "nested": lambda ctx: [ctx.effect("load", lambda act=act: act()) for act in (lambda: 1, lambda: 2)],
}


@once
def load_each(ctx: Context, loop: str) -> list[int]:
    return LOOPS[loop](ctx)


@pytest.mark.parametrize("loop", LOOPS)
def test_another_closure_under_a_name_of_this_run_is_refused_and_not_answered_with_the_first_result(bench, loop):
    with pytest.raises(InvalidValue, match="effect: 'load' was called before in this run") as refused:
        bench.run_inline(load_each, loop)

    assert "Pass what differs as an argument" in refused.value.hint


@once
def load_again(ctx: Context) -> list[int]:
    def load_once(number: int) -> int:
        return ctx.effect("load", lambda: seen.append(number) or number)

    keyed = [ctx.effect("token", lambda: number, key="token") for number in (1, 2)]  # noqa: B023 - meant so
    return [load_once(7), load_once(7), *keyed]


def test_the_same_closure_again_gets_the_recorded_result_and_so_does_one_with_a_key(bench):
    assert (bench.run_inline(load_again), seen) == ([7, 7, 1, 1], [7])
