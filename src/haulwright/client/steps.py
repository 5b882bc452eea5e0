"""What a context does, step by step: written once, and walked on a thread or on the event loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from haulwright.client.commit_queue import CommitQueue
    from haulwright.stores.commit_groups import CommitRequest

from haulwright.client.blocking import is_async

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoreStep:
    """A step that the store takes, off the event loop."""

    act: Callable[[], Any]


@dataclass(frozen=True, slots=True)
class CommitStep:
    """A step that the store may take together with those of other runs."""

    request: CommitRequest
    queue: CommitQueue

    def act(self) -> str | None:
        """Take it, and wait on this thread."""
        return self.queue.commit(self.request)


@dataclass(frozen=True, slots=True)
class CallStep:
    """A step that is the user's own function."""

    act: Callable[[], Any]


Steps = Generator[StoreStep | CommitStep | CallStep, Any, T]


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


async def _astep(step: StoreStep | CommitStep | CallStep) -> Any:
    if isinstance(step, CommitStep):
        return await step.queue.acommit(step.request)
    if isinstance(step, CallStep) and is_async(step.act):
        return await step.act()
    answer = await asyncio.to_thread(step.act)
    return await answer if inspect.isawaitable(answer) else answer
