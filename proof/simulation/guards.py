"""Removes the guards of the engine one by one, and counts the histories until the judge misses each.

The guards are those of tools/mutants/*.toml whose books or rules the simulation runs through. Each is removed in a copy
of the sources; a process that imports the copy runs seeds from 0 on until one of them fails.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from proof.support.site import ROOT
from tools.mutants import Trial, read_trials

GROUPS = ("simulation", "fences", "holders", "permits", "ledger", "commits", "keys", "schedules", "sources", "joins")
HISTORIES = 10_000
NOT_ACCEPTED = "only an end that was accepted under its lease gives anything back: the predicate is a second wall"
ROWS_ALONE = "simulated commits read and write rows, and nothing of their transaction"
ONLY_SLOWER = "without it a commit waits or is tried again, and is as right"
ELSEWHERE: dict[str, str] = {
    "a stale run does not give back its successor's permit": NOT_ACCEPTED,
    "a permit is freed by its holder": NOT_ACCEPTED,
    "a lease that ends gives back its own permit": NOT_ACCEPTED,
    "a lease that ends gives back its own probe": NOT_ACCEPTED,
    "what a claim got is adopted by its holder": "runs in processes of their own are not simulated",
    "names and keys fit into an entry of an index": "simulated names are short",
    "a run that waits is over, whatever its code does": "simulated tasks do not swallow what ends them",
    "a job that every run would enqueue again is not waited for": "simulated tasks enqueue what they join once",
    "a job of another tenant is not waited for": "simulated tasks join jobs of their own tenant",
    "how a job of another tenant ended is not told": "simulated tasks join jobs of their own tenant",
    "a result is given up only where it is the one that was looked at": "simulated results have no artefacts",
    "an effect that another job is at is left to it": "simulated effects have no keys that jobs share",
    "one key stands for one effect": "simulated effects have no keys that tasks give",
    "what was committed before is not in a group": "it is taken back when it is recorded, and goes alone",
    "the hold of several commits finds their jobs running": "a job that does not run has no holder",
    "a group whose key was taken meanwhile is taken back": "simulated commits have no keys that jobs share",
    "two commits of one job or key are not in one group": "of two runs of a job at most one is held",
    "a group has no commit that was refused something": ROWS_ALONE,
    "what is about a transaction is done alone": ROWS_ALONE,
    "a group ends where its transaction has ended": ROWS_ALONE,
    "a function that is not known goes alone": ONLY_SLOWER,
    "a function that broke a group goes alone": ONLY_SLOWER,
    "nobody goes on alone where the database is away": ONLY_SLOWER,
    "a run that was ended commits nothing with others": "simulated runs wait for their commits as threads do",
    "a function in a group sees the context variables of its run": "simulated functions read none",
    "one that says something of the server has nobody leave quietly": "simulated runs leave a source one by one",
}
"""Guards of those lists that no history can miss, and why; each has its test in the suite."""
_FOUND = re.compile(r"noticed after (\d+) histories: (.*)")


@dataclass(frozen=True)
class Finding:
    """What the simulation said to a missing guard."""

    guard: str
    group: str
    histories: int | None
    """How many it took; None where it was not noticed."""
    noticed_by: str
    """The check that said so first, or the words of whatever broke."""


def simulated_guards(words: list[str]) -> list[Trial]:
    """The guards that are to be missed: on SQLite or in the rules, once each."""
    trials = [trial for trial in read_trials() if trial.group in GROUPS and trial.dialect != "postgres"]
    once = {(trial.file, trial.entry, trial.was, trial.now): trial for trial in trials}
    asked = [trial for trial in once.values() if not words or any(word in trial.guard for word in words)]
    return [trial for trial in asked if trial.guard not in ELSEWHERE]


def find_guard(trial: Trial, histories: int = HISTORIES) -> Finding:
    """Remove a guard, and say after how many histories that was noticed."""
    with tempfile.TemporaryDirectory(prefix="haulwright-guard-") as folder:
        sources = Path(folder) / "src"
        shutil.copytree(ROOT / "src", sources, ignore=shutil.ignore_patterns("__pycache__"))
        trial.mutate(sources)
        done = subprocess.run(
            [sys.executable, "-m", "proof.simulation", "--until-failure", str(histories)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(sources), str(ROOT)])},
            capture_output=True,
            text=True,
            check=False,
        )
    found = _FOUND.search(done.stdout)
    if found is None:
        return Finding(trial.guard, trial.group, None, done.stderr.strip()[-300:])
    return Finding(trial.guard, trial.group, int(found[1]), re.split(r"[:\[(]", found[2])[0].strip())
