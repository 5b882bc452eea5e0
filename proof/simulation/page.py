"""Writes docs/reference/simulation.md: what is simulated and judged, how far it has come, and what guards cost."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from proof.simulation.campaign import run_seed
from proof.simulation.ending import END_CHECKS
from proof.simulation.guards import ELSEWHERE, Finding
from proof.simulation.judge import CHECKS
from proof.simulation.shards import Progress
from proof.simulation.tally import RARE_STATES, STATES, Tally
from proof.support.site import ROOT

PAGE = ROOT / "docs" / "reference" / "simulation.md"
CAMPAIGN = ROOT / "proof" / "simulation" / "campaign.json"
"""What the histories that were run for the page came to."""
FINDINGS = ROOT / "proof" / "simulation" / "guards.json"
"""After how many histories each missing guard was noticed."""
AIM = 1_000_000
INTRODUCTION = """# The simulation

The real store on real SQLite, in one thread, by a virtual clock. Clients, workers, a reaper, schedulers, retention
and an administrator stop before every call of the store; a seed decides who goes on, what goes wrong there, and how
time passes. So a seed is a history that can be run again. Between two transactions of one call others may go first.
After every call a judge compares the tables with what they were; at the end the faults stop, all is made good, and
the whole is weighed.

```console
python -m proof.simulation 7                                         # one seed, step by step
python -m proof.simulation --count 2000                              # many
python -m proof.simulation --count 100000 --shard 1/2 --state FILE   # a half; stopped, it goes on
python -m proof.simulation --guards [WORD ...]                       # how soon each missing guard is noticed
python -m proof.simulation --page FILE ...                           # write this page from the shards' files
make proof ONLY=simulation                                           # SIMULATION_HISTORIES, SIMULATION_STATE
```

**What goes wrong**, each in a part of the histories: the process dies before a call, inside a transaction or after
its commit; the reply to a commit is lost, and the database may stay away for the rest of the call; the file is
busy; a process or a single run stands still past its lease and goes on; the clock jumps forward, or is set back;
the database is put back to a backup of itself, so that fences are given out again.

**What takes part**: effects with and without a way to look them up, commits, alone and several in one transaction,
stages, joins, retries, snoozes, skips, dead letters and requeues, cancels, unique keys of every scope, planned keys,
concurrency keys, priorities, two tenants, deadlines, paused queues, two sources with rate, permits, breaker and a
server that goes down, a schedule with every disposition, retention, and two versions at once: a worker that lacks
tasks, a scheduler that declares otherwise, a row with newer fields.

**Why it is fast, and what that costs.** One call is made at a time, and a process that dies loses its open
transaction and nothing else; so all processes share one connection to a database in memory, whose statements stay
prepared. What a disk and several connections add is not simulated but killed for real (`make proof ONLY=kill`). A
test runs seeds on a write-ahead log with a connection for each process, and gets the same histories.

A seed that ever failed is kept in `proof/simulation/failed.py` and run by the tests, as are the first 300 seeds."""
NOT_HERE = {
    "I14": "In zones with changing clocks: the schedule's own tests compare with an evaluator of their own.",
    "I19": "The bound over many tenants and claims: `make proof ONLY=fairness`.",
    "I21": "Roles are decided above the store: `tests/operations`.",
    "I25": "Power and disks: `make proof ONLY=kill`, `ONLY=faults`, `ONLY=clusters`.",
}
"""What cannot be judged here, or not all of it, and where else it is shown."""


def write_page(paths: Iterable[Path]) -> None:
    """Write the page, from the progress of shards where some is given, else from what was kept of the last ones."""
    progress = [Progress.load(path) for path in paths]
    if progress:
        tally, seconds = Tally(), sum(shard.seconds for shard in progress)
        for shard in progress:
            tally.merge(shard.tally())
        kept = Progress(1, 1, tally.seeds, tally.calls, round(seconds), sorted(tally.failed))
        kept.faults, kept.seen = dict(tally.faults), dict(tally.seen)
        kept.write(CAMPAIGN)
    PAGE.write_text(page(), "utf-8")


def keep_finding(found: Finding) -> None:
    """Keep what was found out about a guard, in place of what was known of it."""
    known = {finding.guard: finding for finding in read_findings()} | {found.guard: found}
    rows = [asdict(known[guard]) for guard in sorted(known)]
    FINDINGS.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


def read_findings() -> list[Finding]:
    """What is known about guards."""
    return [Finding(**row) for row in json.loads(FINDINGS.read_text("utf-8"))] if FINDINGS.exists() else []


def page() -> str:
    """The page as it follows from the code, the campaign and the guards."""
    return "\n".join([INTRODUCTION, "", *_invariants(), "", *_campaign(), "", *_guards(), ""])


def _invariants() -> list[str]:
    checks = [(check.invariant, check.name, check.promise, "after every call") for check in CHECKS]
    checks.append(("I18", "parents_are_woken", "Who waits for jobs that have all ended is due.", "after every call"))
    checks += [(invariant, name, promise, "at the end") for name, (invariant, promise) in END_CHECKS.items()]
    lines = ["## What is judged", "", "| invariant | check | what it holds | when |", "|---|---|---|---|"]
    lines += [
        f"| {invariant} | `{name}` | {promise} | {when} |"
        for invariant, name, promise, when in sorted(checks, key=lambda row: (int(row[0][1:]), row[3], row[1]))
    ]
    lines += ["", "Not judged here, or not all of it:", ""]
    return lines + [f"- **{invariant}** {why}" for invariant, why in NOT_HERE.items()]


def _failures(kept: Progress) -> str:
    """How many failed when they were run, and whether each of those goes well by now."""
    if not kept.failed:
        return "0 of them failed."
    left = [seed for seed in kept.failed if run_seed(seed).wrong]
    now = f"{', '.join(map(str, left))} still do" if left else "each goes well since what it found was mended"
    return f"{len(kept.failed)} of them failed then, and {now}."


def _campaign() -> list[str]:
    kept = Progress.load(CAMPAIGN)
    faults = ", ".join(f"{fault} {count:,}" for fault, count in Counter(kept.faults).most_common())
    count = f"**{kept.done:,} histories** so far, of {AIM:,} that are the aim"
    lines = [
        "## How far it has come",
        "",
        f"{count}: {kept.calls:,} calls of the store and {sum(kept.faults.values()):,} faults",
        f"({faults}). {_failures(kept)}",
        "",
        "| state | histories that reached it |",
        "|---|---|",
    ]
    lines += [f"| {state} | {_times(kept, state)} |" for state in (*STATES, *RARE_STATES)]
    return [*lines, "", "What is *not yet* there takes part since these were run."]


def _times(kept: Progress, state: str) -> str:
    """How many histories reached a state; it may not have been among those when they were run."""
    return f"{kept.seen[state]:,}" if state in kept.seen else "not yet"


def _guards() -> list[str]:
    lines = [
        "## What a missing guard costs",
        "",
        "Each guard of the books and rules that a history runs through was removed in a copy of the sources; this is",
        "the number of histories, from seed 0 on, until the judge missed it, and the check that did.",
        "`--guards --new` goes on with those that are not in the table.",
        "",
        "| guard removed | histories | noticed by |",
        "|---|---|---|",
    ]
    lines += [f"| {one.guard} | {one.histories or 'not noticed'} | {one.noticed_by} |" for one in read_findings()]
    lines += ["", "Guards of the same lists that no history can miss; each has its test in the suite:", ""]
    return lines + [f"- {guard}: {why}." for guard, why in sorted(ELSEWHERE.items())]
