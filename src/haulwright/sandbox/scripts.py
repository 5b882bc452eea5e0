"""What was decided to happen next, each as often as was said."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar


class Limited(Protocol):
    """A script that is used a few times, or always."""

    @property
    def times(self) -> int | None:
        """How often; None is always."""
        ...


S = TypeVar("S", bound=Limited)


class Scripts(Generic[S]):
    """Scripts that wait. The first that fits is used."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[tuple[S, int | None]] = []

    def add(self, script: S) -> None:
        """Have one more wait behind the others."""
        with self._lock:
            self._waiting.append((script, script.times))

    def look(self, fits: Callable[[S], bool]) -> S | None:
        """The script that would be used."""
        with self._lock:
            return next((script for script, _ in self._waiting if fits(script)), None)

    def take(self, fits: Callable[[S], bool]) -> S | None:
        """The first script that fits, counted as used; None where there is none."""
        with self._lock:
            for place, (script, left) in enumerate(self._waiting):
                if fits(script):
                    if left is not None and left <= 1:
                        del self._waiting[place]
                    elif left is not None:
                        self._waiting[place] = (script, left - 1)
                    return script
        return None
