"""How many requests a shop takes, and in which words it says so."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Literal, get_args

from haulwright.sandbox.exchange import SandboxReply

Form = Literal["x", "draft", "seconds", "date"]


@dataclass(slots=True)
class Limit:
    """So many requests in any window of so many seconds."""

    count: int = 60
    seconds: float = 60.0
    form: Form = "x"
    """`x`: X-RateLimit-*; `draft`: RateLimit and its policy; `seconds`, `date`: only a Retry-After, at the end."""
    taken: deque[float] = field(default_factory=deque)

    def __post_init__(self) -> None:
        if self.form not in get_args(Form):
            raise ValueError(f"{self.form!r} is none of: {', '.join(get_args(Form))}")

    def take(self, now: float) -> bool:
        """Whether one more request is taken."""
        while self.taken and self.taken[0] <= now - self.seconds:
            self.taken.popleft()
        if len(self.taken) >= self.count:
            return False
        self.taken.append(now)
        return True

    def tell(self, reply: SandboxReply, now: float) -> SandboxReply:
        """The answer with what a client may know about the limit."""
        left = self.count - len(self.taken)
        wait = max(0, round(self.taken[0] + self.seconds - now)) if self.taken else 0
        match self.form:
            case "x":
                figures = (("Limit", self.count), ("Remaining", left), ("Reset", int(now) + wait))
                return reply.with_headers(*((f"X-RateLimit-{name}", str(value)) for name, value in figures))
            case "draft":
                policy = f'"default";q={self.count};w={int(self.seconds)}'
                return reply.with_headers(("RateLimit-Policy", policy), ("RateLimit", f'"default";r={left};t={wait}'))
            case "seconds" | "date":
                return reply

    def refusal(self, now: float) -> SandboxReply:
        """The answer to one request too many."""
        wait = max(1, round(self.taken[0] + self.seconds - now))
        value = formatdate(now + wait, usegmt=True) if self.form == "date" else str(wait)
        return self.tell(SandboxReply(429, b"Too many requests\n", (("Retry-After", value),)), now)
