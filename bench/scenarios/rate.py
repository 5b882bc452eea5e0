"""A rate that a fleet shares: how much of it is used, and whether the server ever saw more than it admits."""

from __future__ import annotations

from bench.contenders import Contender
from bench.figures import Series
from bench.harvest import RATE
from bench.lane import Bench, lane
from bench.pages import pages, requests_of
from bench.processes import BenchError
from bench.reading import AT_ONCE

PROCESSES = 8
USED = "used of the rate"
CROWD = "most requests in any window, beyond the rate times its length"
BURST = RATE
"""The bound of the token bucket: in no window may there be more than this beyond the rate times its length."""
START = 2 * BURST
"""Left out: the burst that is there at the start, while eight processes import what a request needs."""


def rate(bench: Bench, database: str) -> list[Series]:
    """Eight processes, 50 at a time each, as the server's log of its requests shows them."""
    scenario, count = f"rate {database}", bench.plan.paced
    figures: dict[str, list[float]] = {USED: [], CROWD: []}
    with pages() as site:
        fleet = Contender(
            "Haulwright, paced", "bench.harvest", database, ({"concurrency": AT_ONCE},), workers=PROCESSES,
            filling={"site": site, "task": "paced"},
        )  # fmt: skip
        with lane(bench, fleet) as one:
            for _ in range(bench.plan.rounds):
                one.prepare(count)
                requests_of(site)
                with one.working(one.setting) as workers:
                    one.wait(count, workers)
                came = requests_of(site)
                if len(came) != count:
                    raise BenchError(f"the server saw {len(came)} requests of {count}")
                came = came[START:]
                figures[USED].append((len(came) - 1) / (came[-1] - came[0]) / RATE)
                figures[CROWD].append(_crowd(came))
                bench.say(f"  {scenario}: " + ", ".join(f"{name}: {taken[-1]:.3f}" for name, taken in figures.items()))
    return [Series(scenario, name, "", tuple(taken), jobs=count) for name, taken in figures.items()]


def _crowd(came: list[float]) -> float:
    """Looked for in one pass over their moments."""
    most, least = 0.0, float("inf")
    for place, moment in enumerate(came):
        ahead = place - moment * RATE
        least = min(least, ahead)
        most = max(most, ahead + 1 - least)
    return most
