"""What a campaign of many seeds came to: how many histories reached each state worth reaching."""

from __future__ import annotations

from collections import Counter

from proof.simulation.campaign import Outcome

STATES = (
    "a process died",
    "a call broke off",
    "a worker had to wait for the database",
    "somebody went between two transactions of a call",
    "a lease expired",
    "a dead process was recovered at once",
    "a stale write was refused",
    "a run was told that its lease is lost",
    "a long commit renewed its own lease",
    "commits rode together",
    "a commit was left out of its group",
    "a group was taken back",
    "a worker got a job again that it still ran",
    "a worker saw that the database was put back",
    "a lease that its worker did not know of was given back",
    "a lost reply was found to be a success",
    "a client was not told whether its job is there",
    "an effect in doubt was adopted",
    "an effect in doubt had not happened",
    "an interrupted effect was left for a person",
    "a job ended dead (attempts_exhausted)",
    "a job ended dead (lease_exhausted)",
    "a job ended dead (deadline)",
    "a job ended dead (permanent)",
    "a job ended dead (effect_unknown)",
    "a job ended skipped",
    "a job was released",
    "a job was cancelled, then cancelled",
    "a job was cancelled, then running",
    "a dead letter was requeued",
    "a waiting job was made due by hand",
    "a paused queue was resumed",
    "a duplicate got the existing job",
    "a duplicate with other arguments was refused",
    "a job waited for concurrency",
    "a job waited for the permits of a source",
    "a job waited for the rate of a source",
    "a job waited for the breaker of a source",
    "a job waited for the paused of a source",
    "a job waited for the parked of a source",
    "a breaker went from closed to open",
    "a breaker went from open to half_open",
    "a breaker went from half_open to closed",
    "a breaker went from half_open to open",
    "a run went to wait for other jobs",
    "a job was woken by the last that it waited for",
    "a slot was fired",
    "a slot was coalesced",
    "a slot was missed",
    "a slot was skipped_overlap",
    "a slot was skipped_paused",
    "a slot was manual",
    "a slot was backfilled",
    "a race for a slot was lost",
    "something was pruned",
    "a task of another version was left to others",
    "a schedule of another version was left alone",
)
"""Every campaign must reach each of them: one in which no zombie ever woke proves nothing."""
RARE_STATES = (
    "a closed source was opened by hand",
    "a person resolved an unknown effect",
    "nobody knew what became of a group",
)
"""What a long campaign must reach, and a short one may not."""


class Tally:
    """Adds up the outcomes of seeds."""

    def __init__(self) -> None:
        self.seeds = 0
        self.calls = 0
        self.failed: list[int] = []
        self.faults: Counter[str] = Counter()
        self.seen: Counter[str] = Counter()
        """How many histories reached each state."""

    def add(self, outcome: Outcome) -> None:
        """One more seed."""
        self.seeds += 1
        self.calls += len(outcome.history)
        self.faults += outcome.faults
        self.seen += Counter(outcome.seen.keys())
        if outcome.wrong:
            self.failed.append(outcome.options.seed)

    def merge(self, other: Tally) -> None:
        """What another shard came to."""
        self.seeds += other.seeds
        self.calls += other.calls
        self.failed += other.failed
        self.faults += other.faults
        self.seen += other.seen

    def never(self, states: tuple[str, ...] = STATES) -> list[str]:
        """What should have been reached, and was not."""
        return [state for state in states if not self.seen[state]]

    def report(self, seconds: float) -> str:
        """For people."""
        faults = sum(self.faults.values())
        pace = f"{self.seeds / seconds:.0f} histories/s, {faults / seconds:.0f} faults/s"
        lines = [
            f"{self.seeds} histories, {self.calls} calls of the store, {faults} faults in {seconds:.0f} s ({pace})",
            f"{len(self.failed)} failed; faults:",
            *(f"  {count:8} x {fault}" for fault, count in self.faults.most_common()),
            "histories that reached:",
            *(f"  {self.seen[state]:8} x {state}" for state in (*STATES, *RARE_STATES)),
        ]
        return "\n".join(lines)
