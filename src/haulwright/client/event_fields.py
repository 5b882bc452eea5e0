"""Event fields: those of its arguments and result that a task wants its events to carry."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from haulwright.engine.payload import canonical


def event_fields_of_arguments(names: Sequence[str], plain: Mapping[str, Any]) -> str | None:
    """The fields that are there at the enqueue, as JSON."""
    event_fields = {name: plain[name] for name in names if name in plain}
    return canonical(event_fields) if event_fields else None


def event_fields_of(names: Sequence[str], of_arguments: str | None, result: str | None) -> str | None:
    """The fields at the end of a run: those of its arguments, and what its result adds."""
    if not names:
        return None
    event_fields = json.loads(of_arguments) if of_arguments else {}
    value = json.loads(result) if result else None
    if isinstance(value, dict):
        event_fields |= {name: value[name] for name in names if name in value}
    return canonical(event_fields) if event_fields else None
