"""The seam of a compile: one normalized item, how each source came out, and the evidence status made of that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from penstock.apps.brands.schema import check, listed, shape
from penstock.clock import Instant

Outcome = Literal["reused", "refreshed", "skipped", "failed"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("reused", "refreshed", "skipped", "failed")

_TEXT: Final = {"type": "string", "minLength": 1}
_TEXT_OR_NULL: Final = {"type": ["string", "null"]}
_COUNT: Final = {"type": "integer", "minimum": 0}
_AGE: Final = {"type": "number", "minimum": 0}
_ENTRY: Final[dict[str, Any]] = {"source": _TEXT, "connection_id": _TEXT, "reason": _TEXT}
_RUN: Final[dict[str, Any]] = {"apify_run_id": _TEXT, "dataset_id": _TEXT_OR_NULL}
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
        "apify_run_status": _TEXT_OR_NULL,
        "dataset_id": _TEXT_OR_NULL,
    },
}
STATUS_SCHEMA: Final = shape({name: listed(shape(fields)) for name, fields in _ENTRIES.items()})
"""The evidence status as a JSON schema: four lists, each with entries of its own form."""


@dataclass(frozen=True, slots=True)
class EvidenceItem:
    """One normalized item of a brand."""

    id: str
    platform: str
    capability: str
    content_type: str
    """What it is on its platform, such as `post` or `video`."""
    external_id: str | None
    canonical_url: str | None
    author: str | None
    title: str | None
    text: str
    published_at: Instant | None
    metrics: Mapping[str, int]
    """What was counted, such as `likes`, `comments` and `views`."""
    media: Sequence[Any]
    hashtags: Sequence[str]
    links: Sequence[str]
    connection_id: str
    run_id: str
    """The run that it was last seen in."""

    @property
    def source(self) -> str:
        """Where it comes from, as `platform.capability`."""
        return f"{self.platform}.{self.capability}"

    @property
    def kind(self) -> str:
        """What it is, as `platform.content_type`."""
        return f"{self.platform}.{self.content_type}"


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
    for told in sorted(outcomes, key=lambda one: (one.source, one.connection_id)):
        one = _honest(told)
        status[one.outcome].append({name: getattr(one, name) for name in _ENTRIES[one.outcome]})
    check(status, STATUS_SCHEMA, root="evidence_status")
    return status


def _honest(told: SourceOutcome) -> SourceOutcome:
    """A reuse without a run to reuse is a failure, and every failure says what failed."""
    if told.outcome == "reused" and told.apify_run_id is None:
        return replace(told, outcome="failed", error="There was no run to reuse.", error_class="NothingToReuse")
    if told.outcome == "failed":
        return replace(told, error=told.error or told.reason, error_class=told.error_class or "Unknown")
    return told
