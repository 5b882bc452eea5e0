"""An app that other processes import: tasks that end in every way a process can end."""

from __future__ import annotations

import ctypes
import logging
import os
import sys
import time

from haulwright import Context, Haulwright, Retry

app = Haulwright()


@app.task(isolation="process", retry=Retry(2, base=0, jitter=0))
def where(ctx: Context) -> int:
    ctx.progress(1)
    return os.getpid()


@app.task(isolation="process", retry=Retry(2, base=0, jitter=0))
async def awhere(ctx: Context) -> int:
    await ctx.aprogress(1)
    return os.getpid()


@app.task()
def anybody(n: int) -> int:
    return n


@app.task(isolation="process")
def slowly(n: int) -> int:
    time.sleep(0.5)
    return n


@app.task(isolation="process")
def gather(ctx: Context, count: int) -> int:
    parts = ctx.enqueue_many("parts", [anybody.call(n) for n in range(count)])
    return sum(outcome.value() for outcome in ctx.join(parts))


@app.task()
async def agather(ctx: Context, count: int) -> int:
    parts = await ctx.aenqueue_many("parts", [anybody.call(n) for n in range(count)])
    return sum(outcome.value() for outcome in await ctx.ajoin(parts))


@app.task(isolation="process", retry=Retry(1))
def segfault() -> None:
    ctypes.string_at(0)


@app.task(isolation="process", retry=Retry(1))
def leave() -> None:
    os._exit(0)


@app.task(isolation="process", retry=Retry(1))
def exit_politely() -> None:
    sys.exit(3)


@app.task(isolation="process", timeout="0.2 s", retry=Retry(1))
def never() -> None:
    while True:
        pass


@app.task()
def anywhere() -> int:
    return os.getpid()


def look_up(prices: dict[str, int]) -> int:
    return prices["nope"]


@app.task(isolation="process", retry=Retry(1))
def raises() -> int:
    return look_up({})


@app.task(isolation="process")
def talk(ctx: Context) -> None:
    """It logs in every way there is."""
    ctx.log.info("%s pages", 3, extra={"facts": {"host": Unpicklable()}})
    logging.getLogger("shop").debug("nobody asked for this")
    try:
        _ = 1 / 0
    except ZeroDivisionError:
        logging.getLogger("shop").exception("a page was skipped")


@app.task(isolation="process", retry=1)
def talk_badly(ctx: Context) -> str:
    """It logs what cannot be written, then goes on."""
    log = logging.getLogger("shop")
    ctx.log.info("a page", extra={"page": 3, "sku": Unpicklable()})
    log.info("%d pages", "three")
    log.info(Speechless())
    log.info("a page", extra={"page": Speechless()})
    log.info("a page", extra={"facts": "no mapping"})
    log.info("and %s", "on")
    return "done"


@app.task(isolation="process", retry=1, timeout="0.5 s")
def talk_on(ctx: Context) -> None:
    """It logs without an end, and hears nothing."""
    while True:
        ctx.log.info("and on")


class Unpicklable:
    """What cannot travel to another process."""

    def __reduce__(self) -> str:
        raise TypeError("stays here")

    def __str__(self) -> str:
        return "shop.example"


class Speechless:
    """What cannot even be shown."""

    def __str__(self) -> str:
        raise RuntimeError("says nothing")

    __repr__ = __str__
