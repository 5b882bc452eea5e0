"""Facts: the fields of its arguments and result that a task wants its events to carry."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from penstock.engine.payload import canonical


def facts_of_arguments(names: Sequence[str], plain: Mapping[str, Any]) -> str | None:
    """The facts that are known at the enqueue, as JSON."""
    found = {name: plain[name] for name in names if name in plain}
    return canonical(found) if found else None


def facts_of(names: Sequence[str], known: str | None, result: str | None) -> str | None:
    """The facts at the end of a run: what was known before, and what its result adds."""
    if not names:
        return None
    facts = json.loads(known) if known else {}
    value = json.loads(result) if result else None
    if isinstance(value, dict):
        facts |= {name: value[name] for name in names if name in value}
    return canonical(facts) if facts else None
