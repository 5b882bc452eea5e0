"""What a source is to the engine: its figures, and what its row says at a moment. Pure.

A source is somebody else's server, or one account on it. Its gate is asked before a request; `SourceState` is the row
that an ask leaves behind, and from it follow the moments of those who got through and the turns of those who did not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from haulwright.clock import SECOND, Instant
from haulwright.engine.durations import Duration, rate, spell, us
from haulwright.engine.job import LeaseKey
from haulwright.engine.names import check_name
from haulwright.errors import InvalidValue

DAY_US: Final = 86_400 * SECOND
FOREVER: Final[Instant] = 253_402_300_800 * SECOND
"""The year 10000: until then is until somebody opens it."""
PATIENCE_SECONDS: Final = 2.0
"""A wait up to this is slept by the run; a longer one puts the job back."""
BRIEF_SECONDS: Final = 5.0
"""A meter that is empty again after this forgets nothing by a power cut: no machine is back before."""
LEASE_SECONDS: Final = 60.0
"""How long a permit lasts that was taken outside a job."""
PROBE_SECONDS: Final = 120.0
"""How long the one probe of an open breaker may take before another is sent."""
LONGEST_COOL_DOWN_SECONDS: Final = 3600.0
LONGEST_PARK_SECONDS: Final = 3600.0
"""How long one answer of the server may close a source, whatever its headers say; then it is asked again."""
ASK_AGAIN_SECONDS: Final = 86_400.0
"""How often a job asks at a gate that only a person opens. The opening wakes it; this is for one that got lost."""

GATES: Final = ("disabled", "paused", "parked", "breaker", "credential", "budget", "rate", "permits")
"""What may keep a job waiting, by the name that `waiting_on` ends with."""
BREAKER_HINT: Final = "Write a breaker such as '5 failures / 5 min', or None for none."
_BREAKER: Final = re.compile(r"\s*([0-9]{1,6})\s+failures?\s*/\s*(\S.*)", re.IGNORECASE)
_BUDGET: Final = re.compile(r"\s*([0-9]{1,12})\s*/\s*day\s*", re.IGNORECASE)
MOST: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class SourceLimits:
    """What a source allows."""

    enabled: bool = True
    rate_count: int | None = None
    rate_per_us: int | None = None
    burst: int = 1
    """How many may pass at once after a quiet time."""
    min_interval_us: int = 0
    concurrency: int | None = None
    """How many requests may be under way at once, in the whole fleet."""
    budget: int | None = None
    """How many may pass in a day of UTC."""
    breaker_failures: int | None = 5
    breaker_cool_down_us: int = 300 * SECOND
    cache_ttl_us: int | None = None
    """How long an answer is kept whatever its headers say; None leaves it to them."""

    @property
    def interval_us(self) -> int:
        """The time between two grants on average; 0 where nothing is limited."""
        by_rate = 0 if self.rate_count is None or self.rate_per_us is None else -(-self.rate_per_us // self.rate_count)
        return max(by_rate, self.min_interval_us)

    @property
    def per_minute(self) -> float | None:
        """The rate as the documents write it."""
        return None if self.rate_count is None else round(self.rate_count * 60 * SECOND / (self.rate_per_us or 1), 3)

    def changed(self, changes: Mapping[str, Any]) -> SourceLimits:
        """The same with what a person said otherwise."""
        return SourceLimits(**{**asdict(self), **changes})


def source_limits(  # noqa: PLR0913 - the figures of a source, each with a name
    *,
    rate: str | None = None,
    burst: int | None = None,
    min_interval: Duration | None = None,
    concurrency: int | None = None,
    budget: int | str | None = None,
    breaker: str | None = "5 failures / 5 min",
    cache: Duration | None = None,
    enabled: bool = True,
) -> SourceLimits:
    """The figures that these words stand for; what makes no sense is refused."""
    figures: dict[str, Any] = {**rate_limits(rate, burst), **interval_limits(min_interval)}
    if min_interval is not None and burst not in {None, 1}:
        raise InvalidValue(
            "burst", burst, "is given beside min_interval", hint="Two that pass at once have no interval."
        )
    if min_interval is not None:
        figures["burst"] = 1
    ttl = None if cache is None else us(cache, what="cache")
    return SourceLimits(
        enabled=enabled,
        concurrency=_count("concurrency", concurrency, 10_000),
        budget=budget_limit(budget),
        cache_ttl_us=ttl,
        **figures,
        **breaker_limits(breaker),
    )


def rate_limits(word: str | None, burst: int | None = None) -> dict[str, Any]:
    """The figures of "30/min". Without a word about bursts, what one second admits may pass at once."""
    if word is None:
        if burst is not None:
            raise InvalidValue("burst", burst, "is given without a rate", hint="Write rate='30/min' beside it.")
        return {}
    rate_limit = rate(word)
    natural = max(1, math.floor(rate_limit.count / rate_limit.per_seconds))
    return {
        "rate_count": rate_limit.count,
        "rate_per_us": round(rate_limit.per_seconds * SECOND),
        "burst": _count("burst", natural if burst is None else burst, 1_000_000),
    }


def interval_limits(word: Duration | None) -> dict[str, Any]:
    """The figures of a minimum interval; its grants come one by one."""
    return {} if word is None else {"min_interval_us": us(word, what="min_interval", maximum=7 * 86_400)}


def breaker_limits(word: str | None) -> dict[str, Any]:
    """The figures of "5 failures / 5 min"."""
    if word is None:
        return {"breaker_failures": None}
    match = _BREAKER.fullmatch(str(word))
    if match is None or not 1 <= int(match[1]) <= MOST:
        raise InvalidValue("breaker", word, "is no breaker", hint=BREAKER_HINT)
    cool_down = us(match[2], what="breaker", minimum=0.001, maximum=86_400)
    return {"breaker_failures": int(match[1]), "breaker_cool_down_us": cool_down}


def budget_limit(word: int | str | None) -> int | None:
    """The number of 1000 or "1000/day"."""
    if isinstance(word, str):
        match = _BUDGET.fullmatch(word)
        if match is None:
            raise InvalidValue("budget", word, "is no budget", hint="Write a number, or '1000/day'.")
        word = int(match[1])
    return _count("budget", word, MOST)


def _count(what: str, value: int | None, most: int) -> int | None:
    if value is None:
        return None
    if type(value) is not int or not 1 <= value <= most:
        raise InvalidValue(what, value, f"is not a whole number from 1 to {most}")
    return value


def source_key(name: str, account: str | None = None) -> str:
    """What the row of a source, or of one account on it, is called."""
    check_name("source", name)
    if "://" in name:
        host = name.partition("://")[2].partition("/")[0]
        raise InvalidValue("source", name, "is an address", hint=f"Name its host, for all its pages: {host!r}.")
    if "@" in name or ":" in name:
        raise InvalidValue("source", name, "has an @ or a colon in it", hint="Give the account as account=.")
    return check_name("source", name if account is None else f"{name}@{check_name('account', account)}")


def gate_name(key: str, gate: str) -> str:
    """What a job waits on that this gate of a source keeps waiting."""
    return f"source:{key}:{gate}"


def gate_names(key: str) -> list[str]:
    """Everything that a job may wait on at a source for a time, permits excepted."""
    return [gate_name(key, gate) for gate in GATES if gate != "permits"]


def gate_of(waiting_on: str) -> tuple[str, str] | None:
    """The source and the gate that a job waits on, where it is one of a source."""
    kind, _, rest = waiting_on.partition(":")
    key, _, gate = rest.rpartition(":")
    return (key, gate) if kind == "source" and key and gate in GATES else None


@dataclass(frozen=True, slots=True)
class Closing:
    """A gate that is closed, and until when."""

    gate: str
    until: Instant

    def words(self, now: Instant) -> str:
        """How long it stays closed, for people."""
        if self.until >= FOREVER:
            return "until somebody opens it"
        return f"for {spell(max(0, self.until - now) / SECOND)}"


@dataclass(frozen=True, slots=True)
class SourceState:
    """The row of a source as an ask leaves it behind; its times are on the database's clock."""

    key: str
    enabled: bool
    interval_us: int
    burst: int
    concurrency: int | None
    budget: int | None
    breaker: str
    """closed, open, half_open, or refused: its credential is not accepted."""
    met_until: Instant
    """How far the meter of grants has come: the hard bound."""
    turns_until: Instant
    """How far turns are given away."""
    granted: int
    """How many of the last ask got through."""
    tickets: int
    """How many got through in all; the last of them have the last numbers."""
    held: int
    spent: int
    spent_day: int
    paused_until: Instant
    parked_until: Instant
    open_until: Instant
    probe_id: str | None
    probe_fence: int | None
    probe_worker: str | None
    probe_until: Instant
    asked_at: Instant
    """The time by which the last ask was answered."""

    @property
    def limits(self) -> SourceLimits:
        """The figures that the gate goes by, as far as its row says them."""
        return SourceLimits(
            enabled=self.enabled,
            burst=self.burst,
            min_interval_us=self.interval_us,
            concurrency=self.concurrency,
            budget=self.budget,
        )

    @property
    def is_unlimited(self) -> bool:
        """Whether it has no figure that a request uses up: who is let in changes nothing for the next."""
        return self.interval_us == 0 and self.concurrency is None and self.budget is None

    def closing(self, now: Instant) -> Closing | None:
        """The gate that keeps everybody out, the last to open first; None where the source takes requests."""
        midnight = (now // DAY_US + 1) * DAY_US
        spent_up = self.budget is not None and self.spent_on(now) >= self.budget
        closings = (
            Closing("disabled", 0 if self.enabled else FOREVER),
            Closing("credential", FOREVER if self.breaker == "refused" else 0),
            Closing("paused", self.paused_until),
            Closing("breaker", {"open": self.open_until, "half_open": self.probe_until}.get(self.breaker, 0)),
            Closing("parked", self.parked_until),
            Closing("budget", midnight if spent_up else 0),
        )
        last = max(closings, key=lambda closing: closing.until)
        return last if last.until > now else None

    def shuts_out(self, holder: LeaseKey) -> bool:
        """Whether it was closed after this holder was let through. A probe is not shut out by its own breaker."""
        is_open = self.enabled and (self.breaker == "closed" or self.is_probe(holder))
        return not is_open or max(self.paused_until, self.parked_until) > self.asked_at

    def is_probe(self, holder: LeaseKey) -> bool:
        """Whether this holder is the one who finds out how the server is."""
        return self.breaker == "half_open" and (self.probe_id, self.probe_fence, self.probe_worker) == holder

    def spent_on(self, now: Instant) -> int:
        """How many got through on the day of a moment."""
        return self.spent if self.spent_day == now // DAY_US else 0

    def delays_us(self) -> list[int]:
        """How long each of those who got through must wait, in the order of their asking."""
        first = self.met_until - self.granted * self.interval_us - self._slack_us
        starts = [first + place * self.interval_us for place in range(self.granted)]
        return [max(0, start - self.asked_at) for start in starts]

    def refusal(self) -> Closing:
        """What kept out those of the last ask who did not get through, and when the first of them may come back."""
        closed = self.closing(self.asked_at)
        if closed is not None:
            return closed
        if self.concurrency is not None and self.held >= self.concurrency:
            return Closing("permits", self.asked_at)
        return Closing("rate", self.asked_at)

    def turns_us(self, refused: int) -> list[int]:
        """How long each of those who were refused waits for a turn of its own, in the order of their asking."""
        floor = min(self.refusal().until, self.asked_at + round(ASK_AGAIN_SECONDS * SECOND))
        first = self.turns_until - refused * self.interval_us - self._slack_us
        turns = [first + place * self.interval_us for place in range(refused)]
        return [max(floor, turn) - self.asked_at for turn in turns]

    @property
    def next_turn(self) -> Instant:
        """The turn of whoever comes next."""
        return self.turns_until - self._slack_us

    def free_permits(self, most: int) -> int:
        """How many more may be under way at once; `most` where nothing limits them."""
        return most if self.concurrency is None else max(0, min(most, self.concurrency - self.held))

    @property
    def _slack_us(self) -> int:
        return (self.burst - 1) * self.interval_us
