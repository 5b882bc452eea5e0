"""The kill sweep: bring a worker to a point, let it die there, and let a fresh one make it good."""

from __future__ import annotations

import signal

from proof.support.checker import Evidence, Verdict, check
from proof.support.facts import Facts
from proof.support.points import FIRST_DEATHS, Point, lead_to
from proof.support.site import (
    CONCURRENCY_VARIABLE,
    HOST_VARIABLE,
    NTH_VARIABLE,
    POINT_VARIABLE,
    SCHEDULE_VARIABLE,
    START,
    WORKER,
    Site,
)
from proof.support.workload import SCHEDULE, Workload

PAST_THE_LEASE_SECONDS = 121
FIRST_SLOT = START + 5 * 60 * 1_000_000


def kill_at(site: Site, work: Workload, point: Point, *, elsewhere: bool = True) -> None:
    """Let a worker die at a point. One of another host is only missed when its lease runs out."""
    lead_to(point, site, work)
    words = {HOST_VARIABLE: "elsewhere"} if elsewhere else {}
    if point.work == "slot":
        words[SCHEDULE_VARIABLE] = "1"
    if point.work == "governed":
        words[CONCURRENCY_VARIABLE] = "2"  # so that one passes, one is refused, and one gets its turn without a claim
    if point.work == "meeting":
        words[CONCURRENCY_VARIABLE] = "3"
    if first := FIRST_DEATHS.get(point.work):
        _die(site, first, words | {HOST_VARIABLE: "far away"})  # so that the next one has to watch its lease
        site.clock.advance(PAST_THE_LEASE_SECONDS)
    _die(site, point.at, words | {NTH_VARIABLE: str(point.nth)})


def _die(site: Site, point: str, words: dict[str, str]) -> None:
    code = site.run(WORKER, "work", **words, **{POINT_VARIABLE: point})
    assert code == -signal.SIGKILL, f"the worker never came to this point: it ended with {code}"


def make_good(site: Site, work: Workload, *, seconds: float = PAST_THE_LEASE_SECONDS) -> tuple[Facts, Verdict]:
    """Let a fresh worker finish everything; returns what is there in the end, and what to think of it."""
    site.clock.advance(seconds)
    assert site.run(WORKER, "drain") == 0, "the fresh worker could not finish the work"
    facts = Facts.read(work.app.store)
    slots = {SCHEDULE: {FIRST_SLOT}} if facts.slots else None
    return facts, check(Evidence(facts, work.diary.read(), work.outside.read(), slots))
