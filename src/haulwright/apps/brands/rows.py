"""What the tables of brands hold, as values."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple, Self
from uuid import UUID

from haulwright.application.job_status import JobStatus
from haulwright.apps.brands.compile_status import STATUSES
from haulwright.apps.brands.evidence.item import EvidenceItem
from haulwright.apps.brands.evidence.status import SourceOutcome
from haulwright.apps.brands.snapshot.diff import Diff
from haulwright.clock import SECOND, Instant
from haulwright.errors import NotFound
from haulwright.sources.apify.runs import TERMINAL
from haulwright.stores.connection import Row

HOUR_US = 3600 * SECOND
Decision = Literal["buy", "reuse", "skip"]
_EVIDENCE = [field.name for field in fields(EvidenceItem)]
_EVIDENCE_LISTS = ("metrics", "media", "hashtags", "links")
_FLAGS = ("marked", "taken_over", "truncated")
"""What SQLite has as numbers."""


@dataclass(frozen=True, slots=True)
class Brand:
    """A brand of one tenant."""

    tenant: str
    id: str
    name: str
    answers: dict[str, Any]
    """The onboarding answers, by question."""
    created_at: Instant

    @classmethod
    def of(cls, row: Row) -> Self:
        """Read a row."""
        tenant, brand_id, name, answers, created_at = row
        return cls(tenant, brand_id, name, json.loads(answers), created_at)


@dataclass(frozen=True, slots=True)
class BrandConnection:
    """One source of a brand."""

    tenant: str
    id: str
    brand_id: str
    platform: str
    capability: str
    identifier: str
    """Whom or what to read there: a handle, or the address of a site."""
    settings: dict[str, Any]
    enabled: bool

    @classmethod
    def of(cls, row: Row) -> Self:
        """Read a row."""
        tenant, connection_id, brand_id, platform, capability, identifier, settings, enabled = row
        options = json.loads(settings)
        return cls(tenant, connection_id, brand_id, platform, capability, identifier, options, bool(enabled))

    @property
    def source(self) -> str:
        """As `platform.capability`."""
        return f"{self.platform}.{self.capability}"


@dataclass(frozen=True, slots=True)
class CompileRun:
    """One request to compile a brand, and how far it has come."""

    tenant: str
    id: str
    brand_id: str
    job_id: str | None
    request_id: str
    force_refresh: bool
    prompt_version: str
    model: str | None
    evidence_status: dict[str, Any] | None
    error: str | None
    error_class: str | None
    created_at: Instant
    started_at: Instant | None
    finished_at: Instant | None
    status: JobStatus = "pending"

    @classmethod
    def of(cls, row: Row) -> Self:
        """Read a row; its status is that of its job."""
        tenant, run_id, brand_id, job_id, request_id, force, prompt, model, evidence, *rest = row
        status = None if evidence is None else json.loads(evidence)
        return cls(tenant, run_id, brand_id, job_id, request_id, bool(force), prompt, model, status, *rest)

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.status in STATUSES[-2:]

    def with_status(self, status: JobStatus, error: str | None = None, error_class: str | None = None) -> Self:
        """The same with what its job says; its own word about an error goes first."""
        kind = self.error_class or error_class
        return replace(self, status=status, error=self.error or error, error_class=kind)


@dataclass(frozen=True, slots=True)
class CompileSource:
    """One source of a compile: its job while it is under way, its outcome when it is known."""

    source: str
    connection_id: str
    job_id: str | None
    outcome: SourceOutcome | None

    @classmethod
    def of(cls, row: Row) -> Self:
        """Read a row."""
        *values, job_id = row
        source, connection_id, outcome, *_ = values
        return cls(source, connection_id, job_id, None if outcome is None else SourceOutcome(*values))


@dataclass(frozen=True, slots=True)
class CompileStatus:
    """A compile with its sources."""

    run: CompileRun
    sources: tuple[CompileSource, ...]
    snapshot: int | None = None
    """The number of the snapshot that it made."""


class SnapshotComparison(NamedTuple):
    """Two snapshots of a brand by their numbers, and what changed between them."""

    old: int
    new: int
    changes: Diff


@dataclass(frozen=True, slots=True)
class PlannedSource:
    """What a compile would do about one source now."""

    source: str
    decision: Decision
    reason: str
    age_hours: float | None
    cap: int


@dataclass(frozen=True, slots=True)
class PaidRun:
    """A run of an actor, from its order to its normalized items."""

    tenant: str
    id: str
    """Also the marker by which it is found at Apify, where it could go along."""
    brand_id: str
    connection_id: str
    job_id: str
    actor: str
    input: str
    input_hash: str
    marked: bool
    """Whether its id went along in the input."""
    taken_over: bool
    """Another job ordered it, and may have begun it."""
    cap: int
    status: str
    """ORDERED, then Apify's own word, or timed_out where we gave up."""
    actor_run_id: str | None
    dataset_id: str | None
    dataset_items: int | None
    truncated: bool
    raw_item_count: int
    normalized_created: int
    normalized_updated: int
    quarantined: int
    usage_usd: float | None
    error: str | None
    error_class: str | None
    requested_at: Instant
    started_at: Instant | None
    fetched_at: Instant | None
    normalized_at: Instant | None
    finished_at: Instant | None
    polled_at: Instant | None = None
    """When it was last looked at."""
    elapsed_us: int = 0
    """How long it had taken by then."""
    wait_us: int = 0
    """How long the wait after that look was meant to be."""

    @classmethod
    def of(cls, row: Row) -> Self:
        """Read a row."""
        names = [field.name for field in fields(cls)]
        values = dict(zip(names, row, strict=True))
        return cls(**{**values, **{name: bool(values[name]) for name in _FLAGS}})

    @property
    def is_under_way(self) -> bool:
        """Whether it was begun at Apify and, as far as is known here, goes on."""
        return self.actor_run_id is not None and self.status not in TERMINAL

    def age_hours(self, now: Instant) -> float:
        """How old what it found is."""
        return max(0.0, (now - (self.started_at or self.requested_at)) / HOUR_US)

    def as_outcome(self, source: str, outcome: Literal["reused", "refreshed", "failed"], reason: str) -> SourceOutcome:
        """What a compile records about it."""
        return SourceOutcome(
            source, self.connection_id, outcome, reason, apify_run_id=self.id, actor_run_id=self.actor_run_id,
            apify_run_status=self.status, dataset_id=self.dataset_id, raw_items_count=self.raw_item_count,
            normalized_created=self.normalized_created, normalized_updated=self.normalized_updated,
        )  # fmt: skip


def evidence_of(row: Row) -> EvidenceItem:
    """Read a normalized item."""
    values = dict(zip(_EVIDENCE, row, strict=True))
    return EvidenceItem(**{**values, **{name: json.loads(values[name]) for name in _EVIDENCE_LISTS}})


def parse_id(what: str, name: object) -> str:
    """An id in the form that tables hold; what cannot be one names nothing."""
    try:
        return str(UUID(str(name)))
    except ValueError:
        raise NotFound(what, str(name)) from None
