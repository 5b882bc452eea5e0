"""What a seed decides before anything happens: which faults there are, how often, and how much work."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from random import Random


class Fault(StrEnum):
    """What may go wrong at a call of the store."""

    BUSY = "busy"
    """Somebody else holds the file; nothing happens, and the caller is told so."""
    DIE_INSIDE = "die inside"
    """The process dies between two statements of the transaction."""
    DIE_AFTER = "die after"
    """The transaction is on disk, and the process dies before it knows."""
    LOSE_REPLY = "lose reply"
    """The transaction is on disk, and the caller is told that nobody knows."""
    KILL = "kill"
    """The process dies before it even calls."""
    PAUSE = "pause"
    """The process stands still for a while, and goes on as if nothing had happened."""
    CLOCK_FORWARD = "clock forward"
    """Minutes pass at once."""
    CLOCK_BACK = "clock back"
    """The clock of the database is set back."""


@dataclass(frozen=True)
class Options:
    """A campaign of one seed."""

    seed: int
    steps: int
    """Calls of the store while things go wrong; afterwards all must be made good."""
    jobs: int
    workers: int
    batch: int
    lease_seconds: int
    rates: dict[Fault, float]
    """How often each fault happens, per call; a fault that is not here never does."""

    @classmethod
    def of(cls, seed: int) -> Options:
        """Draw the options of a seed. Each has a part of the faults, so that every fault is seen without the others."""
        rng = Random(seed)
        faults = [fault for fault in Fault if rng.random() < 0.6]
        return cls(
            seed=seed,
            steps=rng.randint(80, 160),
            jobs=rng.randint(3, 9),
            workers=rng.randint(2, 4),
            batch=rng.choice([1, 1, 2, 3]),
            lease_seconds=rng.choice([10, 30, 60]),
            rates={fault: rng.choice([0.01, 0.03, 0.08]) for fault in faults},
        )
