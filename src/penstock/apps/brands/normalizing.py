"""Normalization: from raw items to evidence, each judged by itself, all written in one transaction.

Doing it again does no harm: an item is known by its identity, and what was observed later wins.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from penstock.apps.brands.outcomes import RUN_NORMALIZED, tell_of_run
from penstock.apps.brands.rows import PaidRun
from penstock.apps.brands.shapes import SHAPES, Normalized, Unfit
from penstock.apps.brands.shapes.item import links_in, require_content
from penstock.engine.ids import new_id
from penstock.engine.payload import clip
from penstock.errors import Permanent

if TYPE_CHECKING:
    from penstock.apps.brands.capabilities import Capability
    from penstock.apps.tables import Writing
    from penstock.stores.connection import Row

CHUNK_ROWS: Final = 500
DETAIL_BYTES: Final = 500
_encoded: Final = json.JSONEncoder(ensure_ascii=False).encode


class TooManyBadItems(Permanent):
    """Most of what an actor gave cannot be used: it has changed, or was asked for the wrong thing."""


@dataclass(frozen=True, slots=True)
class Bad:
    """A raw item that cannot be used."""

    item_index: int
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Sorted:
    """The raw items of a run, the usable apart from the others."""

    good: list[tuple[int, Normalized]]
    bad: list[Bad]

    @property
    def ratio(self) -> float:
        """The share of those that cannot be used."""
        return len(self.bad) / (len(self.good) + len(self.bad) or 1)

    def reasons(self) -> str:
        """What was wrong, the most frequent first."""
        told = Counter(one.reason for one in self.bad).most_common()
        return ", ".join(f"{reason} {count}" for reason, count in told)


@dataclass(frozen=True, slots=True)
class Counts:
    """What normalizing a run came to."""

    created: int
    updated: int
    quarantined: int
    error: str | None = None
    """Why the run cannot be used all the same."""


def sort_out(rows: Iterable[Row], shape: Callable[[Mapping[str, Any]], Normalized]) -> Sorted:
    """Judge raw items, each by itself. Pure."""
    good: list[tuple[int, Normalized]] = []
    bad: list[Bad] = []
    for index, size, text in rows:
        try:
            good.append((index, shape(_usable(size, text))))
        except Unfit as unfit:
            bad.append(Bad(index, unfit.reason, clip(unfit.detail, DETAIL_BYTES)))
    return Sorted(good, bad)


def normalize(writing: Writing, run: PaidRun, capability: Capability, limit: int, most_bad: float) -> Counts:
    """Write what the raw items of a run say, and whether the run can be used, inside a transaction."""
    given = writing.run("items.of_run", tenant=run.tenant, run_id=run.id, limit=limit)
    if not given and run.raw_item_count:
        raise Permanent(f"The raw items of run {run.id} are gone: they were old.")
    found = sort_out(given, SHAPES[capability.shape])
    created = updated = 0
    for some in _chunks(_once(found.good, capability.platform), CHUNK_ROWS):
        made = _upsert(writing, run, capability, some)
        created += sum(revision == 1 for revision in made)
        updated += sum(revision > 1 for revision in made)
    own = {"tenant": run.tenant, "run_id": run.id}
    writing.run("items.release", **own)
    for few in _chunks(found.bad, CHUNK_ROWS):
        rows = [{"item_index": one.item_index, "reason": one.reason, "detail": one.detail} for one in few]
        writing.each("items.quarantine", rows, **own)
    told = {"tenant": run.tenant, "id": run.id, "quarantined": len(found.bad)}
    if found.ratio > most_bad:
        all_of_them = len(found.good) + len(found.bad)
        error = f"{len(found.bad)} of {all_of_them} items cannot be used: {found.reasons()}."
        failed = {"error": error, "error_class": TooManyBadItems.__name__, "status": None}
        writing.run("runs.failed", **told, **failed)
        counts = Counts(created, updated, len(found.bad), error)
        tell_of_run(writing, RUN_NORMALIZED, run, **asdict(counts))
        return counts
    writing.run("runs.normalized", **told, created=created, updated=updated)
    counts = Counts(created, updated, len(found.bad))
    tell_of_run(writing, RUN_NORMALIZED, run, **asdict(counts))
    return counts


def _usable(size: int, text: str | None) -> Mapping[str, Any]:
    if text is None:
        raise Unfit("too_large", f"it has {size} bytes")
    item = json.loads(text)
    if not isinstance(item, dict):
        raise Unfit("no_object", f"it is of type {type(item).__name__}")
    require_content(item)
    return item


def _once(good: Sequence[tuple[int, Normalized]], platform: str) -> list[tuple[list[int], str, Normalized]]:
    """Each thing once, as it was last given, with all raw items that it was seen in."""
    seen: dict[str, tuple[list[int], str, Normalized]] = {}
    for index, item in good:
        key = (item.canonical_url if platform == "web" else item.external_id) or ""
        places = [*seen[key][0], index] if key in seen else [index]
        seen[key] = (places, key, item)
    return list(seen.values())


def _upsert(
    writing: Writing, run: PaidRun, capability: Capability, items: Sequence[tuple[list[int], str, Normalized]]
) -> list[int]:
    """Write items and where they were seen; returns the revisions of those that were not newer already."""
    entry = "evidence.upsert_pages" if capability.platform == "web" else "evidence.upsert_posts"
    made = writing.each(
        entry, [_row(item) for _, _, item in items], tenant=run.tenant, brand_id=run.brand_id,
        connection_id=run.connection_id, run_id=run.id, platform=capability.platform, capability=capability.name,
        content_type=capability.content_type, observed_at=run.started_at or run.requested_at,
    )  # fmt: skip
    ids = {key: evidence_id for evidence_id, key, _ in made}
    refs = [
        {"evidence_id": ids[key], "item_index": index} for places, key, _ in items if key in ids for index in places
    ]
    writing.each("evidence.link", refs, tenant=run.tenant, run_id=run.id)
    return [revision for _, _, revision in made]


def _row(item: Normalized) -> dict[str, Any]:
    return {
        "id": new_id(),
        "external_id": item.external_id,
        "canonical_url": item.canonical_url,
        "author": item.author,
        "title": item.title,
        "body": item.body,
        "published_at": item.published_at,
        "metrics": _encoded(item.metrics),
        "media": _encoded(item.media),
        "hashtags": _encoded(item.hashtags),
        "links": _encoded(links_in(item.body)),
    }


def _chunks(rows: Sequence[Any], size: int) -> Iterable[Sequence[Any]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))
