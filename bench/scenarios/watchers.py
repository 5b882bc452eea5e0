"""A drain while many watch jobs over the API: what they cost it, and what they cost the server."""

from __future__ import annotations

from pathlib import Path

from bench import filling
from bench.contenders import haulwright
from bench.crowd import watching
from bench.figures import JOBS_PER_SECOND, MEBIBYTES, Series
from bench.lane import Bench, Lane, lane
from bench.payload import items
from bench.scenarios.api import served
from bench.workload import app, noop

REQUESTS_PER_SECOND = 200.0
STREAMS_OF_ONE = 50
"""One caller may have 100 open at once."""
ALONE = "Haulwright"
WATCHED = "Haulwright, watched"
MEMORY_FIRST = "server, when all streams are open"
MEMORY_END = "server, at the end"


def watchers(bench: Bench, database: str) -> list[Series]:
    """A drain without anybody, and one beside streams of events and requests."""
    scenario, jobs = f"watchers {database}", bench.plan.watched_jobs
    rates: dict[str, list[float]] = {ALONE: [], WATCHED: []}
    sizes: dict[str, list[float]] = {MEMORY_FIRST: [], MEMORY_END: []}
    with lane(bench, haulwright(database)) as one:
        for _ in range(bench.plan.rounds):
            rates[ALONE].append(_filled(one, jobs).drain(jobs))
            _filled(one, jobs)  # another file on SQLite, which the app has to open anew
            with app.moved_to(one.address):
                watched, tokens = _watched_jobs(bench.plan.watchers)
                with (
                    served(one.address) as server,
                    watching(server.address, tokens, watched, rate=REQUESTS_PER_SECOND) as crowd,
                ):
                    sizes[MEMORY_FIRST].append(_resident(server.pid))
                    rates[WATCHED].append(one.drain(jobs))
                    sizes[MEMORY_END].append(_resident(server.pid))
            bench.say(f"  {scenario}: {len(watched)} streams, {crowd.answered} requests answered")
    return [
        *(Series(scenario, name, JOBS_PER_SECOND, tuple(runs), jobs=jobs) for name, runs in rates.items()),
        *(Series(scenario, name, MEBIBYTES, tuple(runs), jobs=jobs) for name, runs in sizes.items()),
    ]


def _watched_jobs(count: int) -> tuple[list[str], list[str]]:
    """Jobs that stay as they are, and the tokens of those who watch them."""
    later = noop.using(tenant="bench", queue="later", delay="1 day")
    watched = [handle.id for handle in app.enqueue_many(later.call(item) for item in items(count))]
    programs = range(0, count, STREAMS_OF_ONE)
    tokens = [app.operations().tokens.create(f"watcher-{number}", tenant="bench").token for number in programs]
    return watched, tokens


def _filled(one: Lane, jobs: int) -> Lane:
    one.prepare(1)
    filling.backlog(one.address, jobs - 1)
    return one


def _resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024
