"""The faults at small size: the same blows on the same processes, and fewer jobs."""

from __future__ import annotations

import logging
import time

import pytest

from haulwright.engine.job import DEFAULT_LEASE_SECONDS
from haulwright.runtime.threads import LOST_THREADS_EXIT
from proof.faults.crew import Crew, until
from proof.faults.drain import drain_under
from proof.faults.hazards import ENDLESS_ATTEMPTS, POISON_ATTEMPTS
from proof.faults.proxy import Proxy
from proof.faults.scenes import fill_the_disk, finish_after_the_stop, hang, poison, stop_in_the_middle
from proof.faults.server import frozen, linux, read_only, terminate_workers
from proof.support.site import Site
from proof.support.workload import Workload
from tests.support.postgres import Server

pytest_plugins = ("proof.faults.fixtures",)
pytestmark = [pytest.mark.crash, pytest.mark.xdist_group("faults")]  # one server for all of them

JOBS = 100
GRACE_SECONDS = 0.3
FROZEN_SECONDS = 2


@pytest.mark.postgres
def test_a_server_that_dies_costs_nothing_but_time(served_work: Workload, served_crew: Crew, server: Server):
    drained = drain_under(served_work, served_crew, lambda: server.restart("immediate"), jobs=JOBS, strikes=2)

    assert drained.left.harm == []
    assert drained.troubles()


@pytest.mark.postgres
def test_a_server_that_is_away_while_a_worker_starts_costs_nothing_but_time(
    served_work: Workload, server: Server, caplog
):
    class Fate(logging.Handler):
        """The server dies when the worker says that it starts, and comes back when the worker says that it is away."""

        def emit(self, record: logging.LogRecord) -> None:
            if record.getMessage() == "worker started":
                server.halt("immediate")
            elif record.getMessage() == "start: the database is in trouble" and told.count(record.getMessage()) == 0:
                server.launch()
            told.append(record.getMessage())

    told: list[str] = []
    fate = Fate()
    (job,) = served_work.enqueue(served_work.note, range(1))
    logging.getLogger("haulwright.worker").addHandler(fate)
    with caplog.at_level(logging.INFO, "haulwright.worker"):
        try:
            assert served_work.app.run_worker(until_empty=True) == 1
        finally:
            logging.getLogger("haulwright.worker").removeHandler(fate)

    assert served_work.app.operations().jobs.get(job).state == "succeeded"
    assert "start: the database is in trouble" in told


@pytest.mark.postgres
def test_connections_that_are_ended_cost_nothing_but_time(served_work: Workload, served_crew: Crew, server: Server):
    ended = []
    drained = drain_under(
        served_work, served_crew, lambda: ended.append(terminate_workers(server)), jobs=JOBS, strikes=10
    )

    assert drained.left.harm == []
    assert sum(ended) > 0


@pytest.mark.postgres
def test_a_commit_whose_answer_never_comes_is_looked_up_and_not_guessed(served_site: Site, served_work: Workload):
    with Proxy(served_site.url) as proxy, Crew(served_site, url=proxy.url) as crew:
        drained = drain_under(served_work, crew, lambda: proxy.strike(7), jobs=2 * JOBS, strikes=1)

    assert drained.left.harm == []
    assert set(proxy.blows) == {"not passed on", "answer withheld"}


@pytest.mark.postgres
def test_a_server_that_takes_no_writes_costs_nothing_but_time(served_work, served_crew, server):
    def take_no_writes():
        with read_only(server):
            until(
                "all workers go on trying", lambda: all("read-only" in str(one.told()) for one in served_crew.members)
            )

    drained = drain_under(served_work, served_crew, take_no_writes, jobs=JOBS, strikes=2)

    assert drained.left.harm == []
    assert drained.troubles().keys() & {"claim", "settle"}


@linux
@pytest.mark.postgres
def test_a_server_that_stands_still_past_the_leases_costs_nothing_but_time(
    served_work: Workload, served_crew: Crew, server: Server
):
    def freeze():
        with frozen(server):
            time.sleep(FROZEN_SECONDS)

    drained = drain_under(served_work, served_crew, freeze, jobs=JOBS, strikes=1)

    assert drained.left.harm == []
    assert drained.crew.told("lease taken back") == []


@linux
def test_a_full_disk_costs_nothing_but_time(disk, disk_work: Workload):
    with Crew(disk_work.site) as crew:
        drained = fill_the_disk(disk_work, crew, disk, jobs=600)

    assert drained.left.harm == []
    assert drained.troubles()


def test_poison_costs_its_neighbours_nothing(timeless_work: Workload):
    with Crew(timeless_work.site) as crew:
        poisoned = poison(timeless_work, crew, good=16)

    assert poisoned.left.strays + poisoned.left.verdict.wrong == []
    assert {(job.state, job.attempts) for job in poisoned.good} == {("succeeded", 1)}
    assert (poisoned.poison.state, poisoned.poison.attempts) == ("dead", POISON_ATTEMPTS)
    assert "signal 11 (SIGSEGV)" in poisoned.message


def test_a_worker_that_is_told_to_stop_gives_everything_back_at_once(plain_work: Workload):
    with Crew(plain_work.site, grace=f"{GRACE_SECONDS} s") as crew:
        stopped = stop_in_the_middle(plain_work, crew, jobs=JOBS)
        left = finish_after_the_stop(plain_work, crew)

    assert (stopped.code, stopped.running) == (0, [])
    assert stopped.seconds < DEFAULT_LEASE_SECONDS / 2  # it did not wait for its leases to run out
    assert {job.attempts for job in stopped.waiting} == {0}
    assert (left.strays, left.verdict.wrong, left.unfinished, left.burnt) == ([], [], [], [])


def test_runs_that_never_return_cost_nobody_else_anything(plain_work: Workload):
    with Crew(plain_work.site, grace="1 s") as crew:
        hung = hang(plain_work, crew, endless=2, good=20)

    assert hung.left.strays + hung.left.verdict.wrong == []
    assert {(job.state, job.attempts) for job in hung.good} == {("succeeded", 1)}
    assert {(job.state, job.attempts, job.losses) for job in hung.endless} == {("dead", ENDLESS_ATTEMPTS, 0)}
    assert hung.codes == [LOST_THREADS_EXIT] * ENDLESS_ATTEMPTS
