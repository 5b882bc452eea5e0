"""What is measured. Each scenario is a function of the bench and a database, with a budget of time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench.figures import Series
from bench.lane import Bench
from bench.scenarios import (
    api,
    brands,
    clustering,
    documents,
    drains,
    enqueueing,
    fetching,
    flat,
    harvest,
    ingest,
    lists,
    pages,
    rate,
    retention,
    sources,
    standing,
    startup,
    watchers,
    year,
)

Run = Callable[[Bench, str], list[Series]]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One thing that is measured on one database."""

    noun: str
    run: Run
    database: str
    title: str
    budget_seconds: float

    @property
    def name(self) -> str:
        """What `ONLY` looks at."""
        return f"{self.noun} {self.database}"


_BOTH = ("postgres", "sqlite")
_WRITTEN: tuple[tuple[str, Run, tuple[str, ...], str, float], ...] = (
    ("drain", drains.drain, _BOTH, "Draining a backlog of no-op jobs", 1200),
    ("tenants", drains.tenants, _BOTH, "Draining the jobs of many tenants", 180),
    ("parked", drains.parked, _BOTH, "Draining beside parked jobs of the best priority", 240),
    ("enqueue", enqueueing.single, _BOTH, "Enqueueing one job at a time", 180),
    ("bulk", enqueueing.bulk, _BOTH, "Enqueueing many jobs at once", 180),
    ("loaded", enqueueing.loaded, _BOTH, "Enqueueing while two workers drain a backlog", 300),
    ("http", api.enqueue, _BOTH, "Enqueueing over HTTP, by many at once", 300),
    ("httploaded", api.loaded, _BOTH, "Enqueueing over HTTP while two workers drain a backlog", 300),
    ("lists", lists.lists, _BOTH, "Lists of the API beside a long history", 900),
    ("pages", pages.pages, _BOTH, "Pages of the dashboard beside a long history", 900),
    ("watchers", watchers.watchers, _BOTH, "Draining while many watch jobs over HTTP", 900),
    ("pickup", standing.pickup, _BOTH, "From enqueue to the first line of the task, on an idle system", 180),
    ("idle", standing.idle, _BOTH, "What an idle worker costs", 90),
    ("memory", standing.memory, _BOTH, "Memory of a worker during a long drain", 420),
    ("history", flat.history, _BOTH, "Draining with a large history", 600),
    ("backlog", flat.backlog, _BOTH, "Draining from a large backlog", 300),
    ("retention", retention.retention, _BOTH, "Draining while retention removes as much as it can", 300),
    ("year", year.year, ("postgres",), "Letting go of a year of jobs and events", 1800),
    ("snapshot", flat.snapshot, ("postgres",), "Draining while another client's snapshot stays open", 300),
    ("gate", sources.gate, _BOTH, "Passing and leaving the gate of a source", 120),
    ("fetch", fetching.fetch, _BOTH, "Fetching pages from a local server, 50 at once", 300),
    ("harvest", harvest.harvest, _BOTH, "Harvesting pages: fetched, read, committed as rows", 300),
    ("rate", rate.rate, _BOTH, "Eight processes before a source of 200 a second", 300),
    ("feeds", sources.feeds, ("none",), "Reading feeds", 120),
    ("documents", documents.small, _BOTH, "Many documents of 100 KB, politeness off", 420),
    ("largedocument", documents.large, _BOTH, "One large document", 300),
    ("ingest", ingest.ingest, _BOTH, "Feeds of the brief to committed articles", 300),
    ("clustering", clustering.placing, ("none",), "Placing an article among few and among many", 600),
    ("kickoff", brands.kickoff, _BOTH, "Asking for a compile of a brand while two workers drain a backlog", 300),
    ("startup", startup.startup, ("none",), "Starting: the library and the shortest command", 60),
    ("normalization", brands.normalization, _BOTH, "Raw items of brands to rows", 180),
)
ALL = tuple(
    Scenario(noun, run, database, title, seconds)
    for noun, run, databases, title, seconds in _WRITTEN
    for database in databases
)


def chosen(only: str) -> tuple[Scenario, ...]:
    """The scenarios whose names contain all words of one of the choices; all of them where nothing is given.

    `drain` is the drains of both databases, `drain sqlite, idle` is one of them and the idle workers.
    """
    choices = [choice.split() for choice in only.lower().split(",")]
    return tuple(one for one in ALL if any(all(word in one.name for word in words) for words in choices))
