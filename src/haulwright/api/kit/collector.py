"""Work of many requests done together: in one thread, and for the database in one go.

A thread for each would cost more than what it does. Nobody waits for company: who comes while others are worked for is
in the next group.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from starlette.concurrency import run_in_threadpool

Item = TypeVar("Item")
Answer = TypeVar("Answer")

MOST_ITEMS: Final = 100


class Collector(Generic[Item, Answer]):
    """Collects items on the event loop, and has `work` done for those that came together."""

    def __init__(self, work: Callable[[Sequence[Item]], Sequence[Answer | Exception]]) -> None:
        self._work = work
        self._waiting: deque[tuple[Item, asyncio.Future[Answer]]] = deque()
        self._working: asyncio.Task[None] | None = None

    async def submit(self, item: Item) -> Answer:
        """Have the work done for an item; raises what its own part raised."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._working is None:
            self._working = asyncio.create_task(self._serve())
        return await future

    async def _serve(self) -> None:
        try:
            while self._waiting:
                group = [self._waiting.popleft() for _ in range(min(len(self._waiting), MOST_ITEMS))]
                _deliver(group, await self._answers([item for item, _ in group]))
        finally:
            self._working = None

    async def _answers(self, items: Sequence[Item]) -> Sequence[Answer | Exception]:
        try:
            return await run_in_threadpool(self._work, items)
        except Exception as error:  # noqa: BLE001 - each is told of it
            return [error] * len(items)


def _deliver(group: Sequence[tuple[Item, asyncio.Future[Answer]]], answers: Sequence[Answer | Exception]) -> None:
    for (_, future), answer in zip(group, answers, strict=True):
        if future.done():
            continue  # whoever asked has left; what was done stays done
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
