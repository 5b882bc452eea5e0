"""A contender at work: its database, the process that prepares and asks, and the drains of its workers.

The clock of a drain starts when the first job is claimed, as Haulwright and the raw loops write it down. Peers do not
all keep that moment, so for them it starts with the first task body, a little later. It stops when the database shows
no job whose completion is not recorded. Interpreters and imports come before it: workers are told to go when all of
them are ready and the jobs are there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import environment
from bench.contenders import Contender, Setting
from bench.hits import FILE_VARIABLE, SLOT_VARIABLE, Board
from bench.plan import Plan
from bench.processes import BenchError, Child
from bench.server import Site

ADDRESS_VARIABLE = "HAULWRIGHT_BENCH_DATABASE"
LONGEST_DRAIN_SECONDS = 600.0
_LOOK_SECONDS = 0.005


@dataclass(slots=True)
class Bench:
    """What every scenario needs."""

    plan: Plan
    site: Site
    board: Board
    logs: Path
    peers: bool
    """Whether the peers' environment is there."""
    say: Callable[[str], None]
    versions: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Setting] = field(default_factory=dict)
    """What was found to suit a contender best, so that it is looked for once."""


@dataclass(slots=True)
class Lane:
    """One contender during a scenario."""

    bench: Bench
    contender: Contender
    address: str
    desk: Child
    setting: Setting
    jobs: int

    def prepare(self, jobs: int) -> None:
        """Empty the database and fill it."""
        self.desk.call("reset")
        self.desk.call("fill", jobs, **self.contender.filling)

    def drain(self, jobs: int, setting: Setting | None = None) -> float:
        """Drain so many of the jobs that are there, and return how many that were a second."""
        since = time.time()
        with self.working(setting or self.setting) as workers:
            ended = self.wait(jobs, workers)
        return jobs / (ended - self.began(since))

    @contextmanager
    def working(self, setting: Setting) -> Iterator[list[Child]]:
        """Workers that were all told to go at once; gone afterwards."""
        self.bench.site.settle_down()
        self.bench.board.clear()
        with ExitStack() as stack:
            workers = []
            for slot in range(self.contender.workers):
                workers.append(self._worker(slot))
                stack.callback(workers[-1].stop)
            for worker in workers:
                worker.tell(setting=dict(setting))
            yield workers

    def wait(self, jobs: int, workers: list[Child]) -> float:
        """Wait until so many completions are recorded, and return when that was."""
        until = time.monotonic() + LONGEST_DRAIN_SECONDS
        while self.bench.board.count() < jobs or self.desk.call("unfinished"):
            gone = all(worker.ended for worker in workers)
            if time.monotonic() > until or (gone and self.bench.board.count() < jobs):
                why = f"its workers ended: {workers[0].last_words}" if gone else f"{LONGEST_DRAIN_SECONDS:g} s are over"
                raise BenchError(f"{self.bench.board.count()} of {jobs} jobs ran: {why}")
            time.sleep(_LOOK_SECONDS)
        return time.time()

    def began(self, since: float) -> float:
        """When the first job was claimed."""
        first = self.bench.board.first() if self.contender.peer else self.desk.call("began", since)
        if first is None:
            raise BenchError("nothing was claimed")
        return float(first)

    def _worker(self, slot: int) -> Child:
        environ = {**_environment(self.bench, self.address), SLOT_VARIABLE: str(slot)}
        return _child(self.bench, self.contender, "worker", environ)


@contextmanager
def lane(bench: Bench, contender: Contender) -> Iterator[Lane]:
    """A contender with its database, its desk, and the setting that suits it best."""
    if contender.peer and not bench.peers:
        raise BenchError("the peers' environment is not there; a run without QUICK=1 makes it")
    address = bench.site.address(contender.database, contender.place)
    desk = _child(bench, contender, "desk", _environment(bench, address))
    try:
        _note(bench.versions, desk.call("versions"))
        jobs = contender.quick_jobs if bench.plan.quick else contender.jobs
        made = Lane(bench, contender, address, desk, contender.settings[0], jobs)
        made.setting = _best_setting(made)
        yield made
    finally:
        desk.stop()


def _best_setting(made: Lane) -> Setting:
    """The fastest in a few short drains with each setting; in a quick run the one that is expected to be."""
    contender, known = made.contender, made.bench.settings
    if contender.kind not in known:
        rates = [0.0] * len(contender.settings)
        for _ in range(made.bench.plan.probes):
            for place, setting in enumerate(contender.settings):
                few = min(made.jobs, made.bench.plan.probe_jobs)
                made.prepare(few)
                rates[place] = max(rates[place], made.drain(few, setting))
        known[contender.kind] = contender.settings[rates.index(max(rates))]
    return known[contender.kind]


def _note(versions: dict[str, str], found: Mapping[str, str]) -> None:
    """A package may have one version in our environment and another in the peers'."""
    for name, version in found.items():
        known = versions.setdefault(name, version)
        if version not in known.split(", "):
            versions[name] = f"{known}, {version}"


def _environment(bench: Bench, address: str) -> dict[str, str]:
    return {ADDRESS_VARIABLE: address, FILE_VARIABLE: str(bench.board.path)}


def _child(bench: Bench, contender: Contender, role: str, environ: Mapping[str, Any]) -> Child:
    log = bench.logs / f"{contender.place}-{role}.log"
    return Child(environment.python_of(peer=contender.peer), role, contender.module, environ, log)
