"""What a reconciler found: where the database and the folders did not agree, and what was done about it."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any, Final

MOST_FINDINGS: Final = 1_000
"""So many are told one by one; all are counted."""

KINDS: Final[dict[str, str]] = {
    "stale_lease": "the lease of a job ran out and was not taken back",
    "abandoned_effect": "an effect was begun, and no job will finish it",
    "orphan_part": "a part that no job goes on with",
    "orphan_staged": "a whole file in the staging that no job will file",
    "file_without_row": "a file in the store that nothing is known of",
    "row_without_file": "a file on record that is not in its place",
    "damaged_file": "a file that is not what its name says",
    "without_job": "a document that no job stands for",
    "without_outcome": "a job that succeeded, and nothing came of it",
    "not_on_record": "a document that came, of which there is no file on record",
    "not_indexed": "a file that documents point to and no search finds",
    "stranger": "something among the files that is none of them; it is left alone",
}
"""Every kind of finding, and what it means."""


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """One place where things do not agree."""

    kind: str
    tenant: str
    what: str
    """A job, a key, or a path."""
    done: str = ""
    """What was done about it; nothing in a dry run."""


@dataclass(slots=True)
class ReconcileReport:
    """Everything that one reconciler found."""

    dry_run: bool
    counts: Counter[str] = field(default_factory=Counter)
    findings: list[Discrepancy] = field(default_factory=list)
    files: int = 0
    """How many files were looked at."""

    @property
    def agrees(self) -> bool:
        """Whether nothing was found."""
        return not self.counts

    def add(self, finding: Discrepancy) -> None:
        """Count a finding, and tell it while there is room."""
        self.counts[finding.kind] += 1
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append(finding)

    def summary(self) -> dict[str, Any]:
        """How much was found of each kind, and of whom nothing."""
        return {"files": self.files, "counts": dict(sorted(self.counts.items()))}

    def document(self) -> dict[str, Any]:
        """The report as programs read it."""
        return {
            "dry_run": self.dry_run,
            **self.summary(),
            "findings": [asdict(finding) for finding in self.findings],
        }
