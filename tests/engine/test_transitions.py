"""The table of transitions: what it has is legal, and what it does not have is refused."""

from __future__ import annotations

import pytest

from haulwright.engine.transitions import ACTIVE, FINAL, TRANSITIONS, State, require
from haulwright.errors import IllegalTransition


@pytest.mark.proves("JOB-15")
@pytest.mark.parametrize(
    ("state", "verb", "after"),
    [
        (State.QUEUED, "claim", State.RUNNING),
        (State.RUNNING, "settle", State.SUCCEEDED),
        (State.RUNNING, "retry", State.QUEUED),
        (State.RUNNING, "settle", State.DEAD),
        (State.RUNNING, "reap", State.QUEUED),
        (State.RUNNING, "reap", State.DEAD),
    ],
)
def test_every_move_of_a_job_is_in_the_table(state, verb, after):
    require("job", state, verb)

    assert after in TRANSITIONS[state, verb]


@pytest.mark.parametrize("state", sorted(FINAL))
@pytest.mark.parametrize("verb", ["claim", "settle", "retry", "snooze", "release", "reap", "cancel", "expire"])
def test_a_finished_job_goes_nowhere(state, verb):
    with pytest.raises(IllegalTransition) as refusal:
        require("job", state, verb)

    assert (refusal.value.state, refusal.value.verb) == (state, verb)


def test_waiting_for_a_retry_belongs_to_the_active_states():
    assert TRANSITIONS[State.RUNNING, "retry"] <= ACTIVE
