"""Brands, their sources, compiles and snapshots: as JSON, and as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from penstock.cli.output import Table
from penstock.cli.times import iso

if TYPE_CHECKING:
    from penstock.apps.brands.diff import Diff
    from penstock.apps.brands.rows import Brand, CompileRun, CompileSource, CompileStatus, Connection, Planned

PLAN_HEADERS = ("source", "decision", "age", "at most", "why")
SOURCE_HEADERS = ("source", "outcome", "raw", "new", "updated", "why")
CHANGE_HEADERS = ("change", "section", "before", "now")
DECISIONS = {"buy": "would be bought", "reuse": "would be reused", "skip": "would be skipped"}


def brand(one: Brand) -> dict[str, Any]:
    """A brand."""
    return asdict(one) | {"created_at": iso(one.created_at)}


def connection(one: Connection) -> dict[str, Any]:
    """A source of a brand."""
    return asdict(one) | {"source": one.source}


def run(one: CompileRun) -> dict[str, Any]:
    """A compile."""
    moments = {name: iso(getattr(one, name)) for name in ("created_at", "started_at", "finished_at")}
    return asdict(one) | moments


def status(one: CompileStatus, number: int | None) -> dict[str, Any]:
    """A compile with its sources, and the number of the snapshot that it made."""
    return {"run": run(one.run), "snapshot": number, "sources": [source(each) for each in one.sources]}


def source(one: CompileSource) -> dict[str, Any]:
    """One source of a compile; its outcome is null while it is under way."""
    return asdict(one)


def source_table(one: CompileStatus) -> Table:
    """The sources of a compile for people."""
    return Table(SOURCE_HEADERS, [_source_row(each) for each in one.sources], "No source takes part.")


def plan_table(planned: list[Planned]) -> Table:
    """What a compile would do, for people."""
    rows = [(one.source, DECISIONS[one.decision], _age(one.age_hours), one.cap, one.reason) for one in planned]
    return Table(PLAN_HEADERS, rows, "No source is connected.")


def snapshot_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """A snapshot as people read it: section by section, each statement with what it rests on."""
    for section, statements in document["sections"].items():
        if statements:
            yield f"\n{section.upper()}"
            yield from (f"  {one['text']}  [{_basis(one)}]" for one in statements)
    yield f"\n{_maker(document)} From {len(document['evidence'])} items; bundle {document['bundle']['digest'][:12]}."


def change_table(found: Diff) -> Table:
    """What changed between two snapshots, for people."""
    rows = [(one.kind, one.section, one.old or "", one.new or "") for one in found.statements]
    return Table(CHANGE_HEADERS, rows, "Both say the same.")


def _source_row(one: CompileSource) -> tuple[object, ...]:
    told = one.outcome
    if told is None:
        return (one.source, "under way", "", "", "", "")
    why = told.error if told.outcome == "failed" and told.error else told.reason
    return (one.source, told.outcome, told.raw_items_count, told.normalized_created, told.normalized_updated, why)


def _age(hours: float | None) -> str:
    return "" if hours is None else f"{hours:.1f} h"


def _basis(statement: Mapping[str, Any]) -> str:
    """What a statement rests on, in two words."""
    items, answers = len(statement["evidence"]), len(statement["answers"])
    told = [f"{items} item{'s' * (items != 1)}"] if items else []
    return ", ".join([*told, *(["answer"] if answers else [])])


def _maker(document: Mapping[str, Any]) -> str:
    """Who made it; a model is named only where one was called."""
    asked, ran = document["asked"]["model"], document["ran"]
    if ran["model"]:
        return f"Made by {ran['compiler']} with {ran['model']}."
    missed = f" {asked} was asked for and not called." if asked and asked != ran["compiler"] else ""
    return f"Made by {ran['compiler']}, without a model.{missed}"
