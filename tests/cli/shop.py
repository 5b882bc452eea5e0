"""The app of these tests: a shop with tasks that succeed, fail, wait and hang on to effects."""

from __future__ import annotations

import threading
from typing import Any

from haulwright import Concurrency, Context, Haulwright, Retry
from haulwright.errors import AuthFailed

app = Haulwright()
released = threading.Event()


@app.task(tags=("prices",), retry=Retry(1))
def price(ctx: Context, sku: str, amount: int = 1) -> dict[str, int]:
    """The price of something; `bad` has none, and the door to `locked` does not open."""
    if sku == "bad":
        message = "no such thing"
        raise ValueError(message)
    if sku == "locked":
        raise AuthFailed
    return {"cents": ctx.effect("ask", len, sku) * amount}


@app.task(queue="slow", retry=Retry(3, base="1 h", cap="1 h", jitter=0))
def fetch(url: str, headers: dict[str, str] | None = None) -> str:
    """Fails once and waits an hour."""
    del headers
    raise TimeoutError(url)


@app.task(concurrency=Concurrency(1))
def alone() -> None:
    """One at a time."""


@app.task()
def keep(value: Any, text: str = "", ratio: float = 0.0) -> None:
    """Takes anything."""


app.schedule("daily prices", "30 2 * * *", price, tz="Europe/Berlin", args={"sku": "A1"})
app.schedule("hourly prices", "0 * * * *", price, args={"sku": "A2"}, overlap="allow")
