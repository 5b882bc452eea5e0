"""Calls of the store that runs on an event loop make at the same moment: one call is made for all of them.

Nobody waits for company: who comes in one turn of the loop, or while a call is under way, goes with the next one.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Generic, TypeVar
from weakref import WeakKeyDictionary

Item = TypeVar("Item")
Answer = TypeVar("Answer")

MOST_ITEMS: Final = 50


@dataclass(slots=True)
class _Group(Generic[Item, Answer]):
    """What waits on one event loop."""

    waiting: deque[tuple[Item, asyncio.Future[Answer]]] = field(default_factory=deque)
    is_busy: bool = False
    """A call is under way, or about to be."""


class GroupedCalls(Generic[Item, Answer]):
    """Calls of one kind: `act` is given items, on a thread, and answers for each.

    `at_once` may answer on the event loop, where it takes a moment and waits for nothing; or None.
    """

    def __init__(
        self,
        act: Callable[[Sequence[Item]], Sequence[Answer]],
        at_once: Callable[[Sequence[Item]], Sequence[Answer] | None] = lambda _items: None,
    ) -> None:
        self._act = act
        self._at_once = at_once
        self._groups: WeakKeyDictionary[asyncio.AbstractEventLoop, _Group[Item, Answer]] = WeakKeyDictionary()

    async def call(self, item: Item) -> Answer:
        """The answer for an item. It is asked for even where its caller is ended meanwhile."""
        return await self.submit(item)

    def submit(self, item: Item) -> asyncio.Future[Answer]:
        """The same for somebody who has to see the answer, come what may: what is to come of an item."""
        loop = asyncio.get_running_loop()
        group = self._groups.get(loop)
        if group is None:
            group = self._groups[loop] = _Group()
        future: asyncio.Future[Answer] = loop.create_future()
        group.waiting.append((item, future))
        if not group.is_busy:
            group.is_busy = True
            loop.call_soon(self._next, loop, group)
        return future

    def _next(self, loop: asyncio.AbstractEventLoop, group: _Group[Item, Answer]) -> None:
        calls = [group.waiting.popleft() for _ in range(min(len(group.waiting), MOST_ITEMS))]
        if not calls:
            group.is_busy = False
            return
        items = [item for item, _ in calls]
        try:
            answers = self._at_once(items)
            if answers is None:
                acting = loop.run_in_executor(None, self._act, items)
                acting.add_done_callback(partial(self._end, loop, group, calls))
                return
        except Exception as error:  # noqa: BLE001 - it is told to those who asked
            _answer(calls, None, error)
        else:
            _answer(calls, answers, None)
        loop.call_soon(self._next, loop, group)

    def _end(
        self, loop: asyncio.AbstractEventLoop, group: _Group[Item, Answer], calls: Sequence[Any], acting: Any
    ) -> None:
        error = asyncio.CancelledError() if acting.cancelled() else acting.exception()
        _answer(calls, None if error else acting.result(), error)
        self._next(loop, group)


def _answer(calls: Sequence[tuple[Any, Any]], answers: Sequence[Any] | None, error: BaseException | None) -> None:
    for place, (_, future) in enumerate(calls):
        if future.done():
            continue  # nobody waits for it any more
        if answers is None:
            future.set_exception(error)
        else:
            future.set_result(answers[place])
