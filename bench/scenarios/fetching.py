"""Pages fetched from a local server, by bare loops of others and by our client, in turn."""

from __future__ import annotations

from contextlib import ExitStack
from statistics import median

from bench import environment
from bench.figures import PAGES_PER_SECOND, Series
from bench.lane import ADDRESS_VARIABLE, Bench
from bench.pages import pages
from bench.processes import BenchError, Child

AT_ONCE = 50
AIOHTTP = "bare aiohttp"
HTTPX2 = "bare httpx2"
CLIENT = "Haulwright, client alone"
SOURCE = "Haulwright, source without limits"
_WAYS: dict[str, tuple[str, str]] = {
    AIOHTTP: ("bench.peers.aiohttp_loop", "fetch"),
    HTTPX2: ("bench.httpx2_loop", "fetch"),
    CLIENT: ("bench.our_fetch", "fetch"),
    SOURCE: ("bench.our_fetch", "fetch_by_source"),
}


def fetch(bench: Bench, database: str) -> list[Series]:
    """The same pages by each way, round by round; a way that cannot be started says why."""
    scenario = f"fetch {database}"
    failures: dict[str, str] = {}
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in _WAYS}
    with ExitStack() as stack:
        address = stack.enter_context(pages())
        children = {name: _start(bench, database, name, stack, failures) for name in _WAYS}
        for _ in range(bench.plan.rounds):
            for name, child in children.items():
                if child is None:
                    continue
                rate, busy = child.call(_WAYS[name][1], address, bench.plan.pages, AT_ONCE)
                runs[name].append((rate, busy))
                bench.say(f"  {scenario}: {name}: {rate:,.0f} {PAGES_PER_SECOND}, {busy:,.0f} us of the processor each")
    return [_series(bench, scenario, name, runs[name], failures.get(name, "")) for name in _WAYS]


def _start(bench: Bench, database: str, name: str, stack: ExitStack, failures: dict[str, str]) -> Child | None:
    is_peer = name == AIOHTTP
    module, _ = _WAYS[name]
    if is_peer and not bench.peers:
        failures[name] = "the peers' environment is not there; a run without QUICK=1 makes it"
        return None
    try:
        own = {ADDRESS_VARIABLE: bench.site.address(database, f"fetch_{database}")}
        log = bench.logs / f"fetch-{module.rpartition('.')[2]}.log"
        child = Child(environment.python_of(peer=is_peer), "desk", module, own, log)
    except BenchError as error:
        failures[name] = str(error)
        return None
    stack.callback(child.stop)
    bench.versions.update(child.call("versions"))
    return child


def _series(bench: Bench, scenario: str, name: str, runs: list[tuple[float, float]], failure: str) -> Series:
    rates = tuple(rate for rate, _ in runs)
    setting = {"processor_us_a_page": round(median(busy for _, busy in runs))} if runs else {}
    return Series(scenario, name, PAGES_PER_SECOND, rates, setting, bench.plan.pages, failure)
