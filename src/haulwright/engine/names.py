"""What may be a name, a key or a tag: one rule and one limit for each, wherever one is given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from haulwright.errors import InvalidValue

NAME_LIMIT_CHARS: Final = 200
"""Of tasks, queues, schedules, tenants, sources and principals."""
NAME_LIMIT_BYTES: Final = 500
KEY_LIMIT_CHARS: Final = 500
KEY_LIMIT_BYTES: Final = 1600
"""A tenant, a task and a key stand together in one entry of an index, for which PostgreSQL has 2,704 bytes."""
TAG_LIMIT_CHARS: Final = 64
TAGS_LIMIT: Final = 32
"""How many tags a job has at most."""

OWN_TASKS: Final = "haulwright."
"""How the names of the engine's own tasks begin: their jobs are made by verbs of the engine, and by nothing else."""

EVERY_TENANT: Final = "*"
"""Whose a job is that acts on those of all tenants. Nobody acts for a tenant of this name."""


def declared_names(tasks: Iterable[str]) -> tuple[str, ...]:
    """The tasks that an app declares itself, by name."""
    return tuple(sorted(name for name in tasks if not name.startswith(OWN_TASKS)))


def check_name(what: str, name: object) -> str:
    """A name of a task, a queue, a schedule, a tenant, a source or a principal: text that can be shown."""
    if (
        not isinstance(name, str)
        or not name.strip()
        or not name.isprintable()
        or not _fits(name, NAME_LIMIT_CHARS, NAME_LIMIT_BYTES)
    ):
        why = f"is not a name of 1 to {NAME_LIMIT_CHARS} printable characters and {NAME_LIMIT_BYTES} bytes at most"
        raise InvalidValue(what, name, why)
    return name


def check_tenant(name: object) -> str:
    """The name of a tenant for whom somebody may act."""
    if name == EVERY_TENANT:
        raise InvalidValue("tenant", name, "is what stands for all tenants, and no name of one")
    return check_name("tenant", name)


def check_key(what: str, key: object) -> str:
    """A key that the caller made: text that can be shown, and short enough for an index."""
    if not isinstance(key, str) or not key or "\0" in key or not _fits(key, KEY_LIMIT_CHARS, KEY_LIMIT_BYTES):
        why = f"is not a text of 1 to {KEY_LIMIT_CHARS} characters and {KEY_LIMIT_BYTES:,} bytes at most"
        raise InvalidValue(what, key, why, hint="Hash what is longer.")
    return key


def _fits(text: str, most_chars: int, most_bytes: int) -> bool:
    """Whether a text is within its limits; one with half a character in it has no bytes at all."""
    if text.isascii():
        return len(text) <= most_chars
    try:
        return len(text) <= most_chars and len(text.encode()) <= most_bytes
    except UnicodeEncodeError:
        return False


def check_tags(tags: Sequence[object]) -> tuple[str, ...]:
    """Tags: few, short, and text."""
    if isinstance(tags, str) or len(tags) > TAGS_LIMIT:
        raise InvalidValue("tags", tags, f"is not a list of at most {TAGS_LIMIT} tags")
    for tag in tags:
        if not isinstance(tag, str) or not tag or not tag.isprintable() or len(tag) > TAG_LIMIT_CHARS:
            raise InvalidValue("tags", tag, f"is not a tag of 1 to {TAG_LIMIT_CHARS} printable characters")
    return tuple(sorted({str(tag) for tag in tags}))
