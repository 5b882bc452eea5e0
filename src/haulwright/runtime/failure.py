"""From an exception to a failure that may be stored: class, code, where it was, and a message without secrets."""

from __future__ import annotations

from dataclasses import replace
from typing import overload

from haulwright.engine.outcome import Bury, Cancel, Failure, Outcome, Skip, Snooze
from haulwright.engine.payload import ERROR_MESSAGE_LIMIT_BYTES, KIB, clip
from haulwright.error_codes import code_of_class
from haulwright.errors import HaulwrightError
from haulwright.redaction import redact
from haulwright.runtime.frames import frames_of

REASON_LIMIT_BYTES = 500
"""A reason is a sentence; what is longer belongs into the error."""
SEARCHED_LIMIT_CHARS = 256 * KIB
"""What is searched for secrets of a message that will be cut anyway."""

_CODES: tuple[tuple[type[BaseException], str], ...] = (
    (TimeoutError, "timeout"),
    (ConnectionError, "connection"),
    (MemoryError, "out_of_memory"),
)


def failure_of(error: BaseException) -> Failure:
    """What went wrong, fit for a row, a log line and a page."""
    message = _fit(_text(error)).strip() or type(error).__name__
    return Failure(type(error).__name__, code_of(error), message, frames_of(error))


def code_of(error: BaseException) -> str:
    """A stable code to group failures by."""
    if isinstance(error, HaulwrightError):
        return error.code
    own_code = getattr(error, "code", None)
    if isinstance(own_code, str) and own_code.isidentifier():
        return own_code
    for kind, code in _CODES:
        if isinstance(error, kind):
            return code
    return code_of_class(type(error))


def storable(outcome: Outcome) -> Outcome:
    """An outcome that a task returns or causes, with its words fit to be stored: a task may quote anything."""
    match outcome:
        case Skip() | Cancel():
            return replace(outcome, reason=_fit(outcome.reason, REASON_LIMIT_BYTES))
        case Snooze():
            gate = None if outcome.gate is None else _fit(outcome.gate, REASON_LIMIT_BYTES)
            return replace(outcome, gate=gate, failure=_storable(outcome.failure))
        case Bury():
            reason = _fit(outcome.reason, REASON_LIMIT_BYTES)
            failure = outcome.failure or Failure("Bury", "buried", reason)
            return Bury(reason, _storable(failure))
        case _:
            return outcome


@overload
def _storable(failure: Failure) -> Failure: ...
@overload
def _storable(failure: None) -> None: ...
def _storable(failure: Failure | None) -> Failure | None:
    return None if failure is None else replace(failure, message=_fit(failure.message))


def _text(error: BaseException) -> str:
    """What an error says of itself; some cannot even do that."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - its own __str__ is at fault, and the run must still end
        return "its message cannot be read"


def _fit(text: object, limit_bytes: int = ERROR_MESSAGE_LIMIT_BYTES) -> str:
    return clip(redact(str(text)[:SEARCHED_LIMIT_CHARS]), limit_bytes)
