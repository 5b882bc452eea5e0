"""What Apify refuses, by the type that it names and only then by the status.

ApifyError
  ApifyBusy            Throttled: too many requests, or no memory or run free just now; no attempt is burnt
  ApifyUnavailable     Retryable: the server failed, or its answer cannot be read
  ApifyTimeoutError    Retryable: a run was not over in time
  ApifyAuthFailed      AuthFailed: the token is wrong, or may not do this
  ApifyRefused         Permanent: no repetition can help
    ApifyNotFound      no such run, dataset or actor, or not for this account
    ApifyBilling       the account has to pay first
"""

from __future__ import annotations

import json
from typing import Any, Final

from haulwright.errors import AuthFailed, Permanent, Retryable, RunError, Throttled
from haulwright.redaction import redact
from haulwright.sources.http.classify import FORBIDDEN, refuses_credential
from haulwright.sources.vendor import run_error

BUSY_SECONDS: Final = 10.0
"""How long to wait where Apify is busy and does not say for how long."""
SHOWN_BODY_CHARS: Final = 2_000


class ApifyError(RunError):
    """Apify refused a request, or could not carry it out."""

    status_code: int | None = None
    kind: str = ""
    """The type that Apify gives, such as `record-not-found`."""
    body: str = ""
    """The beginning of the answer, without secrets."""


class ApifyBusy(ApifyError, Throttled):
    """Apify cannot now: too many requests, or the account's runs or memory are all in use."""


class ApifyUnavailable(ApifyError, Retryable):
    """Apify failed, or said something that cannot be read. A start may have begun all the same."""


class ApifyTimeoutError(ApifyError, Retryable, TimeoutError):
    """A run was not over in the time that it was given."""

    run_id: str = ""
    aborted: bool = False
    """Whether Apify has said that it was stopped."""


class ApifyAuthFailed(ApifyError, AuthFailed):
    """The token was refused, or may not do this."""


class ApifyRefused(ApifyError, Permanent):
    """The request can never succeed as it is."""


class ApifyNotFound(ApifyRefused):
    """Nothing of that id, or nothing that this account may see."""


class ApifyBilling(ApifyRefused):
    """The account has to pay, rent or raise its limit first."""


_CREDENTIAL: Final = frozenset(
    {
        "insufficient-permissions",
        "invalid-token",
        "missing-actor-rights",
        "missing-api-token",
        "token-not-provided",
        "user-disabled",
        "user-or-token-not-found",
    }
)
_BILLING: Final = frozenset(
    {
        "actor-is-not-rented",
        "apify-plan-required-to-use-paid-actor",
        "no-payment-method-available",
        "not-enough-usage-to-run-paid-actor",
        "x402-payment-required",
    }
)
_NOT_NOW: Final = frozenset({"actor-memory-limit-exceeded", "concurrent-runs-limit-exceeded", "rate-limit-exceeded"})
_NOT_FOUND: Final = frozenset({"actor-not-found", "build-not-found", "page-not-found", "record-not-found"})
_PASSING: Final = frozenset({"internal-server-error", "operation-timed-out", "query-timeout"})

_KINDS: Final[tuple[tuple[frozenset[str], type[ApifyError]], ...]] = (
    (_CREDENTIAL, ApifyAuthFailed),
    (_BILLING, ApifyBilling),
    (_NOT_NOW, ApifyBusy),
    (_NOT_FOUND, ApifyNotFound),
    (_PASSING, ApifyUnavailable),
)
_STATUSES: Final[dict[int, type[ApifyError]]] = {
    401: ApifyAuthFailed,
    402: ApifyBilling,
    403: ApifyAuthFailed,
    404: ApifyNotFound,
    408: ApifyUnavailable,
    409: ApifyUnavailable,
    425: ApifyUnavailable,
    429: ApifyBusy,
}
_SERVER_ERRORS: Final = 500


def refusal(what: str, status: int, body: bytes, *, after: float | None = None) -> ApifyError:
    """The error that an answer means. `after` is the wait that it asks for."""
    kind, sentence = _type_and_message(body)
    message = f"Apify: {what} was answered with {status} {kind or 'and no type'}{sentence and ': '}{sentence}."
    return problem_of(_kind(status, kind, after), redact(message), status=status, kind=kind, body=body, after=after)


def unreadable(what: str, status: int, body: bytes) -> ApifyError:
    """The error of an answer that is not what the documentation says."""
    return problem_of(ApifyUnavailable, f"Apify: {what} has an answer that cannot be read.", status=status, body=body)


def problem_of(  # noqa: PLR0913  the facts of an answer, each with a name
    error: type[ApifyError],
    message: str,
    *,
    status: int | None = None,
    kind: str = "",
    body: bytes = b"",
    after: float | None = None,
) -> ApifyError:
    """An error of this class, with its facts as fields."""
    problem = run_error(error, message, after=after, busy_seconds=BUSY_SECONDS)
    problem.status_code, problem.kind = status, kind
    problem.body = redact(body[: 2 * SHOWN_BODY_CHARS].decode("utf-8", "replace"))[:SHOWN_BODY_CHARS]
    return problem


def _kind(status: int, kind: str, after: float | None) -> type[ApifyError]:
    for kinds, error in _KINDS:
        if kind in kinds:
            return error
    if status == FORBIDDEN and not refuses_credential(status, after):
        return ApifyBusy
    return _STATUSES.get(status, ApifyUnavailable if status >= _SERVER_ERRORS else ApifyRefused)


def _type_and_message(body: bytes) -> tuple[str, str]:
    """The type and the message of an answer; empty where it is not in Apify's form."""
    try:
        error: Any = json.loads(body)["error"]
        return str(error.get("type", "")), str(error.get("message", "")).rstrip(".")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "", ""
