"""Blocking calls: a plain name blocks its thread, so it is refused on the event loop, where all others would wait."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from haulwright.errors import BlockingCall


def require_off_loop(call: str, instead: str) -> None:
    """Refuse a blocking call on the event loop, and say what to write instead."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    message = f"{call} would block the event loop and everything on it."
    raise BlockingCall(message, hint=f"Write: await {instead}")


def is_async(function: Callable[..., Any]) -> bool:
    """Whether a function, or what a partial calls, is `async def`."""
    inner = function.func if isinstance(function, partial) else function
    return inspect.iscoroutinefunction(inner)
