"""`python -m bench`: measure, judge, and write the page. `QUICK=1` for minutes, `ONLY=word` for some scenarios."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from bench import environment, machine, scenarios
from bench.hits import Board
from bench.lane import Bench
from bench.plan import FULL, QUICK
from bench.processes import ROOT, BenchError, BudgetSpent, budget, end_all, ended_with_us
from bench.report import Findings, page
from bench.scenarios import Scenario
from bench.server import Site, site

RESULTS = ROOT / "bench" / "results"
LOGS = RESULTS / "logs"
BUSY_LOAD = 0.5
PAGE = ROOT / "docs" / "reference" / "bench.md"


def main() -> int:
    """Run the chosen scenarios; the exit code says whether all of them could be measured."""
    asked = _arguments()
    chosen = scenarios.chosen(asked.only)
    if not chosen:
        names = ", ".join(dict.fromkeys(one.noun for one in scenarios.ALL))
        print(f"No scenario has {asked.only!r} in its name. There are: {names}; each on postgres and sqlite.")
        return 2
    findings = Findings(QUICK if asked.quick else FULL, datetime.now(UTC).date().isoformat())
    if (load := os.getloadavg()[0]) > BUSY_LOAD:
        _say(f"This machine is busy (load {load:.1f}): the figures will say little about anything but that.")
    peers = _peers(findings)
    try:
        with ended_with_us(), site() as place:
            _measure(findings, chosen, place, peers=peers)
    except KeyboardInterrupt:
        print("Stopped. Nothing was left running, and nothing was written.")
        return 130
    whole = not asked.quick and chosen == scenarios.ALL
    _write(findings, PAGE if whole else RESULTS / "latest.md", chosen)
    return 1 if findings.failures else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", default=os.environ.get("QUICK", "") not in {"", "0"})
    parser.add_argument("--only", default=os.environ.get("ONLY", ""), help="drain, or: drain sqlite, idle")
    return parser.parse_args()


def _peers(findings: Findings) -> bool:
    """Whether there are peers to measure; a full run makes their environment, a quick one takes it if it is there."""
    if not findings.plan.quick:
        _say("Making the peers' environment, unless it is there ...")
        try:
            environment.make()
        except BenchError as error:
            findings.failures["peers"] = str(error)
    return environment.is_ready()


def _measure(findings: Findings, chosen: tuple[Scenario, ...], place: Site, *, peers: bool) -> None:
    shutil.rmtree(LOGS, ignore_errors=True)
    LOGS.mkdir(parents=True)
    bench = Bench(findings.plan, place, Board(place.folder / "hits"), LOGS, peers, _say)
    findings.machine = machine.facts(place.folder) | place.facts()
    for number, scenario in enumerate(chosen, 1):
        began = time.monotonic()
        _say(f"[{number}/{len(chosen)}] {scenario.title}: {scenario.database}")
        try:
            with budget(scenario.budget_seconds):
                found = scenario.run(bench, scenario.database)
        except (BenchError, BudgetSpent) as error:
            findings.failures[scenario.name] = str(error)
        except Exception as error:  # noqa: BLE001 - whatever it was, the other scenarios can still be measured
            findings.failures[scenario.name] = f"{type(error).__name__}: {error}"
        else:
            findings.series += found
        end_all()
        outcome = findings.failures.get(scenario.name, f"{time.monotonic() - began:.0f} s")
        _say(f"[{number}/{len(chosen)}] {outcome}")
    findings.versions = dict(sorted(bench.versions.items()))


def _write(findings: Findings, path: Path, chosen: tuple[Scenario, ...]) -> None:
    (RESULTS / "latest.json").write_text(json.dumps(findings.as_json(), indent=1) + "\n")
    path.write_text(page(findings, chosen))
    for verdict in findings.verdicts():
        if verdict.figure:
            print(f"{verdict.verdict:8} {verdict.what}: {verdict.figure} ({verdict.target})")
    for name, reason in findings.failures.items():
        print(f"failed   {name}: {reason}")
    counts = Counter(verdict.verdict for verdict in findings.verdicts())
    print(f"{', '.join(f'{count} {word}' for word, count in counts.items())}. Written: {path.relative_to(ROOT)}")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
