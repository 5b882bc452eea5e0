"""The names that events have: those of the engine, and those of the applications."""

from __future__ import annotations

from difflib import get_close_matches

from haulwright.discovery import installed_applications
from haulwright.errors import InvalidValue
from haulwright.events import FIELDS


def require_event_name(name: str, *, what: str = "name") -> str:
    """A name that events have; another one is refused, with the one that may be meant."""
    if name in FIELDS:
        return name
    names = [*FIELDS, *(event for spec in installed_applications().specs.values() for event in spec.events)]
    if name not in names:
        near = [event for event in names if event.startswith(name)] or get_close_matches(name, names, n=1)
        hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(names)}."
        raise InvalidValue(what, name, "is no event", hint=hint)
    return name
