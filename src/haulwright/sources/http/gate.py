"""The gate that every call passes, and what a reply says about the server behind it.

Who governs a source implements `Gate` and `Grant`; this package only asks. Without a governor the gate is `OPEN`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, Protocol

from haulwright.errors import AuthFailed, RunError
from haulwright.sources.http.classify import (
    SERVER_ERRORS,
    UNAUTHORISED,
    NotSent,
    OutcomeUnknown,
    refuses_credential,
)

Signal = Literal["ok", "failed", "ignored", "auth"]

_CLIENT_ERRORS: Final = 400


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one call says about the server, and what it took."""

    outcome: Signal
    """ok; failed (5xx, time-outs, lost or refused connections); auth (401, 403); ignored: it says nothing."""
    park_seconds: float | None = None
    """The server asked for no more requests for so long."""
    status: int | None = None
    """The status of the last answer, None if there was none."""
    sent_bytes: int = 0
    """Bodies of requests."""
    received_bytes: int = 0
    """Bodies of answers, as they travelled."""
    seconds: float = 0.0
    """From the gate to the end."""


class Grant(Protocol):
    """The right to make one call, its redirects included."""

    async def leave(self, verdict: Verdict) -> None:
        """Give the right back. Always called, exactly once, also when the call fails or is cancelled."""


class Gate(Protocol):
    """What stands before a source."""

    async def enter(self) -> Grant:
        """Return the right to make one call, or raise Throttled(after=, gate=) while the gate is closed."""


class _FreeGrant:
    async def leave(self, verdict: Verdict) -> None:
        """Nothing is counted here."""


class _OpenGate:
    async def enter(self) -> Grant:
        """Everybody may pass."""
        return _FREE


_FREE: Final = _FreeGrant()
OPEN: Final[Gate] = _OpenGate()
"""The gate that lets all pass."""


def signal_of(
    status: int | None, problem: BaseException | None, *, park_seconds: float | None = None, own_auth: bool = False
) -> Signal:
    """Return what a status, or the lack of one, says about the server; with `own_auth` a 401 says nothing."""
    if isinstance(problem, NotSent | OutcomeUnknown):
        return "failed"
    if isinstance(problem, AuthFailed) or (status is not None and refuses_credential(status, park_seconds)):
        return "ignored" if own_auth and status == UNAUTHORISED else "auth"
    if problem is not None and not isinstance(problem, RunError):
        return "ignored"  # cancelled, or a fault of our own
    if status is None:
        return "ignored"
    if status in SERVER_ERRORS:
        return "failed"
    return "ok" if status < _CLIENT_ERRORS and problem is None else "ignored"
