"""What Airbyte refuses, by the type of its problem and only then by the status.

AirbyteError            has an `error_class`, one of CLASSES
  AirbyteBusy           Throttled: too many requests, or a sync that cannot be adopted is running
  AirbyteUnavailable    Retryable: the server failed, its answer cannot be read, or the connection is locked
  AirbyteAuthFailed     AuthFailed: the credential was refused
  AirbyteRefused        Permanent: gone, to be paid for, in no state for it, or senseless
"""

from __future__ import annotations

import json
from typing import Any, Final, Literal, get_args

from haulwright.errors import AuthFailed, Permanent, Retryable, RunError, Throttled
from haulwright.redaction import redact
from haulwright.sources.http import NotSent, OutcomeUnknown
from haulwright.sources.http.classify import FORBIDDEN, refuses_credential
from haulwright.sources.vendor import run_error

ErrorClass = Literal[
    "rate_limited", "auth", "not_found", "billing", "locked", "conflict", "invalid", "server", "network", "unknown"
]
CLASSES: Final[tuple[str, ...]] = get_args(ErrorClass)
BUSY_SECONDS: Final = 60.0
"""How long to wait where Airbyte does not say for how long."""


class AirbyteError(RunError):
    """Airbyte refused a request, or could not carry it out."""

    error_class: ErrorClass = "unknown"
    status_code: int | None = None
    kind: str = ""
    """The last word of the problem's type, such as `try-again-later` or `connection/locked`."""


class AirbyteBusy(AirbyteError, Throttled):
    """Airbyte cannot now, and said so."""


class AirbyteUnavailable(AirbyteError, Retryable):
    """Airbyte failed, said something that cannot be read, or has locked the connection for a while."""


class AirbyteAuthFailed(AirbyteError, AuthFailed):
    """The credential was refused, or may not do this."""


class AirbyteRefused(AirbyteError, Permanent):
    """The request can never succeed as it is."""


TRY_AGAIN_LATER: Final = "try-again-later"
STATE_CONFLICT: Final = "409-state-conflict"

_KINDS: Final[dict[str, tuple[type[AirbyteError], ErrorClass]]] = {
    TRY_AGAIN_LATER: (AirbyteBusy, "conflict"),
    STATE_CONFLICT: (AirbyteRefused, "conflict"),
    "connection/locked": (AirbyteUnavailable, "locked"),
    "invalid-api-key": (AirbyteAuthFailed, "auth"),
    "forbidden": (AirbyteAuthFailed, "auth"),
    "auth/sso-required": (AirbyteAuthFailed, "auth"),
    "resource-not-found": (AirbyteRefused, "not_found"),
    "request-timeout-exceeded": (AirbyteUnavailable, "server"),
}
_FAMILIES: Final[dict[str, tuple[type[AirbyteError], ErrorClass]]] = {
    "billing/": (AirbyteRefused, "billing"),
    "license/": (AirbyteRefused, "billing"),
}
_STATUSES: Final[dict[int, tuple[type[AirbyteError], ErrorClass]]] = {
    401: (AirbyteAuthFailed, "auth"),
    402: (AirbyteRefused, "billing"),
    403: (AirbyteAuthFailed, "auth"),
    404: (AirbyteRefused, "not_found"),
    408: (AirbyteUnavailable, "server"),
    409: (AirbyteUnavailable, "conflict"),
    425: (AirbyteUnavailable, "server"),
    429: (AirbyteBusy, "rate_limited"),
}
_SERVER_ERRORS: Final = 500


def error_class(error: BaseException) -> ErrorClass:
    """The class of any error of a call, also of one that never became an answer."""
    if isinstance(error, AirbyteError):
        return error.error_class
    if isinstance(error, NotSent | OutcomeUnknown):
        return "network"
    if isinstance(error, AuthFailed):
        return "auth"
    return "rate_limited" if isinstance(error, Throttled) else "unknown"


def refusal(what: str, status: int, body: bytes, *, after: float | None = None) -> AirbyteError:
    """The error that an answer means. `after` is the wait that it asks for."""
    kind, sentence = _type_and_message(body)
    error, word = _meaning(status, kind, after)
    message = f"Airbyte: {what} was answered with {status} {kind or 'and no type'}{sentence and ': '}{sentence}."
    return problem_of(error, word, redact(message), status=status, kind=kind, after=after)


def unreadable(what: str, status: int) -> AirbyteError:
    """The error of an answer that is not what the documentation says."""
    message = f"Airbyte: {what} has an answer that cannot be read."
    return problem_of(AirbyteUnavailable, "server", message, status=status)


def problem_of(  # noqa: PLR0913  the facts of an answer, each with a name
    error: type[AirbyteError],
    word: ErrorClass,
    message: str,
    *,
    status: int | None = None,
    kind: str = "",
    after: float | None = None,
) -> AirbyteError:
    """An error of this class, with its facts as fields."""
    problem = run_error(error, message, after=after, busy_seconds=BUSY_SECONDS)
    problem.error_class, problem.status_code, problem.kind = word, status, kind
    return problem


def _meaning(status: int, kind: str, after: float | None) -> tuple[type[AirbyteError], ErrorClass]:
    for family, meaning in _FAMILIES.items():
        if kind.startswith(family):
            return meaning
    if status >= _SERVER_ERRORS:
        return _KINDS.get(kind, (AirbyteUnavailable, "server"))
    if status == FORBIDDEN and kind not in _KINDS and not refuses_credential(status, after):
        return AirbyteBusy, "rate_limited"
    return _KINDS.get(kind) or _STATUSES.get(status, (AirbyteRefused, "invalid"))


def _type_and_message(body: bytes) -> tuple[str, str]:
    """The kind of a problem and what it says; empty where the answer is no problem, as from a gateway."""
    try:
        problem: Any = json.loads(body)
        kind = str(problem.get("type") or "")
        data = problem.get("data")
        message = (data.get("message") if isinstance(data, dict) else None) or problem.get("detail") or ""
        return kind.rpartition("#")[2].removeprefix("error:").removeprefix("about:blank"), str(message).rstrip(".")
    except (ValueError, AttributeError, RecursionError):
        return "", ""
