"""The faults that need a scene of their own: a full disk, poison, a worker told to stop, a run that never returns."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass

from proof.faults.aftermath import Aftermath, aftermath
from proof.faults.crew import OPTIONS, Crew, Member, finished, is_drained, until
from proof.faults.disk import Disk
from proof.faults.drain import HELD, WORKERS, Drained, mixed_load
from proof.faults.hazards import GO, Hazards
from proof.support.company import Company
from proof.support.facts import Facts, JobFact
from proof.support.workload import Workload

ENOUGH_LOG_BYTES = 1 << 20
"""The log is larger than the diaries by now, so a limit of its size does not touch them."""
TRIES = 3
"""How often the workers must have said that they go on trying."""
PAST_THE_BACKOFF_SECONDS = 100
SLOTS = int(OPTIONS["--concurrency"])


def fill_the_disk(work: Workload, crew: Crew, disk: Disk, *, jobs: int) -> Drained:
    """Take the room away in the middle of a drain, see the workers go on trying, and give it back."""
    began, store, hazards = time.monotonic(), work.app.store, Hazards(work)
    crew.start(WORKERS)  # before there is work: one of them alone could be through before the others are up
    held = set(work.enqueue(hazards.holding, range(HELD)))
    until("the held jobs run", lambda: held <= {str(entry.job) for entry in work.diary.of("run.begin")})
    mixed_load(work, hazards, jobs)
    with disk.growing_log():
        until("the log has grown", lambda: disk.log_bytes > ENOUGH_LOG_BYTES)
        pids = [member.pid for member in crew.members]
        disk.fill(pids)
        try:
            work.site.raise_flag(GO)  # however quick the others were, these end where there is no room to say so
            until("all workers go on trying", lambda: all(len(_refused(one, disk)) >= TRIES for one in crew.members))
            assert finished(store) < jobs + HELD, "there was nothing left to do without room"
        finally:
            disk.free(pids)
    until("all jobs are finished", lambda: is_drained(store))
    crew.end_well()
    return Drained(aftermath(work, crew), crew, time.monotonic() - began, Company.read(work.diary.read()))


def _refused(member: Member, disk: Disk) -> list[str]:
    """What a worker said of the disk."""
    told = [line for line in member.told() if "the database is in trouble" in line["message"]]
    return [line["error"] for line in told if disk.words in line["error"]]


@dataclass(frozen=True)
class Poisoned:
    """How it went with a job that kills whatever runs it."""

    left: Aftermath
    good: list[JobFact]
    poison: JobFact
    message: str
    """What the row of the poison says about its end."""
    deaths: int
    """Workers that it took along."""

    def __str__(self) -> str:
        end = f"{self.poison.state} after {self.poison.attempts} attempts: {self.message}"
        return (
            f"poison {end}; it took {self.deaths} worker along; {len(self.good)} good ones, at most "
            f"{max(job.attempts for job in self.good)} attempt each; {self.left.verdict}"
        )


def poison(work: Workload, crew: Crew, *, good: int) -> Poisoned:
    """Put one job that dies by a segmentation fault among good ones, and start a new worker for each that it kills."""
    hazards, store = Hazards(work), work.app.store
    work.enqueue(work.note, range(good // 2))
    (bad,) = work.enqueue(hazards.poison, range(1))
    work.enqueue(work.note, range(good - good // 2))
    deaths, (worker,) = 0, crew.start()

    def is_over() -> bool:
        nonlocal deaths, worker
        if is_drained(store):
            return True
        if worker.process.poll() is not None:
            deaths, (worker,) = deaths + 1, crew.start()
        if all(queue.due + queue.running == 0 for queue in store.queues.counts()):  # so no lease can run out
            work.site.clock.advance(PAST_THE_BACKOFF_SECONDS)
        return False

    until("all jobs are finished", is_over)
    assert crew.stop() == [-signal.SIGSEGV] * deaths + [0]
    left = aftermath(work, crew)
    (buried,) = (job for job in left.jobs if job.id == bad)
    message = str(work.app.operations().jobs.get(bad).error_message)
    return Poisoned(left, [job for job in left.jobs if job.id != bad], buried, message, deaths)


@dataclass(frozen=True)
class Stopped:
    """What a worker left behind that was told to stop."""

    code: int
    seconds: float
    running: list[JobFact]
    """Jobs that still have a lease."""
    waiting: list[JobFact]
    """Jobs that wait to be run."""

    def __str__(self) -> str:
        left = f"{len(self.running)} leases left, {len(self.waiting)} jobs waiting"
        return f"stopped with {self.code} after {self.seconds:.1f} s, {left}"


def stop_in_the_middle(work: Workload, crew: Crew, *, jobs: int) -> Stopped:
    """Tell a worker to stop while some of its runs will not end, more are in its hands, and more are due."""
    hazards = Hazards(work)
    work.enqueue(work.note, range(jobs // 2))
    held = set(work.enqueue(hazards.holding, range(SLOTS)))
    work.enqueue(work.note, range(jobs - jobs // 2))
    (worker,) = crew.start()
    until("the held jobs run", lambda: held <= {str(entry.job) for entry in work.diary.of("run.begin")})
    told = time.monotonic()
    os.kill(worker.pid, signal.SIGTERM)
    code = worker.process.wait(60)
    jobs_left = [job for job in Facts.read(work.app.store).jobs if not job.is_final]
    running = [job for job in jobs_left if job.state == "running"]
    return Stopped(code, time.monotonic() - told, running, [job for job in jobs_left if job.state == "queued"])


def finish_after_the_stop(work: Workload, crew: Crew) -> Aftermath:
    """Let a second worker do the rest."""
    work.site.raise_flag(GO)
    crew.start()
    until("all jobs are finished", lambda: is_drained(work.app.store))
    crew.end_well()
    return aftermath(work, crew)


@dataclass(frozen=True)
class Hung:
    """How it went with runs that never return."""

    left: Aftermath
    good: list[JobFact]
    endless: list[JobFact]
    codes: list[int]
    """How the workers ended."""

    def __str__(self) -> str:
        ends = sorted((job.state, job.attempts) for job in self.endless)
        return (
            f"never returned: {ends}; workers ended with {self.codes}; {len(self.good)} good ones; {self.left.verdict}"
        )


def hang(work: Workload, crew: Crew, *, endless: int, good: int) -> Hung:
    """Put runs that never return among good ones, and start a new worker for each that gives up."""
    hazards, store = Hazards(work), work.app.store
    work.enqueue(work.note, range(good // 2))
    deaf = set(work.enqueue(hazards.endless, range(endless)))
    work.enqueue(work.note, range(good - good // 2))
    (worker,) = crew.start()

    def is_over() -> bool:
        nonlocal worker
        if is_drained(store):
            return True
        if worker.process.poll() is not None:
            (worker,) = crew.start()
        return False

    until("all jobs are finished", is_over)
    codes = [member.process.wait(60) for member in crew.members]
    left = aftermath(work, crew)
    good_ones = [job for job in left.jobs if job.id not in deaf]
    return Hung(left, good_ones, [job for job in left.jobs if job.id in deaf], codes)
