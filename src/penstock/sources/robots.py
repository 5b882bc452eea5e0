"""robots.txt by RFC 9309: what a site asks of robots, and what it means when it does not answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

from protego import Protego

LARGEST_BYTES: Final = 500 * 1024
"""As much of the file as the RFC asks robots to read."""
LONGEST_LINE_CHARS: Final = 8_192
MOST_RULES: Final = 10_000
LONGEST_DELAY_SECONDS: Final = 86_400.0

_OK: Final = range(200, 300)
_MISSING: Final = range(400, 500)
_BUSY: Final = 429


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules of one site, or the lack of them."""

    rules: Protego | None
    """None when the site gave no rules that could be read."""
    without_rules: bool
    """What is allowed then: everything where there is no file, nothing where the server could not answer."""

    @classmethod
    def parse(cls, body: bytes, status: int) -> Self:
        """Return the rules in an answer. A missing file allows all; a failing or busy server allows nothing for now."""
        if status in _OK:
            return cls(Protego.parse(_readable(body)), without_rules=True)
        return cls(None, without_rules=status in _MISSING and status != _BUSY)

    def allows(self, url: str, agent: str) -> bool:
        """Tell whether a robot of this name may fetch an address."""
        if self.rules is None:
            return self.without_rules
        return self.rules.can_fetch(url, agent)

    def crawl_delay(self, agent: str) -> float | None:
        """Return the seconds between two requests that the site asks for, at most a day; None if it asks nothing."""
        delay = self.rules.crawl_delay(agent) if self.rules else None
        return min(delay, LONGEST_DELAY_SECONDS) if delay is not None and delay >= 0 else None


def _readable(body: bytes) -> str:
    """Return the part of the file that is read: whole lines, none of them endless."""
    head = body[:LARGEST_BYTES]
    if len(body) > LARGEST_BYTES:
        head = head[: head.rfind(b"\n") + 1]  # half a rule could forbid or allow more than the whole
    text = head.decode("utf-8-sig", "replace")
    return "\n".join([line for line in text.splitlines() if len(line) <= LONGEST_LINE_CHARS][:MOST_RULES])
