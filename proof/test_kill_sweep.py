"""Kill sweep: a real worker is killed with -9 at every named point; then a fresh one has to make it good."""

from __future__ import annotations

import signal

import pytest

from proof.support.checker import Evidence, check
from proof.support.facts import Facts
from proof.support.points import POINTS, Point, expected_jobs, lead_to
from proof.support.site import START
from proof.support.worker import HOST_VARIABLE, MODULE, SCHEDULE_VARIABLE
from proof.support.workload import SCHEDULE

LEASE_SECONDS = 121
FIRST_SLOT = START + 5 * 60 * 1_000_000
pytestmark = pytest.mark.crash


def kill_at(site, work, point, *, elsewhere=True):
    """Bring a worker to a point and let it die there. One of another host is only missed when its lease runs out."""
    lead_to(point, site, work)
    words = ({HOST_VARIABLE: "elsewhere"} if elsewhere else {}) | ({SCHEDULE_VARIABLE: "1"} if point.work == "slot" else {})
    if point.work == "lost":
        assert site.run(MODULE, "die", "run: at its beginning", **words) == -signal.SIGKILL
        site.clock.advance(LEASE_SECONDS)
    assert site.run(MODULE, "die", point.at, str(point.nth), **words) == -signal.SIGKILL


def drain(site, work, *, seconds):
    """Let a fresh worker finish everything; returns what is there in the end."""
    site.clock.advance(seconds)
    assert site.run(MODULE, "drain") == 0, "the fresh worker could not finish the work"
    return Facts.read(work.app.store)


def judge(work, facts):
    """What became of everything, with the slot that was due if there is a schedule."""
    slots = {SCHEDULE: {FIRST_SLOT}} if facts.slots else None
    return check(Evidence(facts, work.diary.read(), work.outside.read(), slots))


@pytest.mark.proves("CLM-13", "EF-01", "RC-02")
@pytest.mark.parametrize("point", POINTS, ids=str)
def test_a_worker_killed_at_any_point_loses_nothing_and_repeats_no_effect(site, work, point: Point, report):
    if point.only and not site.url.startswith(point.only):
        pytest.skip(f"one statement on this database, so there is no {point.at!r}")

    kill_at(site, work, point)
    facts = drain(site, work, seconds=LEASE_SECONDS)

    verdict = judge(work, facts)
    losses = sum(job.losses for job in facts.jobs)
    report.append(f"{site.database:10}  {point!s:58}  {len(facts.jobs)} done, {losses} leases lost, {verdict.summary}")
    assert verdict.wrong == []
    assert [job.state for job in facts.jobs] == ["succeeded"] * expected_jobs(point)
    assert sorted(str(entry.job) for entry in work.outside.read()) == sorted(key for key, _, _ in facts.sink)


@pytest.mark.proves("RC-02", "RC-03")
@pytest.mark.parametrize("at", ["after the commit of jobs.claim", "run: at its beginning", "before jobs.settle"])
def test_the_next_worker_of_the_host_takes_over_at_once(site, work, at, report):
    """The death of a process of this host can be seen, so nobody waits for its lease."""
    point = Point("recovery", at)

    kill_at(site, work, point, elsewhere=False)
    facts = drain(site, work, seconds=0)

    assert judge(work, facts).wrong == []
    assert site.clock.now() == START, "the fresh worker had to wait for the lease"
    report.append(f"{site.database:10}  {at:35}  finished before the lease ran out")
