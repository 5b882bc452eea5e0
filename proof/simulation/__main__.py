"""Run one seed and print what happened, or many and print how they went."""

from __future__ import annotations

import argparse
import sys
import time

from proof.simulation.campaign import Outcome, run_seed
from proof.simulation.tally import Tally


def main() -> int:
    """The exit code says whether everything held."""
    parser = argparse.ArgumentParser(prog="python -m proof.simulation", description=__doc__)
    parser.add_argument("first", type=int, metavar="SEED")
    parser.add_argument("last", type=int, nargs="?", help="run all seeds up to this one, which is left out")
    said = parser.parse_args()
    if said.last is None:
        return _replay(said.first)
    return _many(said.first, said.last)


def _replay(seed: int) -> int:
    outcome = run_seed(seed)
    print(*outcome.history, sep="\n")
    print(outcome.options)
    print("faults:", dict(outcome.faults), "seen:", dict(outcome.seen), sep="\n  ")
    print(outcome.verdict)
    print(*(outcome.wrong or ["nothing wrong"]), sep="\n")
    return 1 if outcome.wrong else 0


def _many(first: int, last: int) -> int:
    tally, began = Tally(), time.monotonic()
    for seed in range(first, last):
        outcome = run_seed(seed)
        tally.add(outcome)
        if outcome.wrong:
            print(failure(outcome))
    print(tally.report(time.monotonic() - began))
    return 1 if tally.failed else 0


def failure(outcome: Outcome) -> str:
    """What is needed to run a failed seed again."""
    head = f"seed {outcome.options.seed} failed: python -m proof.simulation {outcome.options.seed}"
    return "\n".join([head, f"  {outcome.options}", *(f"  {what}" for what in outcome.wrong[:8])])


if __name__ == "__main__":
    sys.exit(main())
