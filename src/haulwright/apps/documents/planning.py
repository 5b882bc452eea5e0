"""Planning: from what a manifest lists to one job for each artefact, however often it is listed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeVar

from haulwright.events import Event
from haulwright.sources.tools.urls import CANON_VERSION

if TYPE_CHECKING:
    from haulwright import Task
    from haulwright.application import Tables, Writing
    from haulwright.apps.documents.manifest import Item, ManifestLine
    from haulwright.apps.documents.politeness import Politeness

T = TypeVar("T")

REFUSED: Final = "document.refused"
AT_ONCE: Final = 100
"""How many artefacts are planned in one transaction."""
MOST_RECORDED: Final = 1_000
"""Of so many bad lines the record tells one by one; the others are counted."""


@dataclass(frozen=True, slots=True)
class PlannedArtifact:
    """An artefact that a job stands for."""

    key: str
    job_id: str
    """Empty where nothing is written."""
    created: bool
    """Whether the job is new, or was there already."""
    url: str
    """Its address as people may see it."""


@dataclass(slots=True)
class ManifestImport:
    """What became of a manifest."""

    manifest: str
    counts: Counter[str] = field(default_factory=Counter)
    """Lines by what became of them: planned, known, repeated, refused; of a live manifest also what was found there."""
    refused: list[ManifestLine] = field(default_factory=list)
    planned: list[PlannedArtifact] = field(default_factory=list)
    """Those whose job is new."""
    politeness: Politeness | None = None
    """How long the rate of their hosts makes those take."""


class Planning:
    """Plans artefacts of tenants."""

    def __init__(self, tables: Tables, fetch_task: Task[[str], Any]) -> None:
        self._tables = tables
        self._fetch_task = fetch_task

    def plan(self, tenant: str, items: Sequence[Item], *, manifest: str = "") -> list[PlannedArtifact]:
        """One job for each artefact, in the order of the items. Each hundred is on disk whole, or not at all."""
        artifacts: list[PlannedArtifact] = []
        for batch in _batched(items, AT_ONCE):
            artifacts += self._tables.transact(partial(self._plan, tenant=tenant, items=batch, manifest=manifest))
        return artifacts

    def take_in(self, tenant: str, lines: Iterable[ManifestLine], *, manifest: str, actor: str) -> ManifestImport:
        """Plan what a manifest lists. A bad line is on record, and the rest goes on."""
        result = ManifestImport(manifest)
        seen: set[str] = set()
        for batch in _batched(lines, AT_ONCE):
            bad = [line for line in batch if line.item is None]
            new = [item for line in batch if (item := line.item) is not None and not _is_in(seen, item.key)]
            result.counts.update(refused=len(bad), repeated=len(batch) - len(bad) - len(new))
            self._record(tenant, bad[: MOST_RECORDED - len(result.refused)], manifest, actor)
            result.refused += bad[: MOST_RECORDED - len(result.refused)]
            for artifact in self.plan(tenant, new, manifest=manifest):
                result.counts["planned" if artifact.created else "known"] += 1
                result.planned += [artifact] if artifact.created else []
        return result

    def preview(self, tenant: str, lines: Iterable[ManifestLine], *, manifest: str) -> ManifestImport:
        """What `take_in` would come to. Nothing is written."""
        result = ManifestImport(manifest)
        seen: set[str] = set()
        for batch in _batched(lines, AT_ONCE):
            bad = [line for line in batch if line.item is None]
            items = [item for line in batch if (item := line.item) is not None and not _is_in(seen, item.key)]
            rows = self._tables.read("artifacts.known", tenant=tenant, keys=[item.key for item in items])
            known = {key for (key,) in rows}
            result.counts.update(refused=len(bad), repeated=len(batch) - len(bad) - len(items))
            result.counts.update(planned=len(items) - len(known), known=len(known))
            new = [item for item in items if item.key not in known]
            result.planned += [PlannedArtifact(item.key, "", created=True, url=item.shown_url) for item in new]
            result.refused += bad[: MOST_RECORDED - len(result.refused)]
        return result

    def _plan(self, writing: Writing, tenant: str, items: Sequence[Item], manifest: str) -> list[PlannedArtifact]:
        by_key = {item.key: item for item in items}
        writing.each(
            "artifacts.plan",
            [_row(by_key[key]) for key in sorted(by_key)],
            tenant=tenant,
            manifest=manifest,
            canon_version=CANON_VERSION,
        )
        calls = [self._fetch_task.using(tenant=tenant, job_key=item.key).call(item.key) for item in items]
        receipts = writing.enqueue(*calls)
        return [
            PlannedArtifact(item.key, receipt.id, receipt.created, item.shown_url)
            for item, receipt in zip(items, receipts, strict=True)
        ]

    def _record(self, tenant: str, bad: Sequence[ManifestLine], manifest: str, actor: str) -> None:
        events = [
            Event(REFUSED, tenant, actor=actor, data={"manifest": manifest, "line": line.number, "why": line.why})
            for line in bad
        ]
        if events:
            self._tables.transact(lambda writing: writing.record(*events))


def _row(item: Item) -> dict[str, Any]:
    return {
        "key": item.key,
        "work_id": item.work_id,
        "artifact_id": item.artifact_id,
        "canonical_url": item.canonical_url,
        "shown_url": item.shown_url,
        "url": item.url,
        "name": item.name,
        "title": item.title,
        "expected_sha256": item.sha256,
        "expected_bytes": item.bytes,
        "expected_kind": item.type,
    }


def _is_in(seen: set[str], key: str) -> bool:
    """Whether a key was there before; from now on it is."""
    is_repeated = key in seen
    seen.add(key)
    return is_repeated


def _batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
