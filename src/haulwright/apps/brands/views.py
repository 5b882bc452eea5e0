"""Brands, their sources, compiles and snapshots: as JSON, and as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal, cast

from typing_extensions import TypedDict

from haulwright.cli.kit.output import Table
from haulwright.operations.times import iso

if TYPE_CHECKING:
    from haulwright.apps.brands.evidence.item import EvidenceItem
    from haulwright.apps.brands.rows import (
        Brand,
        BrandConnection,
        CompileRun,
        CompileSource,
        CompileStatus,
        PlannedSource,
        SnapshotComparison,
    )
    from haulwright.apps.brands.snapshot.diff import Diff

PLAN_HEADERS = ("source", "decision", "age", "at most", "why")
SOURCE_HEADERS = ("source", "outcome", "raw", "new", "updated", "why")
CHANGE_HEADERS = ("change", "section", "before", "now")
DECISIONS = {"buy": "would be bought", "reuse": "would be reused", "skip": "would be skipped"}


class BrandView(TypedDict):
    """A brand, with its onboarding answers by question."""

    tenant: str
    id: str
    name: str
    answers: dict[str, Any]
    created_at: str | None


class BrandPageView(TypedDict):
    """Some brands, the oldest first."""

    brands: list[BrandView]
    next: str | None


class BrandConnectionView(TypedDict):
    """A source of a brand."""

    tenant: str
    id: str
    brand_id: str
    platform: str
    capability: str
    identifier: str
    settings: dict[str, Any]
    enabled: bool
    source: str


class BrandConnectionsView(TypedDict):
    """The sources of a brand."""

    connections: list[BrandConnectionView]


class CompileRunView(TypedDict):
    """A compile."""

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
    created_at: str | None
    started_at: str | None
    finished_at: str | None
    status: str


class SourceOutcomeView(TypedDict):
    """How one source of a compile came out, and why."""

    source: str
    connection_id: str
    outcome: str
    reason: str
    run_age_hours: float | None
    apify_run_id: str | None
    actor_run_id: str | None
    apify_run_status: str | None
    dataset_id: str | None
    raw_items_count: int
    normalized_created: int
    normalized_updated: int
    error: str | None
    error_class: str | None


class CompileSourceView(TypedDict):
    """One source of a compile; its outcome is null while it is under way."""

    source: str
    connection_id: str
    job_id: str | None
    outcome: SourceOutcomeView | None


class CompileStatusView(TypedDict):
    """A compile with its sources, and the number of the snapshot that it made."""

    run: CompileRunView
    snapshot: int | None
    sources: list[CompileSourceView]


class PlannedSourceView(TypedDict):
    """What a compile would do about one source now."""

    source: str
    decision: Literal["buy", "reuse", "skip"]
    reason: str
    age_hours: float | None
    cap: int


class CompilePlanView(TypedDict):
    """What a compile would buy, reuse or skip now."""

    brand: str
    sources: list[PlannedSourceView]


class StatementView(TypedDict):
    """A statement of a snapshot: the items and answers that it rests on."""

    subject: str
    text: str
    evidence: list[str]
    answers: list[str]


class SnapshotView(TypedDict):
    """A snapshot of a brand."""

    number: int
    version: int
    asked: dict[str, Any]
    ran: dict[str, Any]
    sections: dict[str, list[StatementView]]
    features: Any
    evidence: dict[str, Any]
    evidence_status: dict[str, Any]
    bundle: dict[str, Any]
    digest: str


class StatementChangeView(TypedDict):
    """A statement that is new, gone, or says something else now."""

    kind: str
    section: str
    subject: str
    old: str | None
    new: str | None


class EvidenceChangeView(TypedDict):
    """The items that came and went."""

    added: list[str]
    removed: list[str]


class SnapshotDiffView(TypedDict):
    """What changed between two snapshots."""

    old: int
    new: int
    empty: bool
    statements: list[StatementChangeView]
    evidence: EvidenceChangeView
    ran: dict[str, Any]


class EvidenceView(TypedDict):
    """An item that was found for a brand."""

    id: str
    platform: str
    capability: str
    content_type: str
    external_id: str | None
    canonical_url: str | None
    author: str | None
    title: str | None
    text: str
    published_at: str | None
    metrics: dict[str, Any]
    media: list[Any]
    hashtags: list[str]
    links: list[str]
    connection_id: str
    run_id: str


class EvidenceListView(TypedDict):
    """The newest items of each source of a brand."""

    evidence: list[EvidenceView]


def brand(row: Brand) -> BrandView:
    """A brand."""
    return cast("BrandView", asdict(row) | {"created_at": iso(row.created_at)})


def connection(row: BrandConnection) -> BrandConnectionView:
    """A source of a brand."""
    return cast("BrandConnectionView", asdict(row) | {"source": row.source})


def run(row: CompileRun) -> CompileRunView:
    """A compile."""
    moments = {name: iso(getattr(row, name)) for name in ("created_at", "started_at", "finished_at")}
    return cast("CompileRunView", asdict(row) | moments)


def status(compile_status: CompileStatus) -> CompileStatusView:
    """A compile with its sources, and the number of the snapshot that it made."""
    sources = [source(row) for row in compile_status.sources]
    return {"run": run(compile_status.run), "snapshot": compile_status.snapshot, "sources": sources}


def source(row: CompileSource) -> CompileSourceView:
    """One source of a compile; its outcome is null while it is under way."""
    return cast("CompileSourceView", asdict(row))


def plan(brand_id: str, planned: list[PlannedSource]) -> CompilePlanView:
    """What a compile would do."""
    return {"brand": brand_id, "sources": [cast("PlannedSourceView", asdict(each)) for each in planned]}


def comparison(compared: SnapshotComparison) -> SnapshotDiffView:
    """What changed between two snapshots."""
    numbers = {"old": compared.old, "new": compared.new}
    return cast("SnapshotDiffView", numbers | compared.changes.document())


def evidence(item: EvidenceItem) -> EvidenceView:
    """An item."""
    return cast("EvidenceView", asdict(item) | {"published_at": iso(item.published_at)})


def source_table(compile_status: CompileStatus) -> Table:
    """The sources of a compile for people."""
    return Table(SOURCE_HEADERS, [_source_row(row) for row in compile_status.sources], "No source takes part.")


def plan_table(plan: list[PlannedSource]) -> Table:
    """What a compile would do, for people."""
    rows = [(each.source, DECISIONS[each.decision], _age(each.age_hours), each.cap, each.reason) for each in plan]
    return Table(PLAN_HEADERS, rows, "No source is connected.")


def snapshot_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """A snapshot as people read it: section by section, each statement with what it rests on."""
    for section, statements in document["sections"].items():
        if statements:
            yield f"\n{section.upper()}"
            yield from (f"  {statement['text']}  [{_basis(statement)}]" for statement in statements)
    yield f"\n{_maker(document)} From {len(document['evidence'])} items; bundle {document['bundle']['digest'][:12]}."


def change_table(diff: Diff) -> Table:
    """What changed between two snapshots, for people."""
    rows = [(change.kind, change.section, change.old or "", change.new or "") for change in diff.statements]
    return Table(CHANGE_HEADERS, rows, "Both say the same.")


def _source_row(row: CompileSource) -> tuple[object, ...]:
    outcome = row.outcome
    if outcome is None:
        return (row.source, "under way", "", "", "", "")
    why = outcome.error if outcome.outcome == "failed" and outcome.error else outcome.reason
    counts = (outcome.raw_items_count, outcome.normalized_created, outcome.normalized_updated)
    return (row.source, outcome.outcome, *counts, why)


def _age(hours: float | None) -> str:
    return "" if hours is None else f"{hours:.1f} h"


def _basis(statement: Mapping[str, Any]) -> str:
    """What a statement rests on, in two words."""
    items, answers = len(statement["evidence"]), len(statement["answers"])
    words = [f"{items} item{'s' * (items != 1)}"] if items else []
    return ", ".join([*words, *(["answer"] if answers else [])])


def _maker(document: Mapping[str, Any]) -> str:
    """Who made it; a model is named only where one was called."""
    model, ran = document["asked"]["model"], document["ran"]
    if ran["model"]:
        return f"Made by {ran['compiler']} with {ran['model']}."
    missed = f" {model} was asked for and not called." if model and model != ran["compiler"] else ""
    return f"Made by {ran['compiler']}, without a model.{missed}"
