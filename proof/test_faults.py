"""Faults: what happens around the workers costs time and nothing else, and a bad job costs itself alone."""

from __future__ import annotations

import time

import pytest

from haulwright.runtime.threads import LOST_THREADS_EXIT
from proof.faults.crew import Crew
from proof.faults.drain import drain_under
from proof.faults.hazards import ENDLESS_ATTEMPTS, POISON_ATTEMPTS
from proof.faults.proxy import Proxy
from proof.faults.scenes import fill_the_disk, finish_after_the_stop, hang, poison, stop_in_the_middle
from proof.faults.server import frozen, linux, read_only, terminate_workers
from proof.support.site import Site
from proof.support.workload import Workload
from tests.support.postgres import Server

pytest_plugins = ("proof.faults.fixtures",)
pytestmark = pytest.mark.crash

JOBS = 8_000
DISK_JOBS = 4_000
GRACE_SECONDS = 2
FROZEN_SECONDS = 30
READ_ONLY_SECONDS = 60
CUT_EVERY = 7
"""Commits of groups leave few others: often enough that some of each kind are cut."""


def test_a_server_that_dies_three_times_costs_nothing_but_time(
    served_work: Workload, served_crew: Crew, server: Server, report: list[str]
):
    drained = drain_under(served_work, served_crew, lambda: server.restart("immediate"), jobs=JOBS, strikes=3)

    report.append(f"the server died 3 times; {drained}")
    assert drained.left.harm == []
    assert drained.troubles().keys() & {"claim", "settle"}


def test_connections_that_are_ended_again_and_again_cost_nothing_but_time(
    served_work: Workload, served_crew: Crew, server: Server, report: list[str]
):
    ended = []
    drained = drain_under(
        served_work, served_crew, lambda: ended.append(terminate_workers(server)), jobs=JOBS, strikes=50
    )

    report.append(f"{sum(ended)} connections ended in {len(ended)} blows; {drained}")
    assert drained.left.harm == []
    assert sum(ended) > len(ended)


def test_a_server_that_takes_no_writes_for_a_minute_costs_nothing_but_time(served_work, served_crew, server, report):
    def take_no_writes():
        with read_only(server):
            time.sleep(READ_ONLY_SECONDS)

    drained = drain_under(served_work, served_crew, take_no_writes, jobs=JOBS, strikes=1)

    report.append(f"read-only for {READ_ONLY_SECONDS} s, with leases of 1 s in hand; {drained}")
    assert drained.left.harm == []
    assert drained.troubles().keys() >= {"heartbeat", "settle"}
    assert drained.crew.told("lease taken back") == []


def test_a_commit_whose_answer_never_comes_is_looked_up_and_not_guessed(
    served_site: Site, served_work: Workload, report: list[str]
):
    with Proxy(served_site.url) as proxy, Crew(served_site, url=proxy.url) as crew:
        drained = drain_under(served_work, crew, lambda: proxy.strike(CUT_EVERY), jobs=JOBS, strikes=1)

    report.append(f"{len(proxy.blows)} commits cut, half of them done; {drained}")
    assert drained.left.harm == []
    assert len(proxy.blows) > 50
    assert drained.company.ends["unknown"] > 0, "no commit of a group was cut"
    assert drained.troubles().keys() & {"claim", "settle"}


@linux
def test_a_server_that_stands_still_past_the_leases_costs_nothing_but_time(
    served_work: Workload, served_crew: Crew, server: Server, report: list[str]
):
    def freeze():
        with frozen(server):
            time.sleep(FROZEN_SECONDS)

    drained = drain_under(served_work, served_crew, freeze, jobs=JOBS, strikes=1)

    report.append(f"still for {FROZEN_SECONDS} s, with leases of 1 s in hand; {drained}")
    assert drained.left.harm == []
    assert drained.crew.told("lease taken back") == []


@linux
def test_a_full_disk_costs_nothing_but_time(disk, disk_work: Workload, report: list[str]):
    with Crew(disk_work.site) as crew:
        drained = fill_the_disk(disk_work, crew, disk, jobs=DISK_JOBS)

    report.append(f"{disk.words}; {drained}")
    assert drained.left.harm == []
    assert {"claim", "settle"} & drained.troubles().keys()


def test_poison_costs_its_neighbours_nothing(timeless_work: Workload, report: list[str]):
    with Crew(timeless_work.site) as crew:
        poisoned = poison(timeless_work, crew, good=100)

    report.append(f"{timeless_work.site.database}: {poisoned}")
    assert poisoned.left.strays == []
    assert poisoned.left.verdict.wrong == []
    assert {(job.state, job.attempts) for job in poisoned.good} == {("succeeded", 1)}
    assert (poisoned.poison.state, poisoned.poison.attempts) == ("dead", POISON_ATTEMPTS)
    assert "signal 11 (SIGSEGV)" in poisoned.message
    assert poisoned.deaths == 1


def test_a_worker_that_is_told_to_stop_gives_everything_back_at_once(plain_work: Workload, report: list[str]):
    with Crew(plain_work.site, grace=f"{GRACE_SECONDS} s") as crew:
        stopped = stop_in_the_middle(plain_work, crew, jobs=2_000)
        left = finish_after_the_stop(plain_work, crew)

    report.append(f"{plain_work.site.database}: {stopped}; {left}")
    assert stopped.code == 0
    assert stopped.seconds < GRACE_SECONDS + 3
    assert stopped.running == []
    assert {job.attempts for job in stopped.waiting} == {0}
    assert (left.strays, left.verdict.wrong, left.unfinished, left.burnt) == ([], [], [], [])
    assert len(crew.told("worker stopped")) == 2


def test_runs_that_never_return_cost_nobody_else_anything(plain_work: Workload, report: list[str]):
    with Crew(plain_work.site, grace="1 s") as crew:
        hung = hang(plain_work, crew, endless=2, good=1_000)

    report.append(f"{plain_work.site.database}: {hung}")
    assert hung.left.strays == []
    assert hung.left.verdict.wrong == []
    assert {(job.state, job.attempts) for job in hung.good} == {("succeeded", 1)}
    assert {(job.state, job.attempts, job.losses) for job in hung.endless} == {("dead", ENDLESS_ATTEMPTS, 0)}
    assert hung.codes == [LOST_THREADS_EXIT] * ENDLESS_ATTEMPTS
    lost = {(line["job"], line["attempt"]) for line in crew.told("a run never returned")}
    assert len(lost) == 2 * ENDLESS_ATTEMPTS  # one that is lost while its worker drains is given back, and lost again
