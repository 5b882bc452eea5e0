"""The proofs at small size: the same processes, the same kills, the same checker, fewer of everything."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from functools import partial
from math import ceil
from pathlib import Path

import pytest

from haulwright.engine.ids import new_id
from haulwright.stores.claim_cursor import ClaimCursor
from proof.support.afterlife import VERBS
from proof.support.bulk import fill
from proof.support.checker import Evidence, check
from proof.support.company import Company
from proof.support.crashing import writing_entries
from proof.support.crowd import is_past_slot, race, schedulers, wait_until
from proof.support.facts import Facts
from proof.support.frozen_group import OF_EACH, freeze_in_queue
from proof.support.joins import JOINED_JOBS, JoinPoint, Side, die_around
from proof.support.points import Point, expected_jobs, swept_entries
from proof.support.site import SCHEDULE_VARIABLE, START, TRACE_VARIABLE, WORKER, Site
from proof.support.sweep import kill_at, make_good
from proof.support.workload import Workload
from proof.support.zombie import haunt, lay_to_rest

POINTS = (
    Point("claim", "after the commit of jobs.claim"),
    Point("effect", "effect: in the function, after it acted"),
    Point("commit", "before the commit of effects.settle", nth=2),
    Point("commits together", "commit: in the function, after its rows", work="meeting", nth=2),
    Point("commits together", "after the commit of effects.record_commits", work="meeting"),
    Point("slot", "after jobs.enqueue", work="slot"),
    Point("join", "after the commit of joins.wait_for", work="joining"),
    Point("end of a joined job", "before joins.wake_parents", work="joining"),
    Point("park", "before the commit of sources.park", work="governed"),
    Point("leave", "after the commit of sources.leave", work="governed"),
)
JOIN_POINTS = (
    JoinPoint("parent", "before the commit of joins.wait_for"),
    JoinPoint("child", "before joins.ended"),
)
FIVE_MINUTES = 300_000_000
HOUR = 3_600_000_000


@pytest.fixture(params=["sqlite", pytest.param("durable_postgres", marks=pytest.mark.postgres)])
def site(request, tmp_path: Path):
    """A fresh site on a durable database, where time stands still."""
    with closing(Site.prepare(request.getfixturevalue(f"{request.param}_url"), tmp_path)) as site:
        yield site


@pytest.fixture
def work(site: Site):
    with closing(Workload(site)) as work:
        work.prepare()
        yield work


@pytest.mark.proves("CLM-01", "CLM-14", "GU-03")
def test_processes_at_once_execute_each_job_exactly_once(database_url: str, tmp_path: Path):
    with closing(Site.prepare(database_url, tmp_path, clock=False)) as site, closing(Workload(site)) as work:
        ids = work.enqueue(work.note, range(90))
        race(site, 3)
        diary, facts = work.diary.read(), Facts.read(work.app.store)

    assert check(Evidence(facts, diary)).wrong == []
    assert Counter(entry.job for entry in diary if entry.event == "run.end") == dict.fromkeys(ids, 1)


@pytest.mark.crash
@pytest.mark.proves("CLM-12", "GU-04")
def test_a_stopped_worker_that_goes_on_changes_nothing(site: Site, work: Workload):
    work.enqueue(work.lingering, range(1))

    haunting = haunt(site, work)
    lay_to_rest(site, haunting)

    assert haunting.after == haunting.before
    assert haunting.tried == {(door, verb): False for door, verbs in VERBS.items() for verb in verbs}
    assert haunting.refused > 0


@pytest.mark.crash
@pytest.mark.proves("CLM-12", "GU-04", "GU-02")
def test_a_worker_that_stood_still_with_commits_in_its_queue_writes_those_that_are_still_its_own(
    site: Site, work: Workload
):
    freeze_in_queue(site, work)

    company, facts = Company.read(work.diary.read()), Facts.read(work.app.store)
    assert (company.largest, company.left_out) == (OF_EACH, OF_EACH)
    assert sorted((job, fence) for _, job, fence in facts.sink) == sorted((job.id, job.fence) for job in facts.jobs)


@pytest.mark.crash
@pytest.mark.proves("CLM-13", "CLM-14", "GU-02", "RC-02")
@pytest.mark.parametrize("point", POINTS, ids=str)
def test_a_killed_worker_loses_nothing_and_repeats_no_effect(site: Site, work: Workload, point):
    kill_at(site, work, point)
    facts, verdict = make_good(site, work)

    assert verdict.wrong == []
    assert [job.state for job in facts.jobs] == ["succeeded"] * expected_jobs(point)


@pytest.mark.crash
@pytest.mark.proves("CLM-13", "GU-02")
@pytest.mark.parametrize("victim", ["parent", "child"], ids="the {} dies".format)
@pytest.mark.parametrize("point", JOIN_POINTS, ids=str)
def test_a_join_outlives_the_death_of_either_side(site: Site, work: Workload, point: JoinPoint, victim: Side):
    die_around(site, work, point, victim)
    facts, verdict = make_good(site, work)

    assert verdict.wrong == []
    assert [job.state for job in facts.jobs] == ["succeeded"] * JOINED_JOBS


def test_every_statement_by_which_a_worker_changes_something_has_its_kill_points(sqlite_url: str, tmp_path: Path):
    """A new statement that nobody swept is noticed here."""
    with closing(Site.prepare(sqlite_url, tmp_path)) as site, closing(Workload(site)) as work:
        work.prepare()
        work.keep_schedule()
        work.app.declare_schedules()
        tasks = (work.pipeline, work.settling, work.failing, work.snoozing, work.joining, work.governed, work.governed)
        for task in tasks:
            work.enqueue(task, range(1))
        work.app.store.leases.claim(new_id(), ["default"], 1)  # by a worker that nobody hears of again
        site.clock.advance(300)
        assert site.run(WORKER, "drain", **{TRACE_VARIABLE: "1", SCHEDULE_VARIABLE: "1"}) == 0
        reached = {entry.more["point"].removeprefix("before ") for entry in work.diary.of("reached")}

    assert "jobs.put_back" in reached
    assert (reached & writing_entries()) - swept_entries() == set()


@pytest.mark.proves("SL-05", "SL-06", "GU-01")
def test_schedulers_at_once_open_each_slot_once(database_url: str, tmp_path: Path):
    due = [START + number * FIVE_MINUTES for number in range(1, 25)]
    with closing(Site.prepare(database_url, tmp_path)) as site, closing(Workload(site)) as work:
        work.app.schedule("all", "*/5 * * * *", work.note, args={"number": 1}, overlap="allow")
        work.app.declare_schedules()
        with schedulers(site, 3):
            for moment in due:
                site.clock.set(moment)
                wait_until(partial(is_past_slot, work.app.store, moment))
        facts = Facts.read(work.app.store)

    assert check(Evidence(facts, due_slots={"all": set(due)}, drained=False)).wrong == []
    assert [disposition for _, _, disposition, _ in facts.slots] == ["fired"] * 24


def test_every_tenant_is_served_within_one_round_whatever_is_parked(database_url: str, tmp_path: Path):
    site, tenants, batch = Site.prepare(database_url, tmp_path), 20, 3
    with closing(site.open_store()) as store:
        fill(store, 3_000, batch=1, tenant=f"'t' || (n % {tenants})", run_at=START)
        fill(store, 5_000, batch=2, tenant=f"'t' || (n % {tenants})", run_at=START + HOUR, rank=-100)
        turn, worker, served = ClaimCursor(), new_id(), set()

        for _ in range(ceil(tenants / batch)):
            served |= {lease.tenant for lease in store.leases.claim(worker, ["default"], batch, turn)}

    assert len(served) == tenants
