"""Normalization: from raw items to evidence, each judged by itself, all written in one transaction.

Doing it again does no harm: an item is known by its identity, and what was observed later wins.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from haulwright import Permanent
from haulwright.apps.brands.platforms.shapes import SHAPES, Normalized, Unfit
from haulwright.apps.brands.platforms.shapes.item import links_in, require_content
from haulwright.apps.brands.records import RUN_NORMALIZED, record_run_event
from haulwright.apps.brands.rows import PaidRun
from haulwright.engine.ids import new_id
from haulwright.engine.payload import clip

if TYPE_CHECKING:
    from haulwright.application import Writing
    from haulwright.apps.brands.platforms.capabilities import Capability
    from haulwright.stores.connection import Row

CHUNK_ROWS: Final = 500
DETAIL_BYTES: Final = 500
_encoded: Final = json.JSONEncoder(ensure_ascii=False).encode


class TooManyBadItems(Permanent):
    """Most of what an actor gave cannot be used: it has changed, or was asked for the wrong thing."""


@dataclass(frozen=True, slots=True)
class BadItem:
    """A raw item that cannot be used."""

    item_index: int
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class SortedItems:
    """The raw items of a run, the usable apart from the others."""

    good: list[tuple[int, Normalized]]
    bad: list[BadItem]

    @property
    def ratio(self) -> float:
        """The share of those that cannot be used."""
        return len(self.bad) / (len(self.good) + len(self.bad) or 1)

    def reasons(self) -> str:
        """What was wrong, the most frequent first."""
        counts = Counter(item.reason for item in self.bad).most_common()
        return ", ".join(f"{reason} {count}" for reason, count in counts)

    def complaint(self) -> str:
        """Why a run with these items counts as failed."""
        return f"{len(self.bad)} of {len(self.good) + len(self.bad)} items cannot be used: {self.reasons()}."


@dataclass(frozen=True, slots=True)
class NormalizationCounts:
    """What normalizing a run came to."""

    created: int
    updated: int
    quarantined: int
    error: str | None = None
    """Why the run cannot be used all the same."""


def sort_out(rows: Iterable[Row], shape: Callable[[Mapping[str, Any]], Normalized]) -> SortedItems:
    """Judge raw items, each by itself. Pure."""
    good: list[tuple[int, Normalized]] = []
    bad: list[BadItem] = []
    for index, size, text in rows:
        try:
            good.append((index, shape(_usable(size, text))))
        except Unfit as unfit:
            bad.append(BadItem(index, unfit.reason, clip(unfit.detail, DETAIL_BYTES)))
    return SortedItems(good, bad)


def normalize(
    writing: Writing, run: PaidRun, capability: Capability, limit: int, most_bad: float
) -> NormalizationCounts:
    """Write what the raw items of a run say, and whether the run can be used, inside a transaction."""
    rows = writing.run("items.of_run", tenant=run.tenant, run_id=run.id, limit=limit)
    if not rows and run.raw_item_count:
        raise Permanent(f"The raw items of run {run.id} are gone: they were old.")
    items = sort_out(rows, SHAPES[capability.shape])
    created = updated = 0
    for some in _chunks(_once(items.good, capability.platform), CHUNK_ROWS):
        revisions = _upsert(writing, run, capability, some)
        created += sum(revision == 1 for revision in revisions)
        updated += sum(revision > 1 for revision in revisions)
    _quarantine(writing, run, items.bad)
    error = items.complaint() if items.ratio > most_bad else None
    counts = NormalizationCounts(created, updated, len(items.bad), error)
    _record(writing, run, counts)
    return counts


def _quarantine(writing: Writing, run: PaidRun, bad: Sequence[BadItem]) -> None:
    """Keep what cannot be used with its reasons, in place of what was kept of this run before."""
    of_run = {"tenant": run.tenant, "run_id": run.id}
    writing.run("items.release", **of_run)
    for few in _chunks(bad, CHUNK_ROWS):
        writing.each("items.quarantine", [asdict(item) for item in few], **of_run)


def _record(writing: Writing, run: PaidRun, counts: NormalizationCounts) -> None:
    """Write how it came out beside the run."""
    key = {"tenant": run.tenant, "id": run.id, "quarantined": counts.quarantined}
    if counts.error is None:
        writing.run("runs.normalized", **key, created=counts.created, updated=counts.updated)
    else:
        writing.run("runs.failed", **key, error=counts.error, error_class=TooManyBadItems.__name__, status=None)
    record_run_event(writing, RUN_NORMALIZED, run, **asdict(counts))


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
    by_key: dict[str, tuple[list[int], str, Normalized]] = {}
    for index, item in good:
        key = (item.canonical_url if platform == "web" else item.external_id) or ""
        places = [*by_key[key][0], index] if key in by_key else [index]
        by_key[key] = (places, key, item)
    return list(by_key.values())


def _upsert(
    writing: Writing, run: PaidRun, capability: Capability, items: Sequence[tuple[list[int], str, Normalized]]
) -> list[int]:
    """Write items and where they were seen; returns the revisions of those that were not newer already."""
    entry = "evidence.upsert_pages" if capability.platform == "web" else "evidence.upsert_posts"
    rows = writing.each(
        entry, [_row(item) for _, _, item in items], tenant=run.tenant, brand_id=run.brand_id,
        connection_id=run.connection_id, run_id=run.id, platform=capability.platform, capability=capability.name,
        content_type=capability.content_type, observed_at=run.started_at or run.requested_at,
    )  # fmt: skip
    ids = {key: evidence_id for evidence_id, key, _ in rows}
    refs = [
        {"evidence_id": ids[key], "item_index": index} for places, key, _ in items if key in ids for index in places
    ]
    writing.each("evidence.link", refs, tenant=run.tenant, run_id=run.id)
    return [revision for _, _, revision in rows]


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
