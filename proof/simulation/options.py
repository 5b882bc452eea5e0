"""What one seed draws: which things may go wrong, how often, what takes part, and how much work there is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random

from proof.simulation.failed import FAILED


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
    PUT_BACK = "put back"
    """The database is replaced by a backup of itself, while everybody goes on: fences are given out again."""


class Theme(StrEnum):
    """What may take part in a history. Each has a few of them: a short history with all has no room for any."""

    SOURCES = "sources"
    JOINS = "joins"
    SCHEDULES = "schedules"
    KEYS = "keys"
    PERMITS = "permits"
    PRUNING = "pruning"
    VERSIONS = "versions"
    """Two versions at once: workers that lack some tasks, schedulers that differ, rows with newer fields."""
    COMPANY = "company"
    """Commits of several runs share a transaction. It is the last, so that a seed draws all else as it always did."""


RARE = frozenset({Fault.PUT_BACK})


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
    themes: frozenset[Theme]

    @classmethod
    def of(cls, seed: int) -> Options:
        """Draw the options of a seed. Each has a part of the faults, so that every fault is seen without the others."""
        rng = Random(seed)
        faults = [fault for fault in Fault if rng.random() < (0.3 if fault in RARE else 0.6)]
        options = cls(
            seed=seed,
            steps=rng.randint(50, 100),
            jobs=rng.randint(3, 7),
            workers=rng.choice([1, 2, 2, 3]),  # one alone gets back what it lost, and still runs
            batch=rng.choice([1, 1, 2, 3]),
            lease_seconds=rng.choice([5, 10, 30]),
            rates={fault: _rate(rng, fault) for fault in faults},
            themes=frozenset(theme for theme in Theme if rng.random() < 0.4) - _added_since(seed),
        )
        return _with_company(options) if Theme.COMPANY in options.themes else options


def _added_since(seed: int) -> frozenset[Theme]:
    """What must not take part, for a seed that failed once is kept for the history that it was."""
    return frozenset({Theme.COMPANY}) if seed in FAILED else frozenset()


def _with_company(options: Options) -> Options:
    """More at once in the hands of fewer: commits share a transaction where a worker has several."""
    return replace(options, steps=options.steps + 40, jobs=options.jobs + 4, workers=min(options.workers, 2), batch=4)


def _rate(rng: Random, fault: Fault) -> float:
    return rng.choice([0.03, 0.06]) if fault in RARE else rng.choice([0.01, 0.03, 0.08])
