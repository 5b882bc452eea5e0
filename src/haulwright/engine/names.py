"""What may be a name, a key or a tag: one rule and one limit for each, wherever one is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from haulwright.errors import InvalidValue

NAME_LIMIT_CHARS: Final = 200
"""Of tasks, queues, schedules, tenants, sources and principals."""
KEY_LIMIT_CHARS: Final = 500
TAG_LIMIT_CHARS: Final = 64
TAGS_LIMIT: Final = 32
"""How many tags a job has at most."""


def check_name(what: str, name: object) -> str:
    """A name of a task, a queue, a schedule, a tenant, a source or a principal: text that can be shown."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > NAME_LIMIT_CHARS:
        raise InvalidValue(what, name, f"is not a name of 1 to {NAME_LIMIT_CHARS} printable characters")
    return name


def check_key(what: str, key: object) -> str:
    """A key that the caller made: text that can be shown, and short enough for an index."""
    if not isinstance(key, str) or not key or "\0" in key or len(key) > KEY_LIMIT_CHARS:
        why = f"is not a text of 1 to {KEY_LIMIT_CHARS} characters"
        raise InvalidValue(what, key, why, hint="Hash what is longer.")
    return key


def check_tags(tags: Sequence[object]) -> tuple[str, ...]:
    """Tags: few, short, and text."""
    if isinstance(tags, str) or len(tags) > TAGS_LIMIT:
        raise InvalidValue("tags", tags, f"is not a list of at most {TAGS_LIMIT} tags")
    for tag in tags:
        if not isinstance(tag, str) or not tag or not tag.isprintable() or len(tag) > TAG_LIMIT_CHARS:
            raise InvalidValue("tags", tag, f"is not a tag of 1 to {TAG_LIMIT_CHARS} printable characters")
    return tuple(sorted({str(tag) for tag in tags}))
