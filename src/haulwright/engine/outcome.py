"""How a run ends: one value of a closed set. Exceptions are mapped to these by class, in one place."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong, fit to be stored: class, code for grouping, and a message without secrets."""

    error_class: str
    code: str
    message: str


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

REASON_ATTEMPTS = "attempts_exhausted"
REASON_LEASE = "lease_exhausted"
REASON_DEADLINE = "deadline"
REASON_PERMANENT = "permanent"
REASON_AUTH = "auth"
REASON_UNSTORABLE = "unstorable"
REASON_EFFECT_UNKNOWN = "effect_unknown"
REASON_UNREADABLE = "unreadable"


def outcome_of(error: BaseException, failure: Failure) -> Outcome:  # noqa: PLR0911 - one for each way a run ends
    """How a run ends that raised. What we do not know may succeed later, within the budget."""
    match error:
        case Throttled():
            return Snooze(error.after, error.gate or None)
        case Cancelled():
            return Cancel(failure.message)
        case AuthFailed() if error.shared and error.credential:
            return Snooze(ASK_AGAIN_SECONDS, gate_name(error.credential, "credential"))
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
