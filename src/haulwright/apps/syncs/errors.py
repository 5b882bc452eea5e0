"""What goes wrong with syncs, and the codes by which operators count it.

    Conflict
      ActiveJobExists     the connection has a sync that is not finished
      TooSoon             the plan allows the next sync only later
    Retryable
      SyncFailed          Airbyte could not be asked, or its run failed: the job tries again
    Permanent
      SyncRefused         Airbyte will never do this as it is
    AuthFailed
      SyncUnauthorised    the credential was refused
    Throttled
      SyncThrottled       Airbyte asks for patience: the job waits

The codes of the document are `auth_error`, `rate_limit`, `server_error`, `timeout` and `connection_error`; it is silent
about the others.
"""

from __future__ import annotations

from typing import Final

from haulwright import AuthFailed, Permanent, Retryable, Throttled
from haulwright.errors import Conflict, RunError
from haulwright.sources.airbyte import error_class
from haulwright.sources.http import OutcomeUnknown

CODES: Final = {
    "auth": "auth_error",
    "rate_limited": "rate_limit",
    "server": "server_error",
    "network": "connection_error",
    "locked": "connection_locked",
    "not_found": "not_found",
    "billing": "billing",
    "conflict": "conflict",
    "invalid": "invalid_request",
    "unknown": "unknown_error",
}
"""The code of each class of error that the connector knows."""
TIMEOUT: Final = "timeout"
RUN_FAILED: Final = "sync_failed"
_TIMES: Final = ("took too long", "time limit")
"""How the HTTP client says that a call ran out of time."""


class ActiveJobExists(Conflict):
    """The connection has a sync that is not finished."""

    def __init__(self, connector_id: str, job_id: str, *, hint: str | None = None) -> None:
        super().__init__(
            f"The connection {connector_id} has a sync that is not finished: job {job_id}.",
            hint=hint or f"See it with: haulwright job show {job_id}",
        )
        self.connector_id = connector_id
        self.job_id = job_id


class TooSoon(Conflict):
    """The plan allows the next sync of the connection only later."""

    def __init__(self, connector_id: str, plan: str, wait: str) -> None:
        super().__init__(
            f"The plan {plan} allows the next sync of {connector_id} in {wait}.",
            hint="Wait, take another plan, or ask support.",
        )
        self.connector_id = connector_id
        self.plan = plan
        self.wait = wait


class SyncFailed(Retryable):
    """This try failed; another may succeed."""

    def __init__(self, message: str, code: str = RUN_FAILED) -> None:
        super().__init__(message)
        self._code = code

    @property
    def code(self) -> str:
        """What went wrong, for counting."""
        return self._code


class SyncRefused(Permanent):
    """Airbyte will never do this as it is."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self._code = code

    @property
    def code(self) -> str:
        """What went wrong, for counting."""
        return self._code


class SyncUnauthorised(AuthFailed):
    """The credential was refused."""

    @property
    def code(self) -> str:
        """What went wrong, for counting."""
        return CODES["auth"]


class SyncThrottled(Throttled):
    """Airbyte asks for patience. No gate of ours is closed: what it answered is what the job waits for."""

    def __init__(self, message: str, code: str, *, after: float) -> None:
        super().__init__(message, after=after)
        self._code = code

    @property
    def code(self) -> str:
        """What went wrong, for counting."""
        return self._code


def in_our_words(error: RunError) -> RunError:
    """The same error with the code by which operators count it; a wait at a gate of ours stays what it is."""
    code = code_of(error)
    match error:
        case AuthFailed():
            return SyncUnauthorised(error.message, credential=error.credential, shared=error.shared)
        case Permanent():
            return SyncRefused(error.message, code)
        case Retryable():
            return SyncFailed(error.message, code)
        case Throttled() if not error.gate:
            return SyncThrottled(error.message, code, after=error.after)
        case _:
            return error


def code_of(error: RunError) -> str:
    """The code of an error of a call."""
    word = error_class(error)
    if word == "network" and any(time in error.message for time in _TIMES):
        return TIMEOUT
    return CODES[word]


def nothing_began(error: RunError) -> bool:
    """Whether a trigger that ended so has certainly started no sync: then nobody needs to look for one.

    An error that came while a lost trigger was looked up says nothing about the trigger.
    """
    in_doubt = isinstance(error, OutcomeUnknown) or error_class(error) in {"server", "unknown"}
    return not in_doubt and not isinstance(error.__context__, Retryable | Throttled)
