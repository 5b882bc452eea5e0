"""What a task is to the engine: its name and its options, checked when it is declared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from haulwright.engine.durations import Duration, us
from haulwright.engine.job import DEFAULT_DEADLINE_SECONDS, DEFAULT_LEASE_SECONDS, DEFAULT_QUEUE, PRIORITY_LIMIT
from haulwright.engine.names import check_name, check_tags
from haulwright.engine.retry import Retry
from haulwright.errors import InvalidValue

SHORTEST_LEASE_SECONDS = 1.0
LONGEST_LEASE_SECONDS = 24 * 3600.0

Isolation = Literal["thread", "process"]
By = str | Sequence[str] | Callable[[dict[str, Any]], str] | Literal[True]
"""What a key is made of: names of arguments, a function of all of them, or True for all of them."""


@dataclass(frozen=True, slots=True)
class UniqueBy:
    """Only one job for the same values: while one is active, for ever, or for a time after the enqueue."""

    by: By = True
    scope: Literal["while_active", "forever"] | Duration = "while_active"

    @property
    def period_us(self) -> int | None:
        """How long the key is kept, where it is kept for a time."""
        return None if self.scope in {"while_active", "forever"} else us(self.scope, what="unique", minimum=1)


@dataclass(frozen=True, slots=True)
class Concurrency:
    """At most `limit` runs at once, in the whole fleet, for the same values."""

    limit: int
    by: By | None = None


@dataclass(frozen=True, slots=True)
class TaskOptions:
    """How the jobs of a task behave unless a call says otherwise."""

    queue: str = DEFAULT_QUEUE
    priority: int = 0
    source: str | Callable[[dict[str, Any]], Any] | None = None
    """The key of its source, or a function of the arguments that returns a source or its key."""
    unique: UniqueBy | None = None
    concurrency: Concurrency | None = None
    retry: Retry = field(default_factory=Retry)
    timeout_us: int | None = None
    deadline_us: int | None = int(DEFAULT_DEADLINE_SECONDS * 1_000_000)
    lease_us: int = int(DEFAULT_LEASE_SECONDS * 1_000_000)
    isolation: Isolation = "thread"
    tags: tuple[str, ...] = ()
    event_fields: tuple[str, ...] = ()
    """Names of arguments and of fields of the result that its events carry."""
    audit: bool = False
    """Whether each event of its jobs is written when it happens, so that those who follow the events see it then."""

    def __post_init__(self) -> None:
        """Refuse options that make no sense, before any job depends on them."""
        check_name("queue", self.queue)
        check_priority(self.priority)
        check_tags(self.tags)
        if self.isolation not in {"thread", "process"}:
            raise InvalidValue("isolation", self.isolation, "is neither 'thread' nor 'process'")
        if self.concurrency is not None and not 1 <= self.concurrency.limit <= 100_000:  # noqa: PLR2004 - a sane bound
            raise InvalidValue("concurrency", self.concurrency.limit, "is not a number from 1 to 100000")


def check_priority(priority: object) -> int:
    """A priority: higher runs first."""
    whole = isinstance(priority, int) and not isinstance(priority, bool)
    if not whole or not -PRIORITY_LIMIT <= priority <= PRIORITY_LIMIT:  # type: ignore[operator]
        raise InvalidValue("priority", priority, f"is not a whole number from -{PRIORITY_LIMIT} to {PRIORITY_LIMIT}")
    return priority  # type: ignore[return-value]
