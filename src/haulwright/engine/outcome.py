"""How a run ends: one value of a closed set. Exceptions are mapped to these by class, in one place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from haulwright.engine.payload import clip, read_json
from haulwright.engine.source import ASK_AGAIN_SECONDS, gate_name
from haulwright.errors import (
    AuthFailed,
    Cancelled,
    EffectUnknown,
    Permanent,
    ResultTooLarge,
    Retryable,
    Throttled,
    TimedOut,
)


class StackFrame(NamedTuple):
    """A line of the user's code that an error came through."""

    file: str
    line: int
    function: str
    cause: str | None = None
    """The class and message of the cause that came through it; None where it was the error itself."""

    def __str__(self) -> str:
        """As people read it."""
        return f"{self.file}:{self.line} in {self.function}"


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong, fit to be stored: class, code for grouping, and a message without secrets."""

    error_class: str
    code: str
    message: str
    frames: tuple[StackFrame, ...] = ()
    """The lines of the user's code that it came through, the innermost last; then those of its causes."""


def frame_lines(frames: Sequence[StackFrame]) -> list[str]:
    """Frames as people read them: a line each, and one before those of each cause."""
    lines: list[str] = []
    cause: str | None = None
    for frame in frames:
        if frame.cause != cause:
            lines.append(f"caused by {frame.cause}")
            cause = frame.cause
        lines.append(str(frame))
    return lines


def frames_text(frames: Sequence[StackFrame]) -> str | None:
    """Frames as they stand in a row; None for none."""
    return json.dumps(frames, ensure_ascii=False, separators=(",", ":")) if frames else None


def read_frames(text: str | None) -> tuple[StackFrame, ...]:
    """The frames of a row; none where it has none, or something else."""
    rows = read_json(text, list) or []
    return tuple(StackFrame(*row) for row in rows if isinstance(row, list) and len(row) == len(StackFrame._fields))


@dataclass(frozen=True, slots=True)
class Done:
    """The run succeeded. `result` is canonical JSON; `event_fields` are what its events carry."""

    result: str | None = None
    event_fields: str | None = None


@dataclass(frozen=True, slots=True)
class RetryLater:
    """The run failed and counts. `after` overrides the delay of the policy, in seconds."""

    failure: Failure
    after: float | None = None


@dataclass(frozen=True, slots=True)
class Snooze:
    """Not now: no attempt is burnt. `gate` names what is closed."""

    seconds: float
    gate: str | None = None
    failure: Failure | None = None
    """What the run met, where the other side sent it away."""


@dataclass(frozen=True, slots=True)
class Skip:
    """Nothing to do: a duplicate, or no longer needed."""

    reason: str


@dataclass(frozen=True, slots=True)
class Cancel:
    """The job was cancelled, by the task itself or by a person."""

    reason: str


@dataclass(frozen=True, slots=True)
class Bury:
    """No further run can help: the job is dead at once."""

    reason: str
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Died:
    """The process of the run died under it: a loss that counts, known at once, with the signal as its reason."""

    failure: Failure


@dataclass(frozen=True, slots=True)
class NotStarted:
    """The run did not begin, for its worker had no process or thread for it: no attempt is burnt, `seconds` to wait."""

    failure: Failure
    seconds: float


Outcome = Done | RetryLater | Snooze | Skip | Cancel | Bury | Died | NotStarted

NOT_STARTED = "not_started"
"""The error code of a job whose run could not be started."""
START_GATE = "start"
"""What such a job waits for."""
UNKNOWN_TASK_GATE = "task:unknown"
"""What a job waits for whose task the worker that took it does not know."""

REASON_ATTEMPTS = "attempts_exhausted"
REASON_LEASE = "lease_exhausted"
REASON_DEADLINE = "deadline"
REASON_PERMANENT = "permanent"
REASON_AUTH = "auth"
REASON_UNSTORABLE = "unstorable"
REASON_EFFECT_UNKNOWN = "effect_unknown"
REASON_UNREADABLE = "unreadable"


def deadline_failure(last: Failure | None, gate: str | None) -> Failure:
    """Why a job is dead that waited too long. What it last met stays its class and code, with where that came from."""
    waited = f"waited past its deadline for {gate}" if gate else "waited past its deadline"
    if last is None:
        return Failure("DeadlinePassed", REASON_DEADLINE, waited)
    return replace(last, message=clip(f"{waited}; the last error: {last.message}"))


def outcome_of(error: BaseException, failure: Failure) -> Outcome:  # noqa: PLR0911 - one for each way a run ends
    """How a run ends that raised. What we do not know may succeed later, within the budget."""
    match error:
        case Throttled():
            # A closed gate of ours is nothing that went wrong; what the other side answered is the cause of the wait.
            return Snooze(error.after, error.gate) if error.gate else Snooze(error.after, failure=failure)
        case Cancelled():
            return Cancel(failure.message)
        case AuthFailed() if error.shared and error.credential:
            return Snooze(ASK_AGAIN_SECONDS, gate_name(error.credential, "credential"), failure)
        case AuthFailed():
            return Bury(REASON_AUTH, failure)
        case EffectUnknown():
            return Bury(REASON_EFFECT_UNKNOWN, failure)
        case ResultTooLarge() | Permanent():
            return Bury(REASON_PERMANENT, failure)
        case Retryable():
            return RetryLater(failure, error.after)
        case TimedOut():
            return RetryLater(failure)
        case _:
            return RetryLater(failure)
