"""An app that another process can import by its name; its database is the one that the environment names."""

from __future__ import annotations

import time

from haulwright import Context, Haulwright
from haulwright.errors import LeaseLost

app = Haulwright()
told: list[str] = []


def until_told(ctx: Context) -> None:
    """Work that asks now and then whether it should go on."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        ctx.check()
        time.sleep(0.01)


@app.task(lease="1 s")
def late(ctx: Context) -> str:
    """Run until the lease is lost; the run after that succeeds at once."""
    if ctx.job.losses:
        return "second"
    try:
        until_told(ctx)
    except LeaseLost:
        told.append("lost")
    return "first"
