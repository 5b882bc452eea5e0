"""What the clients of vendors' APIs share: an account, errors that name its credential, JSON that is read with care.

A vendor adds fields, leaves out others, and answers late; nothing of that may surprise a task.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import ClassVar, Final, TypeVar

from haulwright.errors import AuthFailed, Retryable, RunError, Throttled
from haulwright.sources.http import Http

T = TypeVar("T")
E = TypeVar("E", bound=RunError)

LOOK_SECONDS: Final = 0.5
"""Between two looks for something that the vendor may not list yet."""


class VendorClient:
    """One account at a vendor."""

    def __init__(self, http: Http, base_url: str, *, credential: str, shared: bool) -> None:
        self._http = http
        self._base_url = base_url.rstrip("/")
        self._credential = credential
        self._shared = shared

    def _named(self, error: E) -> E:
        """Say whose credential it was that was refused."""
        if isinstance(error, AuthFailed):
            error.credential, error.shared = self._credential, self._shared
        return error


class RemoteRun:
    """A run at a vendor, as it stood when it was looked at."""

    __slots__ = ()
    success_status: ClassVar[str]
    terminal_statuses: ClassVar[frozenset[str]]
    """Every other status means that it goes on, also one that nobody knows yet."""
    status: str

    @property
    def is_terminal(self) -> bool:
        """Whether nothing more will happen."""
        return self.status in self.terminal_statuses

    @property
    def is_success(self) -> bool:
        """Whether it did all that it was asked for."""
        return self.status == self.success_status


async def look_until_found(look: Callable[[], Awaitable[T | None]], patience_seconds: float) -> T | None:
    """Look for something until it is there, for so long; at least once."""
    until = time.monotonic() + patience_seconds
    while True:
        result = await look()
        if result is not None or time.monotonic() >= until:
            return result
        await asyncio.sleep(min(LOOK_SECONDS, patience_seconds))


def run_error(kind: type[E], message: str, *, after: float | None, busy_seconds: float) -> E:
    """An error of this class. One that asks for patience without saying how much waits `busy_seconds`."""
    if issubclass(kind, Throttled):
        return kind(message, after=busy_seconds if after is None else after)
    if issubclass(kind, Retryable):
        return kind(message, after=after)
    return kind(message)


def moment(value: object) -> datetime | None:
    """A moment as ISO 8601, in UTC where no zone is named; None for anything else."""
    try:
        parsed = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return parsed if parsed is None or parsed.tzinfo else parsed.replace(tzinfo=UTC)


def number(value: object) -> int | float | None:
    """A number; None for anything else, also for true and false, and for what no number is: JSON readers know 1e999."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return value if isinstance(value, int) or math.isfinite(value) else None


def whole(value: object) -> int | None:
    """The same without its fraction."""
    figure = number(value)
    return None if figure is None else int(figure)
