"""Hands that strike: each goes through its kinds of faults in an order that the seed decides, again and again."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from random import Random

Strike = Callable[[Random], Iterable[int]]
"""Does one fault and returns when it is over: with the processes that lost touch by it, and others did not."""


@dataclass(frozen=True)
class Blow:
    """One fault, as it was done."""

    kind: str
    began: float
    ended: float
    pids: frozenset[int]

    def is_near(self, began: float, ended: float, margin_seconds: float) -> bool:
        """Whether it was under way then, or shortly before or after."""
        return self.began < ended + margin_seconds and self.ended > began - margin_seconds


class Blows:
    """Everything that was done, by whichever hand."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.all: list[Blow] = []

    def add(self, blow: Blow) -> None:
        """Write one down."""
        with self._lock:
            self.all.append(blow)

    def counts(self) -> Counter[str]:
        """How many there were of each kind."""
        return Counter(blow.kind for blow in self.all)

    def on(self, pid: int) -> list[Blow]:
        """What was done to a process."""
        return [blow for blow in self.all if pid in blow.pids]


class Hand(threading.Thread):
    """Strikes until it is stopped."""

    def __init__(
        self, name: str, kinds: Mapping[str, Strike], rng: Random, blows: Blows, pause_seconds: tuple[float, float]
    ) -> None:
        super().__init__(name=name, daemon=True)
        self._kinds = kinds
        self._rng = rng
        self._blows = blows
        self._pause_seconds = pause_seconds
        self._stop_event = threading.Event()
        self.error: Exception | None = None

    def stop(self) -> None:
        """Let the blow that falls be the last, and raise what went wrong with the hand itself."""
        self._stop_event.set()
        self.join()
        if self.error is not None:
            raise self.error

    def run(self) -> None:
        """Each kind once, in some order; then all of them again in another one."""
        try:
            while True:
                order = sorted(self._kinds)
                self._rng.shuffle(order)
                for kind in order:
                    if self._stop_event.wait(self._rng.uniform(*self._pause_seconds)):
                        return
                    self._strike(kind)
        except Exception as error:  # noqa: BLE001 - raised again where it is waited for
            self.error = error

    def _strike(self, kind: str) -> None:
        began = time.monotonic()
        pids = frozenset(self._kinds[kind](self._rng))
        self._blows.add(Blow(kind, began, time.monotonic(), pids))
