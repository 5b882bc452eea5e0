"""Flights: several calls in this process that want the same at the same time become one."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from dataclasses import dataclass

from haulwright.errors import HaulwrightError
from haulwright.sources.http.cache_store import CacheEntry


@dataclass(frozen=True, slots=True)
class FlightResult:
    """How a flight ended."""

    stored: CacheEntry | None = None
    """What others may use, None if it is not for others."""
    problem: HaulwrightError | None = None
    """Why there is no answer, for everybody who waited."""


class SingleFlight:
    """The calls under way, by key; loops and threads share them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[str, Future[FlightResult]] = {}

    def board(self, key: str) -> Future[FlightResult] | None:
        """Return the flight that is under way; None if the caller leads one now, and must land it."""
        with self._lock:
            if key in self._under_way:
                return self._under_way[key]
            self._under_way[key] = Future()
            return None

    def land(self, key: str, landed: FlightResult) -> None:
        """Tell everybody who waited."""
        with self._lock:
            flight = self._under_way.pop(key)
        flight.set_result(landed)


async def arrival(flight: Future[FlightResult]) -> FlightResult:
    """Wait for somebody else's flight; who gives up waiting does not end it for the others."""
    return await asyncio.shield(asyncio.wrap_future(flight))
