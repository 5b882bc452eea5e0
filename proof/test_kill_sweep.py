"""Kill sweep: a real worker is killed with -9 at every named point; then a fresh one has to make it good."""

from __future__ import annotations

import pytest

from proof.support.joins import JOIN_POINTS, JOINED_JOBS, JoinPoint, Side, die_around
from proof.support.points import POINTS, Point, expected_jobs
from proof.support.site import START, Site
from proof.support.sweep import kill_at, make_good
from proof.support.workload import Workload

pytestmark = pytest.mark.crash


@pytest.mark.proves("CLM-13", "CLM-14", "GU-02", "RC-02")
@pytest.mark.parametrize("point", POINTS, ids=str)
def test_a_worker_killed_at_any_point_loses_nothing_and_repeats_no_effect(
    site: Site, work: Workload, point: Point, report: list[str]
):
    if point.only and point.only != site.database:
        pytest.skip(f"one statement on this database, so there is no {point.at!r}")

    kill_at(site, work, point)
    facts, verdict = make_good(site, work)

    losses = sum(job.losses for job in facts.jobs)
    report.append(f"{site.database:10}  {point!s:58}  {len(facts.jobs)} done, {losses} leases lost, {verdict.summary}")
    assert verdict.wrong == []
    assert [job.state for job in facts.jobs] == ["succeeded"] * expected_jobs(point)
    assert sorted(str(entry.job) for entry in work.outside.read()) == sorted(owner for owner, _, _ in facts.sink)


@pytest.mark.proves("CLM-13", "GU-02")
@pytest.mark.parametrize("victim", ["parent", "child"], ids="the {} dies".format)
@pytest.mark.parametrize("point", JOIN_POINTS, ids=str)
def test_a_join_outlives_the_death_of_either_side_at_any_point(
    site: Site, work: Workload, point: JoinPoint, victim: Side, report: list[str]
):
    die_around(site, work, point, victim)
    facts, verdict = make_good(site, work)

    losses = sum(job.losses for job in facts.jobs)
    report.append(f"{site.database:10}  {point!s:46}  the {victim:6} dies: {losses} leases lost, {verdict.summary}")
    assert verdict.wrong == []
    assert [job.state for job in facts.jobs] == ["succeeded"] * JOINED_JOBS
    assert len(facts.sink) == 1


@pytest.mark.proves("SR-01")
@pytest.mark.parametrize("at", ["after the commit of jobs.claim", "run: at its beginning", "before jobs.settle"])
def test_the_next_worker_of_the_host_takes_over_at_once(site: Site, work: Workload, at, report: list[str]):
    """The death of a process of this host can be seen, so nobody waits for its lease."""
    kill_at(site, work, Point("recovery", at), elsewhere=False)
    _, verdict = make_good(site, work, seconds=0)

    report.append(f"{site.database:10}  {at:35}  finished before the lease ran out, {verdict.summary}")
    assert verdict.wrong == []
    assert site.clock.now() == START, "the fresh worker had to wait for the lease"
