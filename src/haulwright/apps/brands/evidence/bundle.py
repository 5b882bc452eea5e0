"""The evidence bundle: which items a compile rests on, chosen the same way whatever order they come in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain, islice, zip_longest
from typing import Any, Final

from haulwright.apps.brands.evidence.item import EvidenceItem
from haulwright.engine.keys import digest
from haulwright.engine.payload import canonical
from haulwright.errors import InvalidValue

REACH: Final = frozenset({"views", "plays", "impressions", "reach", "followers", "subscribers"})
"""Who saw it. Everything else that is counted is somebody who reacted."""


@dataclass(frozen=True, slots=True)
class BundleCaps:
    """How many items a bundle takes at most."""

    per_kind: int = 40
    """Of one platform and content type."""
    of_kind: Mapping[str, int] = field(default_factory=dict)
    """In place of that, for a `platform.content_type`."""
    in_all: int = 200

    def __post_init__(self) -> None:
        caps: dict[str, object] = {"per_kind": self.per_kind, "in_all": self.in_all, **self.of_kind}
        for name, cap in caps.items():
            if isinstance(cap, bool) or not isinstance(cap, int) or cap < 0:
                raise InvalidValue(f"bundle cap {name}", cap, "must be a whole number from 0")

    def for_kind(self, kind: str) -> int:
        """The cap of a kind."""
        return self.of_kind.get(kind, self.per_kind)


@dataclass(frozen=True, slots=True)
class Chosen:
    """One item of a bundle and why it is there."""

    item: EvidenceItem
    order: str
    """`newest` or `most reactions`."""
    place: int
    """Its place in that order among its kind, from 1."""

    @property
    def why(self) -> str:
        """The reason in words."""
        return f"{self.order}, place {self.place} of {self.item.kind}"


@dataclass(frozen=True, slots=True)
class Bundle:
    """The items that a compile rests on."""

    chosen: tuple[Chosen, ...]
    criteria: dict[str, Any]
    """The caps, and for each kind how many items there were and how many were taken."""
    digest: str
    """The same for the same items with the same content under the same caps."""

    @property
    def items(self) -> tuple[EvidenceItem, ...]:
        """The items, the best of each kind first."""
        return tuple(each.item for each in self.chosen)

    def document(self) -> dict[str, Any]:
        """What is kept of it beside the items themselves."""
        return {
            "digest": self.digest,
            "criteria": self.criteria,
            "chosen": [{"id": each.item.id, "why": each.why} for each in self.chosen],
        }


def bundle(items: Iterable[EvidenceItem], caps: BundleCaps | None = None) -> Bundle:
    """Choose items within the caps: of each kind in turn the newest and the one with most reactions, ties by id."""
    caps = caps or BundleCaps()
    kinds: dict[str, list[EvidenceItem]] = defaultdict(list)
    for item in items:
        kinds[item.kind].append(item)
    lines = [_line(kinds[kind], caps.for_kind(kind)) for kind in sorted(kinds)]
    in_turn = (each for each in chain.from_iterable(zip_longest(*lines)) if each is not None)
    chosen = tuple(islice(in_turn, caps.in_all))
    criteria = _criteria(kinds, chosen, caps)
    content = [_fingerprint(each.item) for each in sorted(chosen, key=lambda each: each.item.id)]
    return Bundle(chosen, criteria, digest(canonical([content, criteria["caps"]], root="bundle")))


def reactions(item: EvidenceItem) -> int:
    """How many people did something about an item."""
    return sum(count for name, count in item.metrics.items() if name not in REACH)


def _fingerprint(item: EvidenceItem) -> str:
    """What an item says, whichever run it was last seen in."""
    content = asdict(item)
    del content["run_id"]
    return digest(canonical(content, root=f"item {item.id}"))


def _line(items: Sequence[EvidenceItem], cap: int) -> list[Chosen]:
    """The items of one kind up to its cap, taken in turn from the two orders."""
    newest = sorted(items, key=lambda item: (-(item.published_at or 0), item.id))
    liked = sorted(items, key=lambda item: (-reactions(item), item.id))
    picks: dict[str, Chosen] = {}
    for place, (new, moving) in enumerate(zip(newest, liked, strict=True), 1):
        for order, item in (("newest", new), ("most reactions", moving)):
            if len(picks) < cap:
                picks.setdefault(item.id, Chosen(item, order, place))
    return list(picks.values())


def _criteria(
    kinds: Mapping[str, Sequence[EvidenceItem]], chosen: Sequence[Chosen], caps: BundleCaps
) -> dict[str, Any]:
    picked_kinds = [each.item.kind for each in chosen]
    return {
        "orders": ["newest", "most reactions"],
        "caps": {"per_kind": caps.per_kind, "of_kind": dict(caps.of_kind), "in_all": caps.in_all},
        "kinds": {
            kind: {"found": len(kinds[kind]), "taken": picked_kinds.count(kind), "cap": caps.for_kind(kind)}
            for kind in sorted(kinds)
        },
    }
