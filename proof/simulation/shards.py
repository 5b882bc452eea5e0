"""A long campaign in parts: each shard has every n-th seed, writes down how far it has come, and goes on from there."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self

from proof.simulation.campaign import Outcome, run_seed
from proof.simulation.tally import Tally

SAVED_EVERY = 100
_SHARD = re.compile(r"([1-9]\d{0,3})/([1-9]\d{0,3})")


@dataclass
class Progress:
    """How far a shard has come; kept in a file between two runs of it."""

    shard: int
    of: int
    done: int = 0
    calls: int = 0
    seconds: float = 0.0
    failed: list[int] = field(default_factory=list)
    faults: dict[str, int] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path | None, shard: str) -> Self:
        """The progress in a file, or that of a shard that begins."""
        match = _SHARD.fullmatch(shard)
        if match is None or int(match[1]) > int(match[2]):
            message = f"{shard!r} is no shard; write 1/2 for the first of two"
            raise SystemExit(message)
        begun = cls(int(match[1]), int(match[2]))
        if path is None or not path.exists():
            return begun
        kept = cls.load(path)
        if (kept.shard, kept.of) != (begun.shard, begun.of):
            message = f"{path} is the progress of shard {kept.shard}/{kept.of}, not of {shard}"
            raise SystemExit(message)
        return kept

    @classmethod
    def load(cls, path: Path) -> Self:
        """The progress in a file."""
        return cls(**json.loads(path.read_text("utf-8")))

    @property
    def next_seed(self) -> int:
        """The first seed that this shard has not run."""
        return self.done * self.of + self.shard - 1

    def add(self, tally: Tally, seconds: float) -> None:
        """Some more seeds were run."""
        self.done += tally.seeds
        self.calls += tally.calls
        self.seconds += seconds
        self.failed += tally.failed
        self.faults = dict(Counter(self.faults) + tally.faults)
        self.seen = dict(Counter(self.seen) + tally.seen)

    def write(self, path: Path | None) -> None:
        """Keep it, whole or not at all."""
        if path is not None:
            fresh = path.with_suffix(".new")
            fresh.write_text(json.dumps(asdict(self), indent=1, sort_keys=True) + "\n", "utf-8")
            fresh.replace(path)

    def tally(self) -> Tally:
        """The same as a tally."""
        tally = Tally()
        tally.seeds, tally.calls, tally.failed = self.done, self.calls, list(self.failed)
        tally.faults, tally.seen = Counter(self.faults), Counter(self.seen)
        return tally


def run_shard(shard: str, count: int, path: Path | None) -> Progress:
    """Run a shard until it has run so many seeds, and print each that fails."""
    progress = Progress.read(path, shard)
    while progress.done < count:
        tally, began = Tally(), time.monotonic()
        for _ in range(min(SAVED_EVERY, count - progress.done)):
            outcome = run_seed(progress.next_seed + tally.seeds * progress.of)
            tally.add(outcome)
            if outcome.wrong:
                print(failure(outcome), flush=True)
        progress.add(tally, time.monotonic() - began)
        progress.write(path)
    return progress


def failure(outcome: Outcome) -> str:
    """What is needed to run a failed seed again."""
    head = f"seed {outcome.options.seed} failed: python -m proof.simulation {outcome.options.seed}"
    return "\n".join([head, f"  {outcome.options}", *(f"  {what}" for what in outcome.wrong[:8])])
