"""What changed between two snapshots of a brand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Key = tuple[str, str, int]
"""Section, subject, and the number of the statement among those about it."""
Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """One statement that is new, gone, or says something else now."""

    section: str
    subject: str
    old: str | None
    """None where nothing was said before."""
    new: str | None
    """None where nothing is said any more."""

    @property
    def kind(self) -> str:
        """`added`, `removed` or `changed`."""
        return "added" if self.old is None else "removed" if self.new is None else "changed"


@dataclass(frozen=True, slots=True)
class Diff:
    """What changed."""

    statements: tuple[Change, ...]
    evidence_added: tuple[str, ...]
    """The ids of items that only the new one rests on."""
    evidence_removed: tuple[str, ...]
    ran: dict[str, tuple[Any, Any]]
    """Compiler, model or prompt, before and after, where they differ."""

    @property
    def empty(self) -> bool:
        """Whether both say the same from the same evidence by the same means."""
        return not (self.statements or self.evidence_added or self.evidence_removed or self.ran)

    def document(self) -> dict[str, Any]:
        """The changes as JSON."""
        return {
            "empty": self.empty,
            "statements": [
                {
                    "kind": change.kind,
                    "section": change.section,
                    "subject": change.subject,
                    "old": change.old,
                    "new": change.new,
                }
                for change in self.statements
            ],
            "evidence": {"added": list(self.evidence_added), "removed": list(self.evidence_removed)},
            "ran": {name: {"old": old, "new": new} for name, (old, new) in self.ran.items()},
        }


def diff(old: Document, new: Document) -> Diff:
    """Compare two snapshots, statement by statement and item by item."""
    before, after = dict(_statements(old)), dict(_statements(new))
    keys = [*after, *(key for key in before if key not in after)]
    changes = (Change(key[0], key[1], before.get(key), after.get(key)) for key in keys)
    had, has = set(old["evidence"]), set(new["evidence"])
    means = {name: (old["ran"][name], new["ran"][name]) for name in ("compiler", "model", "prompt_version")}
    return Diff(
        tuple(change for change in changes if change.old != change.new),
        tuple(sorted(has - had)),
        tuple(sorted(had - has)),
        {name: pair for name, pair in means.items() if pair[0] != pair[1]},
    )


def _statements(snapshot: Document) -> Iterator[tuple[Key, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    for section, statements in snapshot["sections"].items():
        for statement in statements:
            about = (section, statement["subject"])
            counts[about] += 1
            yield (*about, counts[about]), statement["text"]
