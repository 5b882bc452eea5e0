"""What a compile came to, in a form that is the same for two compiles of the same sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from haulwright.apps.brands.application import Brands
from haulwright.apps.brands.rows import BrandConnection, CompileRun, PaidRun
from haulwright.operations.principal import Principal
from haulwright.sandbox import Sandbox

MOST_RUNS = 100


@dataclass(frozen=True, slots=True)
class Ending:
    """What a compile came to."""

    run: CompileRun
    paid: dict[str, int]
    """How many runs were paid for, by source, as the books of the outside world have it."""
    items: list[tuple[Any, ...]]
    """Everything that was normalized, without our own ids."""
    snapshot: dict[str, Any]
    """The same for the snapshot."""


def ending(brands: Brands, sandbox: Sandbox, asked: CompileRun) -> Ending:
    """What is left of a compile that is over."""
    principal = Principal.of_tenant(asked.tenant)
    run = brands.compile_run(principal, asked.id)
    sources = brands.connections(principal, run.brand_id)
    paid = {one.source: sum(_paid(sandbox, each) for each in _runs(brands, one)) for one in sources}
    snapshot = brands.snapshot(principal, run.brand_id) if run.status == "succeeded" else {}
    return Ending(run, paid, _items(brands, run, sources), _bare(snapshot))


def _runs(brands: Brands, connection: BrandConnection) -> list[PaidRun]:
    named = {"tenant": connection.tenant, "connection_id": connection.id, "limit": MOST_RUNS}
    return [PaidRun.of(row) for row in brands.tables.read("runs.of_connection", **named)]


def _paid(sandbox: Sandbox, run: PaidRun) -> int:
    """How often a run was begun there: its id goes along as the marker."""
    return len(sandbox.books.paid_runs(marker=run.id))


def _items(brands: Brands, run: CompileRun, sources: list[BrandConnection]) -> list[tuple[Any, ...]]:
    found = brands.evidence(Principal.of_tenant(run.tenant), run.brand_id, [one.id for one in sources])
    return sorted(
        (one.kind, one.external_id or "", one.canonical_url, one.author, one.title, one.text, one.published_at,
         sorted(one.metrics.items()), list(one.media), list(one.hashtags), list(one.links))
        for one in found
    )  # fmt: skip


def _bare(snapshot: dict[str, Any]) -> dict[str, Any]:
    """What a snapshot says, with items named by what they are instead of by our ids."""
    if not snapshot:
        return {}
    known = {one: f"{said['kind']} {said['external_id'] or said['url']}" for one, said in snapshot["evidence"].items()}
    return {
        "sections": {
            name: [(one["subject"], one["text"], sorted(known[item] for item in one["evidence"])) for one in said]
            for name, said in snapshot["sections"].items()
        },
        "evidence": sorted(known.values()),
        "status": {
            outcome: sorted((one["source"], one["reason"], one.get("raw_items_count")) for one in told)
            for outcome, told in snapshot["evidence_status"].items()
        },
    }
