"""One event loop in the background, for the plain doors: they hand their call to it and wait."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from haulwright.errors import BlockingCall

T = TypeVar("T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def wait_for(door: str, instead: str, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a call on the loop in the background and return what it returns; context variables go with it."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        message = f"{door} would block the event loop and everything on it."
        raise BlockingCall(message, hint=f"Write: await {instead}")
    future = asyncio.run_coroutine_threadsafe(call(), loop())
    try:
        return future.result()
    finally:
        future.cancel()  # where the wait was interrupted: nobody wants the answer any more


def loop() -> asyncio.AbstractEventLoop:
    """The loop, started by whoever needs it first; it ends with the process."""
    global _loop  # noqa: PLW0603  one for the whole package
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="haulwright-http", daemon=True).start()
        return _loop


def is_running() -> bool:
    """Whether anybody needed the loop yet."""
    return _loop is not None


def _forget_loop() -> None:
    """A forked child has the loop but not its thread."""
    global _loop, _lock
    _loop, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_loop)
