"""The status of a compile in the words of its document, from the state of its job."""

from __future__ import annotations

from typing import Final

from haulwright import State
from haulwright.application.job_status import JOB_STATUS, JobStatus
from haulwright.engine.join import JOIN_GATE

STATUSES: Final[tuple[JobStatus, ...]] = ("pending", "running", "succeeded", "failed")


def status_of(state: State, waiting_on: str | None) -> JobStatus:
    """The status of a compile whose job stands like this; one that waits for its sources is running."""
    return "running" if state is State.QUEUED and waiting_on == JOIN_GATE else JOB_STATUS[state]


def retry_count(attempts: int) -> int:
    """How many of its executions were repetitions."""
    return max(attempts - 1, 0)
