"""Calls that are right: a type checker finds nothing to say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, assert_type

from haulwright import (
    Concurrency,
    Context,
    Handle,
    Haulwright,
    JobOutcome,
    Retry,
    Snooze,
    StageMachine,
    State,
    Task,
    Tx,
    UniqueBy,
)

app = Haulwright()
MACHINE = StageMachine("m", start="NEW", moves={"NEW": {"DONE"}}, final={"DONE"})


@dataclass
class Price:
    sku: str
    amount: float


def fetch(url: str) -> str:
    return url


async def afetch(url: str) -> str:
    return url


def save(tx: Tx, price: Price) -> Price:
    tx.execute("insert into prices values (?, ?)", (price.sku, price.amount))
    tx.enqueue(alert, price.sku)
    tx.enqueue(alert, sku=price.sku, loud=True)
    tx.stage("DONE", MACHINE)
    return price


@app.task(queue="alerts", retry=3)
def alert(sku: str, *, loud: bool = False) -> None:
    assert_type((sku, loud), tuple[str, bool])


@app.task(unique="sku", timeout="2 min", retry=Retry(5, base="1 min", cap="24 h"), concurrency=Concurrency(2, by="sku"))
async def scrape(ctx: Context, sku: str, url: str = "https://shop.example") -> Price:
    page = await ctx.aeffect("fetch", afetch, url, key="page")
    assert_type(page, str)
    assert_type(await ctx.aeffect("again", fetch, url), str)
    await ctx.aprogress(1, 2)
    await ctx.astage("DONE", MACHINE)
    return await ctx.acommit("save", save, Price(sku, len(page)), settle=True)


@app.task(unique=UniqueBy(["shop"], "1 h"), concurrency=2, deadline=timedelta(days=1), tags=["nightly"])
def scrape_all(ctx: Context, shop: str = "all") -> int | Snooze:
    page = ctx.effect("fetch", fetch, shop, recover=lambda key: key)
    assert_type(page, str)
    ctx.commit("save", save, Price(shop, 1.0))
    return len(page) if ctx.job.attempts > 1 else Snooze(60, "shop")


@app.task
def add(ctx: Context, a: int, b: int = 2) -> int:
    return a + b + ctx.job.attempts


@app.task
async def aadd(a: int) -> int:
    return a


async def direct_calls(ctx: Context) -> None:
    assert_type(add(ctx, 1, b=3), int)
    assert_type(await aadd(1), int)
    assert_type(await scrape(ctx, "A1"), Price)
    assert_type(add.enqueue(1), Handle[int])
    assert_type(aadd.enqueue(1), Handle[int])


def enqueue() -> None:
    handle = scrape.enqueue("A1", url="https://shop.example/A1")
    assert_type(handle, Handle[Price])
    assert_type(handle.result(timeout=1.0), Price)
    assert_type(handle.state(), State)
    assert_type(scrape_all.enqueue().result(), int | Snooze)
    scrape.using(tenant="acme", delay="1 h", run_at=datetime.now(UTC), tags=["a"]).enqueue("A1")
    alert.using(connection=None, priority=5).enqueue("A1", loud=True)
    assert_type(app.enqueue_many([scrape.call("A1"), scrape.using(priority=1).call("B2")]), list[Handle[Price]])
    app.enqueue_many([scrape.call("A1"), alert.call("A1")])


def join(ctx: Context, ids: list[str]) -> None:
    handles = ctx.enqueue_many("prices", [scrape.call("A1"), scrape.call("B2")])
    assert_type(handles, list[Handle[Price]])
    assert_type(ctx.join(handles), list[JobOutcome[Price]])
    assert_type([outcome.value() for outcome in ctx.join(handles)], list[Price])
    assert_type(ctx.join(ids), list[JobOutcome[Any]])


async def ajoin(ctx: Context) -> None:
    handles = await ctx.aenqueue_many("prices", [scrape.call("A1")])
    assert_type(await ctx.ajoin(handles), list[JobOutcome[Price]])


async def aenqueue() -> Price:
    handle = await scrape.aenqueue("A1")
    assert_type(handle, Handle[Price])
    await app.aenqueue_many([alert.call("A1")])
    return await handle.aresult(5)


def schedule() -> None:
    app.schedule("hourly", "0 * * * *", scrape_all, tz="Europe/Berlin", misfire_grace="10 min", overlap="skip")
    app.schedule("one", "0 * * * *", scrape, args={"sku": "A1"}, tenant="acme")


def pass_on(task: Task[[str], Price]) -> Callable[[str], Handle[Price]]:
    return task.enqueue
