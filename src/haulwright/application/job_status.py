"""The state of a job in the four words that documents of applications have for it."""

from __future__ import annotations

from typing import Final, Literal

from haulwright.engine.transitions import State

JobStatus = Literal["pending", "running", "succeeded", "failed"]
JOB_STATUS: Final[dict[State, JobStatus]] = {
    State.QUEUED: "pending",
    State.RUNNING: "running",
    State.SUCCEEDED: "succeeded",
    State.DEAD: "failed",
    State.CANCELLED: "failed",
    State.SKIPPED: "failed",
}
"""Total over the states. What an application adds to it, such as a word for a job that waits, it says itself."""
