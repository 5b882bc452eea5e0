"""What a context does, step by step: written once, and walked on a thread or on the event loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeVar

from haulwright.client.blocking import is_async

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoreStep:
    """A step that the store takes, off the event loop."""

    act: Callable[[], Any]


@dataclass(frozen=True, slots=True)
class CallStep:
    """A step that is the user's own function."""

    act: Callable[[], Any]


Steps = Generator[StoreStep | CallStep, Any, T]


def walk(steps: Steps[T]) -> T:
    """Take the steps on this thread."""
    answer: Any = None
    try:
        step = next(steps)
        while True:
            try:
                answer = step.act()
            except BaseException as error:  # noqa: BLE001 - the steps decide what an error means
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def awalk(steps: Steps[T]) -> T:
    """Take the steps on the event loop: what blocks goes to a thread, what is awaitable is awaited."""
    try:
        step = next(steps)
        while True:
            try:
                answer = await _astep(step)
            except BaseException as error:  # noqa: BLE001 - as above
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def _astep(step: StoreStep | CallStep) -> Any:
    if isinstance(step, CallStep) and is_async(step.act):
        return await step.act()
    answer = await asyncio.to_thread(step.act)
    return await answer if inspect.isawaitable(answer) else answer
