"""robots.txt by RFC 9309: what a site asks of robots, and what it means when it does not answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Self

from haulwright.extras import needs_extra

with needs_extra("http", "Obeying robots.txt"):
    from protego import Protego

from haulwright.errors import Permanent

LARGEST_BYTES: Final = 500 * 1024
"""As much of the file as the RFC asks robots to read."""
LONGEST_LINE_CHARS: Final = 8_192
MOST_WORK: Final = 500_000
"""Rules, counted once for each robot that they are for: a file that names thousands of both is an attack."""
MOST_TRIED: Final = 200
"""Among so many rules the one is looked for that an error names."""
LONGEST_DELAY_SECONDS: Final = 86_400.0
ANYBODY: Final = "*"

_OK: Final = range(200, 300)
_MISSING: Final = range(400, 500)
_BUSY: Final = 429
_LINE: Final = re.compile(
    r"\s*(?:(?P<agent>user-?agent)|(?P<rule>disallow)|[a-z-]+)\s*:\s*(?P<value>[^#]*)", re.IGNORECASE
)


_AGENT: Final = re.compile(r"\s*user-?agent\s*:", re.IGNORECASE)


class Disallowed(Permanent):
    """The site does not let robots have this address. Nothing was asked for."""

    def __init__(self, place: str, rule: str | None) -> None:
        because = f"by the rule 'Disallow: {rule}'" if rule else "by its rules"
        super().__init__(
            f"The robots.txt of the site forbids {place} {because}.",
            hint="Leave it out, or ask the site; robots=False is for those whom it has allowed.",
        )
        self.rule = rule


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules of one site, or the lack of them."""

    rules: Protego | None
    """None when the site gave no rules that could be read."""
    without_rules: bool
    """What is allowed then: everything where there is no file, nothing where the server could not answer."""
    written: str = field(default="", repr=False)
    """The rules as the site writes them."""

    @classmethod
    def parse(cls, body: bytes, status: int) -> Self:
        """Return the rules in an answer. A missing file allows all; a failing or busy server allows nothing for now."""
        if status in _OK:
            text = _readable(body)
            return cls(Protego.parse(text), without_rules=True, written=text)
        return cls(None, without_rules=status in _MISSING and status != _BUSY)

    @property
    def allows_nothing_for_now(self) -> bool:
        """Whether the server could not answer, so that nobody knows."""
        return self.rules is None and not self.without_rules

    def allows(self, url: str, agent: str) -> bool:
        """Tell whether a robot of this name may fetch an address."""
        if self.rules is None:
            return self.without_rules
        return self.rules.can_fetch(url, agent)

    def rule_against(self, url: str, agent: str) -> str | None:
        """Return the rule that forbids an address to a robot, as the site writes it; None where it cannot be told."""
        groups = _groups(self.written)
        named = [name for name in groups if name != ANYBODY and name in agent.lower()]
        rules = sorted(set(groups.get(max(named, key=len, default=ANYBODY), ())), key=len, reverse=True)
        return next((rule for rule in rules[:MOST_TRIED] if _forbids(rule, url)), None)

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
    return "\n".join(_worthwhile(line for line in text.splitlines() if len(line) <= LONGEST_LINE_CHARS))


def _worthwhile(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a file up to where reading it would take too long."""
    work = names = 0
    is_open = False
    for line in lines:
        names = (names + 1 if is_open else 1) if (is_agent := bool(_AGENT.match(line))) else names
        work += 1 if is_agent else names
        if work > MOST_WORK:
            return
        is_open = is_agent
        yield line


def _groups(text: str) -> dict[str, list[str]]:
    """What each named robot is forbidden. Lines with names that follow one another share what comes after them."""
    groups: dict[str, list[str]] = {}
    names: list[str] = []
    is_open = False
    for line in filter(None, map(_LINE.match, text.splitlines())):
        value = line["value"].strip()
        if line["agent"]:
            names = [*(names if is_open else ()), value.lower()]
        elif line["rule"] and value:
            for name in names:
                groups.setdefault(name, []).append(value)
        is_open = bool(line["agent"])
    return groups


def _forbids(rule: str, url: str) -> bool:
    """Whether a rule by itself forbids an address."""
    return not Protego.parse(f"User-agent: *\nDisallow: {rule}").can_fetch(url, ANYBODY)
