"""Flights: several calls in this process that want the same at the same time become one."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from dataclasses import dataclass

from penstock.errors import PenstockError
from penstock.sources.http.store import Stored


@dataclass(frozen=True, slots=True)
class Landed:
    """How a flight ended."""

    stored: Stored | None = None
    """What others may use, None if it is not for others."""
    problem: PenstockError | None = None
    """Why there is no answer, for everybody who waited."""


class Flights:
    """The calls under way, by key; loops and threads share them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[str, Future[Landed]] = {}

    def board(self, key: str) -> Future[Landed] | None:
        """Return the flight that is under way; None if the caller leads one now, and must land it."""
        with self._lock:
            if key in self._under_way:
                return self._under_way[key]
            self._under_way[key] = Future()
            return None

    def land(self, key: str, landed: Landed) -> None:
        """Tell everybody who waited."""
        with self._lock:
            flight = self._under_way.pop(key)
        flight.set_result(landed)


async def arrival(flight: Future[Landed]) -> Landed:
    """Wait for somebody else's flight; who gives up waiting does not end it for the others."""
    return await asyncio.shield(asyncio.wrap_future(flight))
