"""What goes wrong, by rule."""

from __future__ import annotations

import fnmatch
import threading
from dataclasses import dataclass, field, fields, replace
from email.utils import formatdate
from typing import Any, Literal, get_args

from haulwright.sandbox.exchange import Delivery, SandboxReply, SandboxRequest

Kind = Literal["status", "rate_limit", "refuse", "lost_reply", "hang", "slow", "truncate", "wrong_length"]

LONGEST_HANG_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Fault:
    """One rule: which requests it meets, how often, and what happens to them."""

    kind: Kind
    path: str = "*"
    """The whole path with its mount; * and ? stand for anything."""
    method: str = "*"
    containing: str = ""
    """Only requests with these words in their query or body."""
    times: int | None = 1
    """How many requests it meets; None is every one."""
    skip: int = 0
    """How many fitting requests pass unharmed before."""
    carried_out: bool = False
    """`status`, `rate_limit` and `hang`: whether the request is carried out all the same."""
    code: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""
    retry_after: float | None = None
    """`rate_limit`: the seconds to wait."""
    as_date: bool = False
    """`rate_limit`: the wait is told as a date."""
    seconds: float = 1.0
    """`slow`: before each piece. `hang`: at most, unless it is released before."""
    chunk_bytes: int = 1024
    """`slow`: the size of a piece."""
    after_bytes: int = 0
    """`truncate`: how many bytes of the body arrive."""
    length_error: int = 1
    """`wrong_length`: what is added to the true length."""

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"no fault is called {self.kind!r}; known are: {', '.join(get_args(Kind))}")

    def meets(self, request: SandboxRequest) -> bool:
        """Whether this request is one of those."""
        return (
            fnmatch.fnmatchcase(request.path, self.path)
            and self.method in {"*", request.method}
            and (not self.containing or self._contained(request))
        )

    def _contained(self, request: SandboxRequest) -> bool:
        query = " ".join(value for values in request.query.values() for value in values)
        return self.containing in query or self.containing.encode() in request.body

    @property
    def before(self) -> bool:
        """Whether the request is not carried out."""
        return self.kind == "refuse" or (self.kind in {"status", "rate_limit"} and not self.carried_out)

    def spoiled(self, reply: SandboxReply, now: float) -> SandboxReply:
        """What becomes of an answer."""
        if self.kind == "status":
            return SandboxReply(self.code, self.body.encode(), tuple(self.headers.items()))
        if self.kind == "rate_limit":
            return SandboxReply(429, self.body.encode(), (*self._wait(now), *self.headers.items()))
        return replace(reply, delivery=self._delivery(reply.delivery))

    def _delivery(self, usual: Delivery) -> Delivery:
        match self.kind:
            case "refuse" | "lost_reply":
                return replace(usual, dropped=True)
            case "slow":
                return replace(usual, chunk_bytes=self.chunk_bytes, pause_seconds=self.seconds)
            case "truncate":
                return replace(usual, cut_after=self.after_bytes)
            case "wrong_length":
                return replace(usual, length_error=self.length_error)
            case _:
                return usual

    def _wait(self, now: float) -> tuple[tuple[str, str], ...]:
        if self.retry_after is None:
            return ()
        value = formatdate(now + self.retry_after, usegmt=True) if self.as_date else f"{self.retry_after:.0f}"
        return (("Retry-After", value),)


class FaultScript:
    """The rules in force. The first that meets a request is applied, and no other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rules: list[Fault] = []
        self._released = threading.Event()

    def add(self, kind: Kind, **rule: Any) -> Fault:
        """Put a rule in force: `add("lost_reply", path="/apify/v2/actors/*/runs", method="POST")`."""
        names = {each.name for each in fields(Fault)}
        if strangers := set(rule) - names:
            raise ValueError(f"a fault has no {', '.join(sorted(strangers))}; it has: {', '.join(sorted(names))}")
        fault = Fault(kind, **rule)
        with self._lock:
            self._rules.append(fault)
        return fault

    def waiting(self) -> list[Fault]:
        """The rules that still wait for requests."""
        with self._lock:
            return list(self._rules)

    def clear(self) -> None:
        """Take every rule away and let go what hangs."""
        with self._lock:
            self._rules.clear()
        self.release()

    def release(self) -> None:
        """Let everything go on that hangs."""
        with self._lock:
            held, self._released = self._released, threading.Event()
        held.set()

    def hang(self, fault: Fault) -> None:
        """Hold a request until it is released or its time is over."""
        with self._lock:
            released = self._released
        released.wait(min(fault.seconds, LONGEST_HANG_SECONDS))

    def meet(self, request: SandboxRequest) -> Fault | None:
        """The fault for this request, counted as used."""
        with self._lock:
            for place, fault in enumerate(self._rules):
                if fault.meets(request):
                    return self._use(place, fault)
        return None

    def _use(self, place: int, fault: Fault) -> Fault | None:
        if fault.skip:
            self._rules[place] = replace(fault, skip=fault.skip - 1)
            return None
        if fault.times is not None:
            self._rules[place] = replace(fault, times=fault.times - 1)
            if fault.times <= 1:
                del self._rules[place]
        return fault
