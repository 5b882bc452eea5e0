"""One computed fact, and the items that it rests on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from haulwright.apps.brands.evidence.item import EvidenceItem


@dataclass(frozen=True, slots=True)
class Feature:
    """One computed fact about a brand's items."""

    group: str
    """What was measured, such as `cadence`."""
    subject: str
    """Of what: a kind of item, a word, a tag, a host."""
    value: Mapping[str, Any]
    evidence: tuple[str, ...]
    """The ids of the items that it rests on."""

    def document(self) -> dict[str, Any]:
        """The fact as JSON."""
        return {"subject": self.subject, "value": dict(self.value), "evidence": list(self.evidence)}


def by_kind(items: Iterable[EvidenceItem]) -> dict[str, list[EvidenceItem]]:
    """The items of each kind, kinds in the order of their names."""
    kinds: dict[str, list[EvidenceItem]] = defaultdict(list)
    for item in items:
        kinds[item.kind].append(item)
    return dict(sorted(kinds.items()))


def ids(items: Iterable[EvidenceItem]) -> tuple[str, ...]:
    """The ids of items, in their order."""
    return tuple(item.id for item in items)


def most_frequent(
    group: str, items_by_name: Mapping[str, Sequence[EvidenceItem]], *, of: int, most: int, least: int = 1
) -> list[Feature]:
    """What occurs in most items first, ties by name; what occurs in fewer than `least` items is left out."""
    ranked = sorted(items_by_name, key=lambda name: (-len(items_by_name[name]), name))
    often = [name for name in ranked if len(items_by_name[name]) >= least][:most]
    return [Feature(group, name, share(len(items_by_name[name]), of), ids(items_by_name[name])) for name in often]


def share(part: int, of: int) -> dict[str, Any]:
    """How many items, and which part of all."""
    return {"items": part, "share": round(part / of, 3)}
