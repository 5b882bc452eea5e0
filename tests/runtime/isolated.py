"""An app that other processes import: tasks that end in every way a process can end."""

from __future__ import annotations

import ctypes
import os
import sys

from penstock import Context, Penstock, Retry

app = Penstock()


@app.task(isolation="process", retry=Retry(2, base=0, jitter=0))
def where(ctx: Context) -> int:
    ctx.progress(1)
    return os.getpid()


@app.task(isolation="process", retry=Retry(2, base=0, jitter=0))
async def awhere(ctx: Context) -> int:
    await ctx.aprogress(1)
    return os.getpid()


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
