"""All streams of a process: how many there may be, what they share, and their end with the server."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from haulwright.api.kit.problems import TooManyRequests
from haulwright.api.streams.hub import EventHub
from haulwright.api.streams.overview import OverviewBoards

if TYPE_CHECKING:
    from fastapi import Request

    from haulwright.client.app import Haulwright

MOST_STREAMS: Final = 2000
MOST_OF_ONE_TOKEN: Final = 100
RETRY_AFTER_SECONDS: Final = 10.0
STOP_PATIENCE_SECONDS: Final = 1.0
"""How long a client has to take the last words when the server stops."""
READERS: Final = 4
"""Clients of this process that read the database for themselves at the same moment."""


@dataclass(frozen=True, slots=True, eq=False)
class StreamPlace:
    """The place of one stream among all."""

    mark: str
    abort: Callable[[], None]


class Streams:
    """What the streams of one process share. It belongs to the loop of its server."""

    def __init__(self, app: Haulwright) -> None:
        self.hub = EventHub(app)
        self.readers = asyncio.Semaphore(READERS)
        self.boards = OverviewBoards(self.readers)
        self._places: set[StreamPlace] = set()
        self._of_token: Counter[str] = Counter()

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._places)

    def enter(self, request: Request, abort: Callable[[], None]) -> StreamPlace:
        """A place for a stream; refused where there are too many already."""
        mark = _token_mark(request)
        if len(self._places) >= MOST_STREAMS:
            raise TooManyRequests(f"This server has {MOST_STREAMS} open streams.", RETRY_AFTER_SECONDS)
        if self._of_token[mark] >= MOST_OF_ONE_TOKEN:
            raise TooManyRequests(f"This token has {MOST_OF_ONE_TOKEN} open streams.", RETRY_AFTER_SECONDS)
        place = StreamPlace(mark, abort)
        self._places.add(place)
        self._of_token[mark] += 1
        return place

    def leave(self, place: StreamPlace) -> None:
        """Give a place back."""
        self._places.discard(place)
        self._of_token[place.mark] -= 1
        if not self._of_token[place.mark]:
            del self._of_token[place.mark]

    def end(self) -> None:
        """End all streams with a word, and those soon that do not take it. Called on the loop of the server."""
        self.hub.end()
        self.boards.end()
        asyncio.get_running_loop().call_later(STOP_PATIENCE_SECONDS, self._abort_all)

    def _abort_all(self) -> None:
        for place in list(self._places):
            place.abort()


def _token_mark(request: Request) -> str:
    """What a caller showed, so that it can be counted and not be read."""
    shown = request.headers.get("authorization") or request.headers.get("cookie", "")
    return hashlib.sha256(shown.encode()).hexdigest()
