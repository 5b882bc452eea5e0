"""The states of a job and the ways between them. What is not in the table is refused."""

from __future__ import annotations

from enum import StrEnum

from haulwright.errors import IllegalTransition


class State(StrEnum):
    """Where a job is. Waiting for a retry is `queued` with attempts > 0."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    DEAD = "dead"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"


RETRYING = "retrying"
"""As people say it: queued, and it ran before. No state of its own, but a word that filters know."""
STATE_WORDS = (*(str(state) for state in State), RETRYING)
ACTIVE = frozenset({State.QUEUED, State.RUNNING})
"""The states that a `while_active` unique key covers: the retry wait is one of them."""

FINAL = frozenset(State) - ACTIVE

TRANSITIONS: dict[tuple[State, str], frozenset[State]] = {
    (State.QUEUED, "claim"): frozenset({State.RUNNING}),
    (State.QUEUED, "cancel"): frozenset({State.CANCELLED}),
    (State.QUEUED, "expire"): frozenset({State.DEAD}),
    (State.RUNNING, "settle"): FINAL,
    (State.RUNNING, "retry"): frozenset({State.QUEUED}),
    (State.RUNNING, "snooze"): frozenset({State.QUEUED}),
    (State.RUNNING, "release"): frozenset({State.QUEUED}),
    (State.RUNNING, "reap"): frozenset({State.QUEUED, State.DEAD, State.CANCELLED}),
    (State.RUNNING, "cancel"): frozenset({State.RUNNING}),
    (State.DEAD, "requeue"): frozenset({State.DEAD}),
}
"""From a state, by a verb, to one of these. A requeue leaves the dead letter dead and makes a new job."""


def require(job_id: str, state: str, verb: str) -> None:
    """Refuse a verb that the table does not have for this state."""
    if (state, verb) not in TRANSITIONS:
        raise IllegalTransition(job_id, state, verb)
