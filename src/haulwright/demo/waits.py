"""What the acts of the demo wait for: the next moment at which a job of theirs may run, where none can run now."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from haulwright.application.scenario import World
from haulwright.clock import SECOND, Instant
from haulwright.engine.job import Job
from haulwright.engine.transitions import State
from haulwright.stores.listing import JobFilter
from haulwright.stores.paging import PAGE_LIMIT

LONGEST_COUNTDOWN_SECONDS: Final = 120.0


@dataclass(frozen=True, slots=True)
class Wait:
    """An act stands still until its next job is due."""

    job_id: str
    why: str
    seconds: float
    is_retry: bool = False
    """Whether a failed run is tried again, which a person may have done at once."""

    def in_words(self) -> str:
        """For people, as a countdown. What is far off is only the latest time: something else wakes the job."""
        return self.why if self.seconds > LONGEST_COUNTDOWN_SECONDS else f"{self.why}, in {math.ceil(self.seconds)} s"


def next_waits(world: World, queues: Mapping[str, Sequence[str]]) -> dict[str, Wait]:
    """What each act waits for, by its name; those that wait for nothing are left out."""
    jobs = [
        job
        for state in (State.QUEUED, State.RUNNING)
        for job in world.app.store.listing.page(JobFilter(tenant=world.tenant, state=state), limit=PAGE_LIMIT).jobs
    ]
    now = world.app.store.now()
    return {
        name: wait
        for name, served in queues.items()
        if (wait := wait_of([job for job in jobs if job.queue in served], now)) is not None
    }


def wait_of(jobs: Sequence[Job], now: Instant) -> Wait | None:
    """What those who have these jobs wait for. While one of them runs or is due, only a retry is worth a word."""
    waiting = [job for job in jobs if job.state is State.QUEUED and job.run_at > now]
    if len(waiting) < len(jobs):
        waiting = [job for job in waiting if _is_retry(job)]
    if not waiting:
        return None
    first = min(waiting, key=lambda job: job.run_at)
    return Wait(first.id, _why(first), (first.run_at - now) / SECOND, is_retry=_is_retry(first))


def _is_retry(job: Job) -> bool:
    return job.waiting_on is None and job.attempts > 0


def _why(job: Job) -> str:
    if job.waiting_on is not None:
        return f"{job.task} waits for {job.waiting_on}"
    return f"{job.task} is tried again" if job.attempts else f"{job.task} looks again"
