"""The queue in which commits of several runs of a worker meet. Nobody waits for company.

A writer takes what is there and commits it together; who comes meanwhile goes with the next group. What cannot go with
others, or could not, goes alone, on a thread of its own.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from haulwright.errors import DatabaseProblem

if TYPE_CHECKING:
    from haulwright.stores.commit_groups import CommitGroups, CommitRequest
    from haulwright.stores.connection import Connection

MOST_COMMITS: Final = 50
Act = Callable[["Connection"], str]


@dataclass(frozen=True, slots=True)
class Committed:
    """The commit is on disk."""

    text: str | None


@dataclass(frozen=True, slots=True)
class GoAlone:
    """Nothing of the commit was written."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The database is away, or nobody knows what it has: going alone would not help."""

    error: DatabaseProblem


Answer = Committed | GoAlone | Failed


@dataclass(slots=True, eq=False)
class _Rider:
    """A commit on its way, and who waits for it: a coroutine of a loop, or a thread."""

    request: CommitRequest
    loop: asyncio.AbstractEventLoop | None
    future: asyncio.Future[Answer] | _ThreadFuture
    context: Context = field(default_factory=copy_context)


class _ThreadFuture:
    """An answer that a thread waits for."""

    def __init__(self) -> None:
        self._answer: Answer = GoAlone()
        self._bell = threading.Lock()
        self._bell.acquire()

    def wait(self) -> Answer:
        self._bell.acquire()
        return self._answer

    def set_result(self, answer: Answer) -> None:
        self._answer = answer
        self._bell.release()

    def done(self) -> bool:
        return False


class CommitQueue:
    """Commits that wait for the writer, which is one thread of the worker: see `write_next`."""

    def __init__(self, groups: CommitGroups) -> None:
        self._groups = groups
        self._waiting: deque[_Rider] = deque()
        self._arrived = threading.Event()
        self._is_idle = False
        """The writer waits, and is to be woken."""
        self.is_open = False

    def open(self) -> None:
        """There is a writer from now on."""
        self.is_open = True

    def close(self) -> None:
        """There is none any more: whoever waits goes alone."""
        self.is_open = False
        _answer([(rider, GoAlone()) for rider in self._take_all()])
        self._arrived.set()

    def commit(self, request: CommitRequest) -> str | None:
        """Commit, and wait on this thread until that is on disk."""
        if self._may_join(request):
            future = _ThreadFuture()
            self._put(_Rider(request, None, future))
            answer = future.wait()
            if not isinstance(answer, GoAlone):
                return _text_of(answer)
        return self._groups.commit(request)

    async def acommit(self, request: CommitRequest) -> str | None:
        """The same on the event loop."""
        if self._may_join(request):
            loop = asyncio.get_running_loop()
            future: asyncio.Future[Answer] = loop.create_future()
            self._put(_Rider(request, loop, future))
            answer = await future
            if not isinstance(answer, GoAlone):
                return _text_of(answer)
        return await asyncio.to_thread(self._groups.commit, request)

    def write_next(self) -> None:
        """Wait for commits, and write those that are there together."""
        self._is_idle = True
        if not self._waiting and self.is_open:
            self._arrived.wait()
        self._is_idle = False
        self._arrived.clear()
        riders = self._take()
        answers: list[tuple[_Rider, Answer]] = [(rider, GoAlone()) for rider in riders]
        try:
            if riders:
                answers = self._written(riders)
        finally:
            _answer(answers)

    def _may_join(self, request: CommitRequest) -> bool:
        return self.is_open and self._groups.may_join(request)

    def _put(self, rider: _Rider) -> None:
        self._waiting.append(rider)
        if self._is_idle:  # set before it looks whether there is one: one of us sees the other
            self._is_idle = False
            self._arrived.set()
        if not self.is_open:  # it closed meanwhile, perhaps before it could see this one
            _answer([(left, GoAlone()) for left in self._take_all()])

    def _take(self) -> list[_Rider]:
        """Those that may go together, in order: of one job, or under one key, the first."""
        taken: list[_Rider] = []
        later: list[_Rider] = []
        names: set[object] = set()
        while len(taken) < MOST_COMMITS and (rider := self._pop()) is not None:
            own = {rider.request.lease.id, (rider.request.lease.tenant, rider.request.key)}
            if rider.future.done():
                continue  # its run was ended while it waited
            (later if own & names else taken).append(rider)
            names |= own
        self._waiting.extendleft(reversed(later))
        return taken

    def _pop(self) -> _Rider | None:
        try:
            return self._waiting.popleft()
        except IndexError:  # taken by whoever closed the queue
            return None

    def _take_all(self) -> list[_Rider]:
        return list(iter(self._pop, None))

    def _written(self, riders: list[_Rider]) -> list[tuple[_Rider, Answer]]:
        """Write a group, and say what became of each."""
        requests = {rider: rider.request.within(rider.context) for rider in riders}
        try:
            texts = self._groups.commit_together(list(requests.values()))
        except DatabaseProblem as error:
            return [(rider, Failed(error)) for rider in riders]
        except BaseException:  # noqa: BLE001 - each finds out for itself what it is, be it an exit
            return [(rider, GoAlone()) for rider in riders]
        return [
            (rider, Committed(texts[request]) if request in texts else GoAlone()) for rider, request in requests.items()
        ]


def _text_of(answer: Committed | Failed) -> str | None:
    if isinstance(answer, Failed):
        raise answer.error
    return answer.text


def _answer(answers: Iterable[tuple[_Rider, Answer]]) -> None:
    """Answer all of a group, with one call of each event loop."""
    by_loop: dict[asyncio.AbstractEventLoop | None, list[tuple[Any, Answer]]] = {}
    for rider, answer in answers:
        by_loop.setdefault(rider.loop, []).append((rider.future, answer))
    for loop, pairs in by_loop.items():
        if loop is None:
            _set_results(pairs)
        else:
            with suppress(RuntimeError):  # the loop has ended, and the runs with it
                loop.call_soon_threadsafe(_set_results, pairs)


def _set_results(pairs: list[tuple[Any, Answer]]) -> None:
    for future, answer in pairs:
        if not future.done():
            future.set_result(answer)
