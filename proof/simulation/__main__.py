"""Run one seed and print what happened, or many and print how they went."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from proof.simulation.campaign import run_seed
from proof.simulation.guards import HISTORIES, find_guard, simulated_guards
from proof.simulation.page import keep_finding, read_findings, write_page
from proof.simulation.shards import run_shard


def main() -> int:
    """The exit code says whether everything held."""
    parser = argparse.ArgumentParser(prog="python -m proof.simulation", description=__doc__)
    parser.add_argument("seed", type=int, nargs="?", help="run this seed, and print all that happened")
    parser.add_argument("--count", type=int, help="run so many seeds, from 0 on, and print how they went")
    parser.add_argument("--shard", default="1/1", metavar="K/N", help="only every N-th seed, beginning with the K-th")
    parser.add_argument("--state", type=Path, metavar="FILE", help="keep the progress here, and go on from it")
    parser.add_argument("--until-failure", type=int, metavar="COUNT", help="run so many seeds, up to the first failure")
    parser.add_argument("--guards", nargs="*", metavar="WORD", help="remove each guard, or those with these words")
    parser.add_argument("--new", action="store_true", help="with --guards: only those of which nothing is known yet")
    parser.add_argument("--page", nargs="*", type=Path, metavar="FILE", help="write the page, from shards' files")
    options = parser.parse_args()
    if options.page is not None:
        write_page(options.page)
        return 0
    if options.guards is not None:
        return _guards(options.guards, options.count or HISTORIES, only_new=options.new)
    if options.until_failure is not None:
        return _until_failure(options.until_failure)
    if options.count is not None:
        progress = run_shard(options.shard, options.count, options.state)
        print(progress.tally().report(progress.seconds))
        return 1 if progress.failed else 0
    if options.seed is None:
        parser.error("name a seed, --count, --until-failure, --guards or --page")
    return _replay(options.seed)


def _replay(seed: int) -> int:
    outcome = run_seed(seed)
    print(*outcome.history, sep="\n")
    print(outcome.options)
    print("faults:", dict(outcome.faults), "seen:", dict(outcome.seen), sep="\n  ")
    print(outcome.verdict)
    print(*(outcome.wrong or ["nothing wrong"]), sep="\n")
    return 1 if outcome.wrong else 0


def _until_failure(count: int) -> int:
    for seed in range(count):
        try:
            wrong = run_seed(seed).wrong
        except Exception as error:  # noqa: BLE001 - whatever breaks is noticed
            wrong = [f"{type(error).__name__}: {error}"]
        if wrong:
            print(f"noticed after {seed + 1} histories: {wrong[0][:300]}")
            return 1
    print(f"nothing wrong in {count} histories")
    return 0


def _guards(words: list[str], count: int, *, only_new: bool) -> int:
    known = {finding.guard for finding in read_findings() if finding.histories} if only_new else set()
    trials = [trial for trial in simulated_guards(words) if trial.guard not in known]
    missed = 0
    for trial in trials:
        found = find_guard(trial, count)
        keep_finding(found)
        missed += found.histories is None
        print(f"{found.histories or 'NOT NOTICED':>11}  {found.guard}: {found.noticed_by}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
