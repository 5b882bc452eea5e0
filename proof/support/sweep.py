"""The kill sweep: bring a worker to a point, let it die there, and let a fresh one make it good."""

from __future__ import annotations

import signal

from proof.support import worker
from proof.support.checker import Evidence, Verdict, check
from proof.support.facts import Facts
from proof.support.points import Point, lead_to
from proof.support.site import START, Site
from proof.support.workload import SCHEDULE, Workload

PAST_THE_LEASE_SECONDS = 121
FIRST_SLOT = START + 5 * 60 * 1_000_000


def kill_at(site: Site, work: Workload, point: Point, *, elsewhere: bool = True) -> None:
    """Let a worker die at a point. One of another host is only missed when its lease runs out."""
    lead_to(point, site, work)
    words = {worker.HOST_VARIABLE: "elsewhere"} if elsewhere else {}
    if point.work == "slot":
        words[worker.SCHEDULE_VARIABLE] = "1"
    if point.work == "lost":
        assert site.run(worker.MODULE, "die", "run: at its beginning", **words) == -signal.SIGKILL
        site.clock.advance(PAST_THE_LEASE_SECONDS)
    code = site.run(worker.MODULE, "die", point.at, str(point.nth), **words)
    assert code == -signal.SIGKILL, f"the worker never came to this point: it ended with {code}"


def make_good(site: Site, work: Workload, *, seconds: float = PAST_THE_LEASE_SECONDS) -> tuple[Facts, Verdict]:
    """Let a fresh worker finish everything; returns what is there in the end, and what to think of it."""
    site.clock.advance(seconds)
    assert site.run(worker.MODULE, "drain") == 0, "the fresh worker could not finish the work"
    facts = Facts.read(work.app.store)
    slots = {SCHEDULE: {FIRST_SLOT}} if facts.slots else None
    return facts, check(Evidence(facts, work.diary.read(), work.outside.read(), slots))
