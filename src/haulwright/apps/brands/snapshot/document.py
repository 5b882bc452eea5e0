"""The snapshot of a brand: what was said, what each statement rests on, and how the evidence was come by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from haulwright.apps.brands.evidence.bundle import Bundle, Chosen
from haulwright.apps.brands.snapshot.draft import SECTIONS, SnapshotDraft, Statement
from haulwright.apps.brands.snapshot.features import FeatureReport
from haulwright.engine.keys import digest
from haulwright.engine.payload import canonical
from haulwright.errors import InvalidPayload
from haulwright.stores.slots import utc_text

VERSION: Final = 1
EXCERPT_CHARS: Final = 280


@dataclass(frozen=True, slots=True)
class SnapshotRequest:
    """What the person asked for, whoever did the work in the end."""

    model: str | None = None
    prompt_version: str = "v1"
    force_refresh: bool = False


def snapshot(
    draft: SnapshotDraft, bundle: Bundle, features: FeatureReport, status: Mapping[str, Any], request: SnapshotRequest
) -> dict[str, Any]:
    """One JSON document with everything that a compile found; refused where a statement cites what is not there."""
    _require_evidence(draft, bundle)
    document = {
        "version": VERSION,
        "asked": asdict(request),
        "ran": _ran(draft),
        "sections": {name: _section(draft, name) for name in SECTIONS},
        "features": features.document(),
        "evidence": {each.item.id: _provenance(each) for each in bundle.chosen},
        "evidence_status": dict(status),
        "bundle": {"digest": bundle.digest, "criteria": bundle.criteria},
    }
    return {**document, "digest": digest(canonical(document, root="snapshot"))}


def _require_evidence(draft: SnapshotDraft, bundle: Bundle) -> None:
    item_ids = {item.id for item in bundle.items}
    for number, statement in enumerate(draft.statements):
        place = f"statements[{number}]"
        if statement.section not in SECTIONS:
            raise InvalidPayload(place, f"is in a section {statement.section!r}, which there is not")
        if not statement.evidence and not statement.answers:
            raise InvalidPayload(place, "rests on nothing")
        if missing := sorted(set(statement.evidence) - item_ids):
            raise InvalidPayload(place, f"cites {missing[0]}, which is not in the bundle")


def _ran(draft: SnapshotDraft) -> dict[str, Any]:
    return {
        "compiler": draft.compiler,
        "model": draft.model,
        "prompt_version": draft.prompt_version,
        "usage": asdict(draft.usage),
        "left_out": draft.left_out,
        "unfounded": draft.unfounded,
    }


def _section(draft: SnapshotDraft, name: str) -> list[dict[str, Any]]:
    return [_statement(statement) for statement in draft.statements if statement.section == name]


def _statement(statement: Statement) -> dict[str, Any]:
    return {
        "subject": statement.subject,
        "text": statement.text,
        "evidence": list(statement.evidence),
        "answers": list(statement.answers),
    }


def _provenance(chosen: Chosen) -> dict[str, Any]:
    """Where an item comes from: enough to find it again, on the platform and in our own tables."""
    item = chosen.item
    return {
        "source": item.source,
        "kind": item.kind,
        "external_id": item.external_id,
        "url": item.canonical_url,
        "author": item.author,
        "published_at": None if item.published_at is None else utc_text(item.published_at),
        "excerpt": (item.title or item.text)[:EXCERPT_CHARS],
        "connection_id": item.connection_id,
        "run_id": item.run_id,
        "why": chosen.why,
    }
