"""Brands, their sources, compiles and snapshots: as JSON, and as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from haulwright.cli.kit.output import Table
from haulwright.operations.times import iso

if TYPE_CHECKING:
    from haulwright.apps.brands.rows import (
        Brand,
        BrandConnection,
        CompileRun,
        CompileSource,
        CompileStatus,
        PlannedSource,
    )
    from haulwright.apps.brands.snapshot.diff import Diff

PLAN_HEADERS = ("source", "decision", "age", "at most", "why")
SOURCE_HEADERS = ("source", "outcome", "raw", "new", "updated", "why")
CHANGE_HEADERS = ("change", "section", "before", "now")
DECISIONS = {"buy": "would be bought", "reuse": "would be reused", "skip": "would be skipped"}


def brand(row: Brand) -> dict[str, Any]:
    """A brand."""
    return asdict(row) | {"created_at": iso(row.created_at)}


def connection(row: BrandConnection) -> dict[str, Any]:
    """A source of a brand."""
    return asdict(row) | {"source": row.source}


def run(row: CompileRun) -> dict[str, Any]:
    """A compile."""
    moments = {name: iso(getattr(row, name)) for name in ("created_at", "started_at", "finished_at")}
    return asdict(row) | moments


def status(compile_status: CompileStatus, number: int | None) -> dict[str, Any]:
    """A compile with its sources, and the number of the snapshot that it made."""
    sources = [source(row) for row in compile_status.sources]
    return {"run": run(compile_status.run), "snapshot": number, "sources": sources}


def source(row: CompileSource) -> dict[str, Any]:
    """One source of a compile; its outcome is null while it is under way."""
    return asdict(row)


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
