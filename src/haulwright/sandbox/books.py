"""The books: every request that was made, and everything that would have cost money."""

from __future__ import annotations

import fnmatch
import hashlib
import json
import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from haulwright.sandbox.clock import LOOK_SECONDS, SandboxClock
from haulwright.sandbox.exchange import SandboxRequest

KEPT_REQUESTS = 100_000
"""The oldest entries leave the books beyond this."""

SECRET_HEADERS = frozenset({"authorization", "cookie", "x-api-key", "proxy-authorization"})
SECRET_PARAMETERS = frozenset({"token"})
DIGEST_DIGITS = 12


@dataclass(frozen=True, slots=True)
class BookEntry:
    """One request."""

    number: int
    at: float
    """When it came, by the sandbox's clock."""
    service: str
    method: str
    path: str
    query: Mapping[str, tuple[str, ...]]
    headers: Mapping[str, str]
    """As the client gave them, credentials replaced by the beginning of their sha256."""
    status: int | None = None
    """None as long as it is not answered, and for ever where the connection was dropped."""
    bytes_sent: int = 0
    """Of the body."""
    fault: str = ""
    """The kind of fault that was applied."""


@dataclass(frozen=True, slots=True)
class ChargedRun:
    """An Apify run that began: it costs, whether or not anybody heard of it."""

    run: str
    actor: str
    input: Any
    started: float
    cost: float


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of the model."""

    at: float
    model: str
    messages: Any
    prompt_tokens: int
    completion_tokens: int


class Books:
    """What the sandbox was asked and paid for. Everything here may be called from any thread."""

    def __init__(self, clock: SandboxClock) -> None:
        self._clock = clock
        self._changed = threading.Condition(threading.RLock())
        self._entries: dict[int, BookEntry] = {}
        self._numbers = 0
        self._paid: list[ChargedRun] = []
        self._calls: list[ModelCall] = []

    def clear(self) -> None:
        """Begin with empty books; the numbers of requests go on."""
        with self._changed:
            self._entries.clear()
            self._paid.clear()
            self._calls.clear()

    def enter(self, service: str, request: SandboxRequest) -> BookEntry:
        """Write a request down before anything is done about it."""
        with self._changed:
            self._numbers += 1
            headers = {name: _hidden(name, value) for name, value in request.headers.items()}
            query = {name: _hidden_all(name, values) for name, values in request.query.items()}
            entry = BookEntry(self._numbers, self._clock.now(), service, request.method, request.path, query, headers)
            self._entries[entry.number] = entry
            if len(self._entries) > KEPT_REQUESTS:
                del self._entries[next(iter(self._entries))]
            self._changed.notify_all()
            return entry

    def note(self, number: int, *, sent: int = 0, **facts: Any) -> None:
        """Add what is now known about a request: its status, its fault, more bytes sent."""
        with self._changed:
            entry = self._entries.get(number)
            if entry is not None:
                self._entries[number] = replace(entry, bytes_sent=entry.bytes_sent + sent, **facts)
            self._changed.notify_all()

    def pay(self, run: ChargedRun) -> None:
        """Write a run down that costs from now on."""
        with self._changed:
            self._paid.append(run)
            self._changed.notify_all()

    def charge(self, run: str, cost: float) -> None:
        """Correct what a run cost."""
        with self._changed:
            self._paid = [replace(paid, cost=cost) if paid.run == run else paid for paid in self._paid]

    def call(self, call: ModelCall) -> None:
        """Write a call of the model down."""
        with self._changed:
            self._calls.append(call)
            self._changed.notify_all()

    def requests(  # noqa: PLR0913 - each narrows the search
        self,
        *,
        service: str = "",
        method: str = "",
        path: str = "*",
        status: int | None = None,
        since: float | None = None,
        until: float | None = None,
    ) -> list[BookEntry]:
        """The requests that fit, in the order in which they came; `path` may hold * and ?."""
        with self._changed:
            return [
                entry
                for entry in self._entries.values()
                if (not service or entry.service == service)
                and (not method or entry.method == method)
                and (path in {"*", entry.path} or fnmatch.fnmatchcase(entry.path, path))
                and (status is None or entry.status == status)
                and (since is None or entry.at >= since)
                and (until is None or entry.at < until)
            ]

    def count(self, **narrowed: Any) -> int:
        """How many requests fit; the words are those of `requests`."""
        return len(self.requests(**narrowed))

    def bytes_sent(self, **narrowed: Any) -> int:
        """How many bytes of bodies were sent to the requests that fit."""
        return sum(entry.bytes_sent for entry in self.requests(**narrowed))

    def per_window(self, seconds: float, **narrowed: Any) -> dict[float, int]:
        """How many requests fit in each window of so many seconds, by the beginning of the window."""
        return dict(sorted(Counter(entry.at // seconds * seconds for entry in self.requests(**narrowed)).items()))

    def busiest(self, seconds: float, **narrowed: Any) -> int:
        """The most requests that came within so many seconds, wherever these begin."""
        times = sorted(entry.at for entry in self.requests(**narrowed))
        return max((bisect_left(times, begin + seconds) - place for place, begin in enumerate(times)), default=0)

    def paid_runs(self, actor: str | None = None, *, marker: str | None = None) -> list[ChargedRun]:
        """The runs that began, of one actor, and with these words anywhere in their input."""
        with self._changed:
            return [
                run
                for run in self._paid
                if (actor is None or run.actor == actor)
                and (marker is None or marker in json.dumps(run.input, ensure_ascii=False))
            ]

    def model_calls(self) -> list[ModelCall]:
        """The calls of the model."""
        with self._changed:
            return list(self._calls)

    def wait_for(self, condition: Callable[[Books], object], timeout: float = 10.0) -> None:
        """Wait until the condition holds of these books; TimeoutError after so many seconds of real time."""
        deadline = time.monotonic() + timeout
        # Looked at without the lock, so that a long look holds no request up; a change that slips past is seen soon.
        while not condition(self):
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(
                    f"the books did not come to this within {timeout} s: {self.count()} requests in them"
                )
            with self._changed:
                self._changed.wait(min(left, LOOK_SECONDS))


def _hidden_all(name: str, values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(digest, values)) if name.lower() in SECRET_PARAMETERS else values


def _hidden(name: str, value: str) -> str:
    return digest(value) if name.lower() in SECRET_HEADERS else value


def digest(secret: str) -> str:
    """The beginning of a sha256: enough to tell two credentials apart, too little to use one."""
    return f"sha256:{hashlib.sha256(secret.encode()).hexdigest()[:DIGEST_DIGITS]}"
