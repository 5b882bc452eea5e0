"""A database with a long history of many tenants, served to callers of each kind, and looks at it that are timed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from bench import filling, http_client
from bench.figures import MILLISECONDS, Series, percentile
from bench.lane import Bench
from bench.payload import item
from bench.scenarios.api import served
from bench.workload import app, noop, reset, work

TENANTS = 200
DEAD_EVERY = 50
"""One job in so many of the history is dead."""
SLOWEST_SHOWN = 5


@dataclass(frozen=True, slots=True)
class LongHistory:
    """A server beside so many finished jobs, and the tokens of those who look."""

    url: str
    jobs: int
    tenant: str
    newcomer: str
    """Of a tenant that has nothing yet."""
    admin: str

    def look(self, token: str, path: str, count: int) -> list[float]:
        """The milliseconds of so many looks, one after the other. Another answer than 200 is an error."""
        _, taken = http_client.send_all(self.url, [http_client.look(self.url, token, path)] * count, 1, status=200)
        return taken


@contextmanager
def long_history(bench: Bench, database: str, address: str) -> Iterator[LongHistory]:
    """The history of the plan, a fifth of it on SQLite, with a backlog and an event for each job."""
    count = bench.plan.history if database == "postgres" else bench.plan.history // 5
    with app.moved_to(address):
        fill(address, count, bench.plan.loaded_backlog)
        with looked_at(address, count) as there:
            yield there


def fill(address: str, count: int, backlog: int) -> None:
    """Make the tables anew, with so many finished jobs."""
    reset()
    noop.using(tenant="tenant-000").enqueue(item(0))
    work({"until_empty": True})
    noop.using(tenant="tenant-000").enqueue(item(1))
    filling.mixed_history(address, count, tenants=TENANTS, dead_every=DEAD_EVERY)
    filling.backlog(address, backlog)
    filling.events(address, count, tenants=TENANTS)


@contextmanager
def looked_at(address: str, count: int) -> Iterator[LongHistory]:
    """Serve a database that is filled."""
    tokens = app.operations().tokens
    tenant, newcomer = (tokens.create("bench", tenant=name).token for name in ("tenant-000", "new"))
    admin = tokens.create("bench", role="admin").token
    with served(address) as (url, _, _):
        yield LongHistory(url, count, tenant, newcomer, admin)


def slowest_first(bench: Bench, scenario: str, slowest: str, looks: Mapping[str, list[float]]) -> list[Series]:
    """The p95 of the slowest under a name of its own, which targets use, then the p50 and the p95 of each."""
    p95 = {name: percentile(taken, 95) for name, taken in looks.items()}
    ranked = sorted(p95, key=lambda name: -p95[name])
    bench.say(f"  {scenario}: the slowest is {ranked[0]}")
    for name in ranked[:SLOWEST_SHOWN]:
        bench.say(f"    {name}: p50 {percentile(looks[name], 50):,.1f}, p95 {p95[name]:,.1f} ms")
    each = [
        Series(scenario, f"{name}, p{percent}", MILLISECONDS, (percentile(taken, percent),), jobs=len(taken))
        for name, taken in looks.items()
        for percent in (50, 95)
    ]
    return [Series(scenario, slowest, MILLISECONDS, (p95[ranked[0]],), jobs=len(looks[ranked[0]])), *each]
