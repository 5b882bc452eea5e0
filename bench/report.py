"""From figures to the page: machine, method, verdicts, figures, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.figures import JOBS_PER_SECOND, Series, as_json, by_key
from bench.plan import Plan
from bench.scenarios import Scenario
from bench.targets import Verdict, verdicts

METHOD = """\
- Every contender is measured in this one run, in turn: A B C, A B C, and so on. The figure is the median of the rounds;
  beside it stand the slowest and the fastest. Ratios are ratios of medians.
- Durability is on everywhere. PostgreSQL: `fsync=on`, `synchronous_commit=on`, `full_page_writes=on`, otherwise stock
  but for `max_connections=200` and `jit=off`, over a Unix socket. SQLite: WAL with `synchronous=FULL`, for the peers
  too. Redis, where there is one: `appendonly yes`, `appendfsync always`, and jobs acknowledged after they ran.
- The job does nothing and has one argument, a JSON object of four fields. It is enqueued through the contender's own
  bulk call where it has one.
- A drain begins with the first claim, as Penstock and the raw loops write it down; peers do not all keep that moment,
  so for them it begins a little later, with the first task body. It ends when the database shows no job whose
  completion is not recorded. Workers have been started, have imported everything and wait for the word; the jobs are
  there already; PostgreSQL has just made a checkpoint.
- Each contender gets the best of a few settings, found by one short drain with each (a quick run takes the first).
  Slow peers get fewer jobs.
- The raw loop runs Penstock's own statements on its own tables with all their indexes: claim a batch, parse the
  arguments, settle the batch. On PostgreSQL claim and settle have threads and connections of their own.
- A bare insert is the row that Penstock wrote, through the same driver, ready as a tuple; the target is set against
  the faster way, a statement that commits itself.
- Large histories, backlogs and parked jobs are made by `insert ... select` from one real row, and then analysed.
- Pick-up is the time from the call of `enqueue` in one process to the first line of the task in another."""

ADVICE = """\
Run it on your own machine: figures of two machines, or of two hours on one, cannot be compared; ratios within one run
can."""


@dataclass(slots=True)
class Findings:
    """All that a run found."""

    plan: Plan
    day: str
    machine: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    series: list[Series] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    """Scenarios that ended early, and why."""

    def verdicts(self) -> list[Verdict]:
        """What came out for each target."""
        return verdicts(by_key(self.series))

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "day": self.day,
            "quick": self.plan.quick,
            "machine": self.machine,
            "versions": self.versions,
            "verdicts": [[v.what, v.figure, v.target, v.verdict] for v in self.verdicts()],
            "series": as_json(self.series),
            "failures": self.failures,
        }


def page(findings: Findings, scenarios: Sequence[Scenario]) -> str:
    """The whole page."""
    kind = "a quick run, which decides nothing" if findings.plan.quick else "a full run"
    parts = [
        "# Benchmarks",
        f"Written by `make bench` on {findings.day}, {kind}. {ADVICE}",
        "## Targets",
        _table(("what", "measured", "target", "verdict"), [_cells(verdict) for verdict in findings.verdicts()]),
        "## Figures",
        *(part for scenario in scenarios for part in _figures(findings, scenario)),
        "## Machine and versions",
        _table(("what", "value"), {**findings.machine, **findings.versions}.items()),
        "## Method",
        METHOD,
    ]
    if missing := _missing(findings):
        parts += ["## Not measured", "\n".join(f"- {line}" for line in missing)]
    return "\n\n".join(parts) + "\n"


def _cells(verdict: Verdict) -> tuple[str, ...]:
    shown = f"**{verdict.verdict}**" if verdict.verdict == "not met" else verdict.verdict
    return (verdict.what, verdict.figure, verdict.target, shown)


def _figures(findings: Findings, scenario: Scenario) -> list[str]:
    found = [one for one in findings.series if one.scenario == scenario.name and one.runs]
    if not found:
        return []
    head = ("", found[0].unit, "slowest to fastest", "runs", "jobs or samples", "setting")
    return [f"### {scenario.title}: {_DATABASES[scenario.database]}", _table(head, [_row(one) for one in found])]


_DATABASES = {"postgres": "PostgreSQL", "sqlite": "SQLite"}


def _row(one: Series) -> tuple[str, ...]:
    low, high = sorted((min(one.runs), max(one.runs)), reverse=one.unit != JOBS_PER_SECOND)
    setting = ", ".join(f"{name}={value}" for name, value in one.setting.items())
    spread = f"{_number(low)} to {_number(high)}" if len(one.runs) > 1 else ""
    return (one.name, _number(one.median), spread, str(len(one.runs)), f"{one.jobs:,}" if one.jobs else "", setting)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"  # noqa: PLR2004 - three figures are enough


def _missing(findings: Findings) -> list[str]:
    lines = [f"{name}: {reason}" for name, reason in findings.failures.items()]
    return lines + [f"{one.scenario}, {one.name}: {one.failure}" for one in findings.series if one.failure]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]] | Iterable[tuple[str, str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
