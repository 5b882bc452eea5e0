"""The states of compiles in the words of their document: one table, total over what a job can be."""

from __future__ import annotations

from typing import Final, Literal

from penstock.engine.transitions import State

Status = Literal["pending", "running", "succeeded", "failed"]
STATUSES: Final[tuple[Status, ...]] = ("pending", "running", "succeeded", "failed")

TABLE: Final[dict[tuple[State, bool], Status]] = {
    (State.QUEUED, False): "pending",
    (State.QUEUED, True): "running",
    (State.RUNNING, False): "running",
    (State.RUNNING, True): "running",
    (State.SUCCEEDED, False): "succeeded",
    (State.SUCCEEDED, True): "succeeded",
    (State.DEAD, False): "failed",
    (State.DEAD, True): "failed",
    (State.CANCELLED, False): "failed",
    (State.CANCELLED, True): "failed",
    (State.SKIPPED, False): "failed",
    (State.SKIPPED, True): "failed",
}
"""From the state of the job, and whether it waits for its sources, to the status of the compile."""

GATE: Final = "brands:compile:"
"""What a compile waits on while its sources are under way."""


def status_of(state: State, waiting_on: str | None) -> Status:
    """The status of a compile whose job stands like this."""
    return TABLE[state, (waiting_on or "").startswith(GATE)]


def retry_count(attempts: int) -> int:
    """How many of its executions were repetitions."""
    return max(attempts - 1, 0)
