"""What a task is to the engine: its name and its options, checked when it is declared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from penstock.engine.job import DEFAULT_DEADLINE_SECONDS, DEFAULT_LEASE_SECONDS, DEFAULT_QUEUE, PRIORITY_LIMIT
from penstock.engine.payload import TAG_LIMIT_CHARS, TAGS_LIMIT
from penstock.engine.retry import Retry
from penstock.engine.words import Duration, us
from penstock.errors import InvalidValue

NAME_LIMIT_CHARS = 200
KEY_LIMIT_CHARS = 500
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
    facts: tuple[str, ...] = ()
    """Names of arguments and of fields of the result that its events carry."""

    def __post_init__(self) -> None:
        """Refuse options that make no sense, before any job depends on them."""
        check_name("queue", self.queue)
        check_priority(self.priority)
        check_tags(self.tags)
        if self.isolation not in {"thread", "process"}:
            raise InvalidValue("isolation", self.isolation, "is neither 'thread' nor 'process'")
        if self.concurrency is not None and not 1 <= self.concurrency.limit <= 100_000:  # noqa: PLR2004 - a sane bound
            raise InvalidValue("concurrency", self.concurrency.limit, "is not a number from 1 to 100000")


def check_name(what: str, name: object) -> str:
    """A name of a queue, a tenant or a task: text that can be shown, and not too long."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > NAME_LIMIT_CHARS:
        raise InvalidValue(what, name, f"is not a name of 1 to {NAME_LIMIT_CHARS} printable characters")
    return name


def check_key(what: str, key: object) -> str:
    """A key that the caller made: text that can be shown, and short enough for an index."""
    if not isinstance(key, str) or not key or "\0" in key or len(key) > KEY_LIMIT_CHARS:
        why = f"is not a text of 1 to {KEY_LIMIT_CHARS} characters"
        raise InvalidValue(what, key, why, hint="Hash what is longer.")
    return key


def check_priority(priority: object) -> int:
    """A priority: higher runs first."""
    whole = isinstance(priority, int) and not isinstance(priority, bool)
    if not whole or not -PRIORITY_LIMIT <= priority <= PRIORITY_LIMIT:  # type: ignore[operator]
        raise InvalidValue("priority", priority, f"is not a whole number from -{PRIORITY_LIMIT} to {PRIORITY_LIMIT}")
    return priority  # type: ignore[return-value]


def check_tags(tags: Sequence[object]) -> tuple[str, ...]:
    """Tags: few, short, and text."""
    if isinstance(tags, str) or len(tags) > TAGS_LIMIT:
        raise InvalidValue("tags", tags, f"is not a list of at most {TAGS_LIMIT} tags")
    for tag in tags:
        if not isinstance(tag, str) or not tag or not tag.isprintable() or len(tag) > TAG_LIMIT_CHARS:
            raise InvalidValue("tags", tag, f"is not a tag of 1 to {TAG_LIMIT_CHARS} printable characters")
    return tuple(sorted({str(tag) for tag in tags}))
