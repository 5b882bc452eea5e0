"""Writes of many threads that are committed together: one wait for the disk serves all who came in the meantime.

Nobody waits for company. Who comes first writes at once; who comes while another writes goes with the next group, which
the first of them writes for all. Each is answered when its group is on disk.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Final, Generic, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")

MOST_ITEMS: Final = 100


class _Turn(Enum):
    """What a thread that waited is to do."""

    WRITE = auto()
    """The next group, of which it is the first."""
    RETURN = auto()
    """Its item is on disk."""
    WRITE_ALONE = auto()
    """Its group could not be written."""


class _Rider(Generic[Item, Answer]):
    """One item under way, and the thread that waits for it."""

    __slots__ = ("_bell", "answer", "item", "trouble", "turn")

    def __init__(self, item: Item) -> None:
        self.item = item
        self.turn = _Turn.WRITE
        self.answer: Answer | None = None
        self.trouble: BaseException | None = None
        self._bell = threading.Lock()
        self._bell.acquire()

    def wait(self) -> None:
        """Until another thread says whose turn it is."""
        self._bell.acquire()

    def wake(self, turn: _Turn) -> None:
        """Say what its thread is to do."""
        self.turn = turn
        self._bell.release()


class WriteGroups(Generic[Item, Answer]):
    """The writes of one kind.

    `write` commits items together and answers for each. `write_alone` is for one whose group failed, with the reason:
    one that cannot be written must not take its neighbours along.
    """

    def __init__(
        self,
        write: Callable[[Sequence[Item]], Sequence[Answer]],
        write_alone: Callable[[Item, BaseException], Answer],
    ) -> None:
        self._write = write
        self._write_alone = write_alone
        self._lock = threading.Lock()
        self._waiting: deque[_Rider[Item, Answer]] = deque()
        self._is_busy = False

    def submit(self, item: Item) -> Answer:
        """Write an item, with those of other threads where they come together; returns when it is on disk."""
        rider: _Rider[Item, Answer] = _Rider(item)
        with self._lock:
            has_to_wait = self._is_busy
            self._is_busy = True
            if has_to_wait:
                self._waiting.append(rider)
        if has_to_wait:
            rider.wait()
        if rider.turn is _Turn.WRITE:
            return self._write_group(rider)
        if rider.turn is _Turn.WRITE_ALONE:
            assert rider.trouble is not None  # noqa: S101 - said with the turn
            return self._write_alone(item, rider.trouble)
        return rider.answer  # type: ignore[return-value] # said with the turn

    def _write_group(self, first: _Rider[Item, Answer]) -> Answer:
        """Write the item of this thread with all that wait by now, then let the next of them write."""
        with self._lock:
            others = [self._waiting.popleft() for _ in range(min(len(self._waiting), MOST_ITEMS - 1))]
        try:
            answer, *answers = self._write([first.item, *(other.item for other in others)])
        except BaseException as trouble:
            self._hand_over()
            for other in others:
                other.trouble = trouble
                other.wake(_Turn.WRITE_ALONE)
            if others and isinstance(trouble, Exception):
                return self._write_alone(first.item, trouble)
            raise
        self._hand_over()
        for other, its_answer in zip(others, answers, strict=True):
            other.answer = its_answer
            other.wake(_Turn.RETURN)
        return answer

    def _hand_over(self) -> None:
        """Have the first of those who came in the meantime write for them."""
        with self._lock:
            following = self._waiting.popleft() if self._waiting else None
            self._is_busy = following is not None
        if following is not None:
            following.wake(_Turn.WRITE)
