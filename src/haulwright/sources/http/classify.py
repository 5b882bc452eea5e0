"""What went wrong, said once: not sent, outcome unknown, blocked, too large, or what the status means.

Retryable
  NotSent           certainly not processed: the connection never stood
  OutcomeUnknown    sent, and the answer was lost: look before you repeat what is not safe to repeat
  ServerFailed      408, 409, 425, 429 and 5xx
Permanent
  Rejected          any other status that is no success
  Blocked           the guard forbids the address
  TooLarge          more than the limits allow
  Undecodable       a body that is not what its headers say
Throttled           429, 503, and 403 where a limit is spent: with a time to come back
AuthFailed          401, 403
"""

from __future__ import annotations

from typing import Final

from haulwright.errors import AuthFailed, Permanent, Retryable, RunError, Throttled
from haulwright.redaction import redact

SHOWN_BODY_CHARS: Final = 200
_LOOKED_AT_CHARS: Final = 4_096

UNAUTHORISED: Final = 401
FORBIDDEN: Final = 403
RETRYABLE: Final = frozenset({408, 409, 425, 429})
BUSY: Final = frozenset({FORBIDDEN, 429, 503})
SUCCESSES: Final = range(200, 300)
SERVER_ERRORS: Final = range(500, 600)

_WORDS: Final = {
    "ConnectError": "the connection could not be made",
    "ConnectTimeout": "the connection took too long",
    "PoolTimeout": "no connection became free in time",
    "ReadTimeout": "the answer took too long",
    "WriteTimeout": "the request took too long to send",
    "ReadError": "the connection broke while the answer was awaited",
    "WriteError": "the connection broke while the request was sent",
    "RemoteProtocolError": "the server ended or garbled the answer",
    "ProxyError": "the proxy refused",
    "TimeoutError": "the call passed its total time limit",
}


class NotSent(Retryable):
    """The request never left: it was certainly not processed, so that even a paid one may be sent again."""


class OutcomeUnknown(Retryable):
    """The request was sent and the answer was lost. Whether it was processed must be looked up, never guessed."""


class ServerFailed(Retryable):
    """The server answered that it cannot now."""

    def __init__(self, message: str = "", *, status: int = 500, after: float | None = None) -> None:
        super().__init__(message, after=after)
        self.status = status


class Rejected(Permanent):
    """The server understood and said no."""

    def __init__(self, message: str, *, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class Blocked(Permanent):
    """The guard forbids this address. Nothing was sent to it."""


class TooLarge(Permanent):
    """The answer is larger than the limits allow. It was not read to its end."""


class Undecodable(Permanent):
    """The body is not what its headers say."""


def from_failure(failure: BaseException, *, what: object, sent: bool) -> RunError:
    """Return the error for a call that got no whole answer. Only whether it was sent decides which one."""
    why = _WORDS.get(type(failure).__name__, "the connection failed")
    detail = redact(str(failure)).strip()
    because = f"{why} ({detail[:SHOWN_BODY_CHARS]})" if detail and detail not in why else why
    if sent:
        return OutcomeUnknown(f"{what}: {because}; it may have been processed.")
    return NotSent(f"{what}: {because}; it was not sent.")


def from_status(  # noqa: PLR0913  the facts of an answer, each with a name
    status: int,
    *,
    what: str,
    body: str = "",
    park_seconds: float | None = None,
    credential: str = "",
    shared: bool = False,
) -> RunError | None:
    """Return the error that a status means, None for a success."""
    if status in SUCCESSES:
        return None
    message = f"{what} answered {status}{_excerpt(body)}."
    if refuses_credential(status, park_seconds):
        return AuthFailed(message, credential=credential, shared=shared)
    if status in BUSY and park_seconds is not None:
        return Throttled(message, after=park_seconds)
    if status in RETRYABLE or status in SERVER_ERRORS:
        return ServerFailed(message, status=status)
    return Rejected(message, status=status)


def refuses_credential(status: int, park_seconds: float | None) -> bool:
    """Whether a status speaks of the credential. Some servers say 403 where only a limit is spent, with a time."""
    return status == UNAUTHORISED or (status == FORBIDDEN and park_seconds is None)


def _excerpt(body: str) -> str:
    """Return the beginning of a body in one line. Secrets are masked before it is cut, so that none is cut in two."""
    line = " ".join(redact(body[:_LOOKED_AT_CHARS]).split())
    if not line:
        return ""
    return f": {line[:SHOWN_BODY_CHARS]}…" if len(line) > SHOWN_BODY_CHARS else f": {line}"
