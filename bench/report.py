"""From figures to the page: machine, method, verdicts, figures, and what is missing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from textwrap import fill
from typing import Any

from bench.figures import Series, as_json, by_key
from bench.plan import Plan
from bench.scenarios import Scenario
from bench.targets import Verdict, verdicts

METHOD = """\
- Every contender is measured in this one run, in turn: A B C, A B C, and so on. The figure is the median of the rounds;
  beside it stand the lowest and the highest. Ratios are ratios of medians.
- Durability is on everywhere. PostgreSQL: `fsync=on`, `synchronous_commit=on`, `full_page_writes=on`, otherwise stock
  but for `max_connections=200` and `jit=off`, over a Unix socket. SQLite: WAL with `synchronous=FULL`, for the peers
  too. Redis, where there is one: `appendonly yes`, `appendfsync always`, and jobs acknowledged after they ran.
- The job does nothing and has one argument, a JSON object of four fields. It is enqueued through the contender's own
  bulk call where it has one.
- A drain begins with the first claim, as Haulwright and the raw loops write it down; peers do not all keep that moment,
  so for them it begins a little later, with the first task body. It ends when the database shows no job whose
  completion is not recorded. Workers have been started, have imported everything and wait for the word; the jobs are
  there already; PostgreSQL has just made a checkpoint, and its log has 40 files of 16 MB to take again
  (`min_wal_size=1GB`), as that of a server that has run for a day.
- Each contender gets the best of a few settings, found by two short drains with each (a quick run takes the first).
  Slow peers get fewer jobs.
- The raw loop runs Haulwright's own statements on its own tables with all their indexes: claim a batch, parse the
  arguments, settle the batch. On PostgreSQL claim and settle have threads and connections of their own.
- A bare insert is the row that Haulwright wrote, through the same driver, ready as a tuple; the target is set against
  the faster way, a statement that commits itself.
- Large histories, backlogs and parked jobs are made by `insert ... select` from one real row; on PostgreSQL they are
  then vacuumed and analysed, as its own upkeep would have done.
- Retention has four overdue rows for each job from the start, and each job is overdue when it has finished. Its rounds
  begin at once instead of ten minutes apart. Rows and jobs are counted over the same time. SQLite has one writer: a row
  that is removed takes from the drain what it costs.
- Pick-up is the time from the call of `enqueue` in one process to the first line of the task in another.
- A gate is passed and left as a request does it, one after the other, with a rate and permits that keep nobody waiting.
- A harvest is pages of 20 KB from a server on loopback, 50 at once, each read by the same parser (selectolax) in one
  process: ours from the first claim to the last end, each page a row of a table; Scrapy from the moment when all
  requests are in its job directory to the end of its crawl, each page a line of a file; the bare loops keep nothing.
- A rate: eight processes of 50 runs each before a source of 200 a second, judged by when the server saw requests. The
  first 400 are left out: the burst that is there after a quiet time, while the processes import what a request needs.
- Documents of 100 KB are fetched, hashed and on record, 50 at once; aria2c has as many, and keeps no record.
- Feeds are the same bytes for both: RSS 2.0, Atom and RSS 1.0 in turn, 40 entries each. feedparser is called as its own
  page says; Haulwright also looks for bombs, cleans the markup, reads the dates, makes keys and canonical addresses.
- Ingest: 500 feeds of 50 entries, all different, from a server on loopback to committed articles, by one worker with 50
  runs at once and politeness off, from the first claim to the last completion; then the same feeds again, each a 304.
- Clustering places made reports of about 150 words, whose words follow Zipf's law, one after the other; the window is
  ten times as large the second time. The time includes reading the text.
- Starting is a whole process, from the call to its end; that of Python alone stands beside it."""

ADVICE = """\
Run it on your own machine, with nothing else on it: figures of two machines, or of two hours on one, cannot be
compared; ratios within one run can."""
WIDTH = 120
_FOLDERS = re.compile(r"(?<![\w:/])/(?:[\w.+-]+/)+")
"""Where something was on the machine that measured: nobody's business."""


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
        fill(f"Written by `make bench` on {findings.day}, {kind}. {ADVICE}", WIDTH),
        "## Targets",
        _table(("what", "measured", "target", "verdict"), [_cells(verdict) for verdict in findings.verdicts()]),
        "## Figures",
        *(part for scenario in scenarios for part in _figures(findings, scenario)),
        "## Machine and versions",
        _table(("what", "value"), {**findings.machine, **findings.versions}.items()),
        "## Method",
        f"{METHOD}\n{_sizes(findings.plan)}",
    ]
    if missing := _missing(findings):
        parts += ["## Not measured", "\n".join(f"- {line}" for line in missing)]
    return "\n\n".join(parts) + "\n"


def _sizes(plan: Plan) -> str:
    return (
        f"- Sizes: {plan.tenants:,} tenants; {plan.parked:,} parked jobs; {plan.history:,} finished jobs; a backlog of "
        f"{plan.backlog:,};\n  {plan.snapshot_jobs:,} jobs beside an open snapshot, the first and the last "
        f"{plan.snapshot_part:,} compared; memory after the first\n  {plan.memory_first:,} jobs and after "
        f"{plan.memory_jobs:,}; {plan.loaded_backlog:,} jobs drained while enqueues are timed; an idle worker is\n"
        f"  watched for {plan.idle_seconds:g} s a round."
    )


def _cells(verdict: Verdict) -> tuple[str, ...]:
    shown = f"**{verdict.verdict}**" if verdict.verdict == "not met" else verdict.verdict
    return (verdict.what, verdict.figure, verdict.target, shown)


def _figures(findings: Findings, scenario: Scenario) -> list[str]:
    found = [one for one in findings.series if one.scenario == scenario.name and one.runs]
    if not found:
        return []
    head = ("", found[0].unit, "range", "runs", "jobs or samples", "setting")
    return [f"### {scenario.title}: {_DATABASES[scenario.database]}", _table(head, [_row(one) for one in found])]


_DATABASES = {"postgres": "PostgreSQL", "sqlite": "SQLite", "none": "no database"}


def _row(one: Series) -> tuple[str, ...]:
    setting = ", ".join(f"{name}={value}" for name, value in one.setting.items())
    spread = f"{_number(min(one.runs))} to {_number(max(one.runs))}" if len(one.runs) > 1 else ""
    return (one.name, _number(one.median), spread, str(len(one.runs)), f"{one.jobs:,}" if one.jobs else "", setting)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"  # noqa: PLR2004 - three figures are enough


def _missing(findings: Findings) -> list[str]:
    lines = [f"{name}: {reason}" for name, reason in findings.failures.items()]
    lines += [f"{one.scenario}, {one.name}: {one.failure}" for one in findings.series if one.failure]
    return [_FOLDERS.sub(".../", line) for line in lines]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]] | Iterable[tuple[str, str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
