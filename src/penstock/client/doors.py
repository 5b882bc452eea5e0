"""Doors: a plain name blocks its thread, so it is not for the event loop, where every other job would wait with it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from penstock.errors import WrongDoor


def require_off_loop(door: str, instead: str) -> None:
    """Refuse a blocking call on the event loop, and say what to write instead."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    message = f"{door} would block the event loop and everything on it."
    raise WrongDoor(message, hint=f"Write: await {instead}")


def is_async(function: Callable[..., Any]) -> bool:
    """Whether a function, or what a partial calls, is `async def`."""
    inner = function.func if isinstance(function, partial) else function
    return inspect.iscoroutinefunction(inner)
