"""The tasks that wait for others, and those that they wait for, in the tests of joins."""

from __future__ import annotations

from datetime import datetime

from haulwright import Context, Haulwright, Permanent, Retry, Tx
from haulwright.engine.outcome import Skip

app = Haulwright()
runs: list[str] = []


@app.task()
def part(n: int) -> int:
    runs.append(f"part {n}")
    return n * n


@app.task(retry=Retry(2, base="1 min", jitter=0))
def broken() -> int:
    message = "no such part"
    raise Permanent(message)


@app.task()
def skipped() -> Skip:
    return Skip("nothing to do")


@app.task(retry=Retry(3, base="1 min", jitter=0))
def whole(ctx: Context, count: int) -> int:
    runs.append("whole")
    ctx.effect("begin", runs.append, "effect")
    parts = ctx.enqueue_many("parts", [part.call(n) for n in range(count)])
    total = sum(outcome.value() for outcome in ctx.join(parts))
    runs.append("joined")
    return total


@app.task()
async def asynchronous_whole(ctx: Context, count: int) -> int:
    parts = await ctx.aenqueue_many("parts", [part.call(n) for n in range(count)])
    return sum(outcome.value() for outcome in await ctx.ajoin(parts))


def enqueue_parts(tx: Tx) -> list[str]:
    return [tx.enqueue(part, 1), tx.enqueue(broken), tx.enqueue(skipped)]


@app.task()
def mixed(ctx: Context, more: list[str]) -> list[list[str | int | None]]:
    ids = ctx.commit("parts", enqueue_parts)
    outcomes = ctx.join([*ids, *more])
    return [[one.state, one.result, one.reason, one.error.message if one.error else None] for one in outcomes]


@app.task()
def for_all_tenants(ctx: Context, *, any_tenant: bool) -> list[list[str | int | None]]:
    calls = [part.using(tenant="globex").call(3), part.using(tenant="initech").call(4)]
    jobs = ctx.enqueue_many("parts", calls)
    return [[one.state, one.result] for one in ctx.join(jobs, any_tenant=any_tenant)]


@app.task()
def impatient(ctx: Context, until: str) -> list[list[str | int | None]]:
    runs.append("impatient")
    jobs = ctx.enqueue_many("parts", [part.call(5), part.using(delay="1 h").call(6)])
    return [[one.state, one.result] for one in ctx.join(jobs, until=datetime.fromisoformat(until))]
