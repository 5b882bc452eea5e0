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
    from haulwright.application.tables import Writing
    from haulwright.apps.documents.application import Documents
    from haulwright.apps.documents.manifest import Item, ManifestLine

T = TypeVar("T")

REFUSED: Final = "document.refused"
AT_ONCE: Final = 100
"""How many artefacts are planned in one transaction."""
MOST_TOLD: Final = 1_000
"""Of so many bad lines the record tells one by one; the others are counted."""


@dataclass(frozen=True, slots=True)
class PlannedArtifact:
    """An artefact that a job stands for."""

    key: str
    job_id: str
    created: bool
    """Whether the job is new, or was there already."""
    url: str
    """Its address as people may see it."""


@dataclass(slots=True)
class Imported:
    """What became of a manifest."""

    manifest: str
    counts: Counter[str] = field(default_factory=Counter)
    """Lines by what became of them: planned, known, repeated, refused."""
    refused: list[ManifestLine] = field(default_factory=list)
    planned: list[PlannedArtifact] = field(default_factory=list)
    """Those whose job is new."""


class Planning:
    """Plans artefacts of tenants."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def plan(self, tenant: str, items: Sequence[Item], *, manifest: str = "") -> list[PlannedArtifact]:
        """One job for each artefact, in the order of the items. Each hundred is on disk whole, or not at all."""
        done: list[PlannedArtifact] = []
        for some in _batched(items, AT_ONCE):
            done += self._documents.tables.transact(partial(self._plan, tenant=tenant, items=some, manifest=manifest))
        return done

    def take_in(self, tenant: str, lines: Iterable[ManifestLine], *, manifest: str, actor: str) -> Imported:
        """Plan what a manifest lists. A bad line is on record, and the rest goes on."""
        told = Imported(manifest)
        seen: set[str] = set()
        for some in _batched(lines, AT_ONCE):
            bad = [line for line in some if line.item is None]
            new = [item for line in some if (item := line.item) is not None and not _is_in(seen, item.key)]
            told.counts.update(refused=len(bad), repeated=len(some) - len(bad) - len(new))
            self._record(tenant, bad[: MOST_TOLD - len(told.refused)], manifest, actor)
            told.refused += bad[: MOST_TOLD - len(told.refused)]
            for planned in self.plan(tenant, new, manifest=manifest):
                told.counts["planned" if planned.created else "known"] += 1
                told.planned += [planned] if planned.created else []
        return told

    def _plan(self, writing: Writing, tenant: str, items: Sequence[Item], manifest: str) -> list[PlannedArtifact]:
        once = {item.key: item for item in items}
        writing.each(
            "artifacts.plan",
            [_row(once[key]) for key in sorted(once)],
            tenant=tenant,
            manifest=manifest,
            canon_version=CANON_VERSION,
        )
        task = self._documents.fetch_task
        calls = [task.using(tenant=tenant, job_key=item.key).call(item.key) for item in items]
        made = writing.enqueue(*calls)
        return [
            PlannedArtifact(item.key, one.id, one.created, item.shown_url)
            for item, one in zip(items, made, strict=True)
        ]

    def _record(self, tenant: str, bad: Sequence[ManifestLine], manifest: str, actor: str) -> None:
        events = [
            Event(REFUSED, tenant, actor=actor, data={"manifest": manifest, "line": line.number, "why": line.why})
            for line in bad
        ]
        if events:
            self._documents.tables.transact(lambda writing: writing.record(*events))


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
    known = key in seen
    seen.add(key)
    return known


def _batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    rest = iter(items)
    while some := list(islice(rest, size)):
        yield some
