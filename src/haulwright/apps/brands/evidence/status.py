"""How each source of a compile came out, and the evidence status that is made of that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from haulwright.apps.brands.json_schema import check, listed, shape

Outcome = Literal["reused", "refreshed", "skipped", "failed"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("reused", "refreshed", "skipped", "failed")

_TEXT: Final = {"type": "string", "minLength": 1}
_TEXT_OR_NULL: Final = {"type": ["string", "null"]}
_COUNT: Final = {"type": "integer", "minimum": 0}
_AGE: Final = {"type": "number", "minimum": 0}
_ENTRY: Final[dict[str, Any]] = {"source": _TEXT, "connection_id": _TEXT, "reason": _TEXT}
_RUN: Final[dict[str, Any]] = {"apify_run_id": _TEXT, "actor_run_id": _TEXT_OR_NULL, "dataset_id": _TEXT_OR_NULL}
_NORMALIZED: Final[dict[str, Any]] = {"normalized_created": _COUNT, "normalized_updated": _COUNT}
_ENTRIES: Final[dict[Outcome, dict[str, Any]]] = {
    "reused": {**_ENTRY, **_RUN, "run_age_hours": _AGE, **_NORMALIZED},
    "refreshed": {**_ENTRY, **_RUN, "apify_run_status": _TEXT, "raw_items_count": _COUNT, **_NORMALIZED},
    "skipped": _ENTRY,
    "failed": {
        **_ENTRY,
        "error": _TEXT,
        "error_class": _TEXT,
        "apify_run_id": _TEXT_OR_NULL,
        "actor_run_id": _TEXT_OR_NULL,
        "apify_run_status": _TEXT_OR_NULL,
        "dataset_id": _TEXT_OR_NULL,
    },
}
STATUS_SCHEMA: Final = shape({name: listed(shape(fields)) for name, fields in _ENTRIES.items()})
"""The evidence status as a JSON schema: four lists, each with entries of its own form."""


@dataclass(frozen=True, slots=True)
class SourceOutcome:
    """How one source of a compile came out, and why."""

    source: str
    """As `platform.capability`."""
    connection_id: str
    outcome: Outcome
    reason: str
    run_age_hours: float | None = None
    apify_run_id: str | None = None
    """The run in our own table."""
    actor_run_id: str | None = None
    """The same run as Apify names it."""
    apify_run_status: str | None = None
    dataset_id: str | None = None
    raw_items_count: int = 0
    normalized_created: int = 0
    normalized_updated: int = 0
    error: str | None = None
    error_class: str | None = None


def evidence_status(outcomes: Iterable[SourceOutcome]) -> dict[str, list[dict[str, Any]]]:
    """The four lists of a compile, each in the order of its sources, checked against `STATUS_SCHEMA`."""
    status: dict[str, list[dict[str, Any]]] = {name: [] for name in OUTCOMES}
    for each in sorted(outcomes, key=lambda outcome: (outcome.source, outcome.connection_id)):
        entry = _honest(each)
        status[entry.outcome].append({name: getattr(entry, name) for name in _ENTRIES[entry.outcome]})
    check(status, STATUS_SCHEMA, root="evidence_status")
    return status


def _honest(entry: SourceOutcome) -> SourceOutcome:
    """A reuse without a run to reuse is a failure, and every failure says what failed."""
    if entry.outcome == "reused" and entry.apify_run_id is None:
        return replace(entry, outcome="failed", error="There was no run to reuse.", error_class="NothingToReuse")
    if entry.outcome == "failed":
        return replace(entry, error=entry.error or entry.reason, error_class=entry.error_class or "Unknown")
    return entry
