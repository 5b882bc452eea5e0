"""What a campaign of many seeds came to."""

from __future__ import annotations

from collections import Counter

from proof.simulation.campaign import Outcome

SOMETIMES = (
    "a process died",
    "a worker had to wait for the database",
    "a lease expired",
    "a dead process was recovered at once",
    "a stale write was refused",
    "a run was told that its lease is lost",
    "a lost reply was found to be a success",
    "an effect in doubt was adopted",
    "an effect in doubt had not happened",
    "an interrupted effect was left for a person",
    "a lost lease was the last",
    "a job waited past its deadline",
    "a job was released",
    "a job waited for a permit",
    "a job was cancelled, then cancelled",
    "a job was cancelled, then running",
    "a dead letter was requeued",
    "a duplicate got the existing job",
    "a slot fired",
    "a slot was opened by hand",
    "a race for a slot was lost",
)
"""Rare things that must have happened: a campaign in which no zombie ever woke proves nothing."""


class Tally:
    """Adds up the outcomes of seeds."""

    def __init__(self) -> None:
        self.seeds = 0
        self.calls = 0
        self.failed: list[int] = []
        self.faults: Counter[str] = Counter()
        self.seen: Counter[str] = Counter()

    def add(self, outcome: Outcome) -> None:
        """One more seed."""
        self.seeds += 1
        self.calls += len(outcome.history)
        self.faults += outcome.faults
        self.seen += outcome.seen
        if outcome.wrong:
            self.failed.append(outcome.options.seed)

    @property
    def never(self) -> list[str]:
        """What should have happened sometimes, and did not."""
        return [what for what in SOMETIMES if not self.seen[what]]

    def report(self, seconds: float) -> str:
        """For people."""
        faults = sum(self.faults.values())
        pace = f"{self.seeds / seconds:.0f} seeds/s, {faults / seconds:.0f} faults/s"
        lines = [
            f"{self.seeds} seeds, {self.calls} calls of the store, {faults} faults in {seconds:.0f} s ({pace})",
            f"{len(self.failed)} seeds failed; faults:",
            *(f"  {count:8} x {fault}" for fault, count in self.faults.most_common()),
            "sometimes:",
            *(f"  {self.seen[what]:8} x {what}" for what in SOMETIMES),
        ]
        return "\n".join(lines)
