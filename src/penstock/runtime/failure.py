"""From an exception to a failure that may be stored: class, code, and a message without secrets."""

from __future__ import annotations

from penstock.engine.outcome import Failure
from penstock.engine.payload import clip
from penstock.errors import PenstockError
from penstock.redaction import redact

_CODES: tuple[tuple[type[BaseException], str], ...] = (
    (TimeoutError, "timeout"),
    (ConnectionError, "connection"),
    (MemoryError, "out_of_memory"),
)


def failure_of(error: BaseException) -> Failure:
    """What went wrong, fit for a row, a log line and a page."""
    message = redact(str(error)).strip() or type(error).__name__
    return Failure(type(error).__name__, code_of(error), clip(message))


def code_of(error: BaseException) -> str:
    """A stable code to group failures by."""
    if isinstance(error, PenstockError):
        return error.code
    told = getattr(error, "code", None)
    if isinstance(told, str) and told.isidentifier():
        return told
    for kind, code in _CODES:
        if isinstance(error, kind):
            return code
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in type(error).__name__).lstrip("_")
