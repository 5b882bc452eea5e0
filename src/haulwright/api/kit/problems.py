"""Problems: what every refused or failed request is answered (RFC 9457), with the stable codes of our errors.

A problem says what happened, where, and what to do next. It never carries a secret, a path of the server or a stack.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, NotRequired

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route
from typing_extensions import TypedDict

from haulwright.errors import (
    Conflict,
    DatabaseProblem,
    Forbidden,
    HaulwrightError,
    NotFound,
    Refused,
)
from haulwright.operations.principal import TenantRequired
from haulwright.redaction import redact

log = logging.getLogger("haulwright.api")

MEDIA_TYPE: Final = "application/problem+json"
RETRY_AFTER_SECONDS: Final = 5
LONGEST_INPUT_CHARS: Final = 200
LONGEST_TEXT_CHARS: Final = 1000
"""Of what a problem says: it may repeat what was sent, which may be a megabyte."""
STATUS_OF: Final[Sequence[tuple[type[HaulwrightError], HTTPStatus]]] = (
    (NotFound, HTTPStatus.NOT_FOUND),
    (Forbidden, HTTPStatus.FORBIDDEN),
    (Conflict, HTTPStatus.CONFLICT),
    (Refused, HTTPStatus.UNPROCESSABLE_ENTITY),
    (DatabaseProblem, HTTPStatus.SERVICE_UNAVAILABLE),
)
"""The first that fits. What is in none of them is a fault of ours."""
CODE_OF: Final = {
    HTTPStatus.BAD_REQUEST: "bad_request",
    HTTPStatus.NOT_FOUND: "not_found",
    HTTPStatus.METHOD_NOT_ALLOWED: "method_not_allowed",
    HTTPStatus.REQUEST_TIMEOUT: "too_slow",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "too_large",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "unsupported_media_type",
    HTTPStatus.UNPROCESSABLE_ENTITY: "invalid_request",
}
NAME_TENANT: Final = "Name the tenant for whom you act in the header Haulwright-Tenant."
ADDRESSES: Final = "Every address and its methods are in /api/v1/openapi.json."
FAULT: Final = "This was not foreseen, and is in the log of the server under the id of this request."


class InvalidPart(TypedDict):
    """One place of a request that cannot be right."""

    where: str
    """A path, such as `body.args.sku` or `query.limit`."""
    why: str


class ProblemView(TypedDict):
    """A problem, as RFC 9457 has it."""

    type: str
    title: str
    status: int
    code: str
    """Stable: programs compare it."""
    detail: str
    hint: str
    """What to do next; may be empty."""
    request_id: str
    errors: NotRequired[list[InvalidPart]]
    """What is wrong with the request, place by place."""


class Unauthenticated(HaulwrightError):
    """Nobody is known by what the request shows. Why, is in the log of the server alone."""

    def __init__(self, reason: str = "") -> None:
        hint = "Send 'Bearer TOKEN' in the header Authorization, with a token that is valid now."
        super().__init__("The request does not say who sends it, or in a way that cannot be verified.", hint=hint)
        self.reason = reason
        """For the log alone."""


class TooManyRequests(HaulwrightError):
    """More than is allowed in a time."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message, hint=f"Wait {retry_after:.0f} s.")
        self.retry_after = retry_after


def problem(  # noqa: PLR0913 - the members of a problem, each with a name
    status: HTTPStatus,
    code: str,
    detail: str,
    *,
    hint: str = "",
    request_id: str = "",
    errors: list[InvalidPart] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A problem as an answer."""
    document: ProblemView = {
        "type": f"urn:haulwright:problem:{code}",
        "title": status.phrase,
        "status": status.value,
        "code": code,
        "detail": _clipped(redact(detail)),
        "hint": _clipped(redact(hint)),
        "request_id": request_id,
    }
    if errors is not None:
        document["errors"] = errors
    return Response(json.dumps(document), status, dict(headers or {}), MEDIA_TYPE)


def _clipped(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT_CHARS else f"{text[:LONGEST_TEXT_CHARS]}..."


def problem_of(error: HaulwrightError, request_id: str) -> Response:
    """The problem that an error of ours is."""
    if isinstance(error, Unauthenticated):
        headers = {"WWW-Authenticate": "Bearer"}
        return problem(
            HTTPStatus.UNAUTHORIZED, error.code, error.message, hint=error.hint, request_id=request_id, headers=headers
        )
    if isinstance(error, TooManyRequests):
        headers = {"Retry-After": str(max(1, round(error.retry_after)))}
        too_many = HTTPStatus.TOO_MANY_REQUESTS
        return problem(too_many, error.code, error.message, hint=error.hint, request_id=request_id, headers=headers)
    status = next((status for kind, status in STATUS_OF if isinstance(error, kind)), None)
    if status is None:
        log.error("request %s: %s", request_id, redact(str(error)), exc_info=error)
        return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "unexpected", FAULT, request_id=request_id)
    if status is HTTPStatus.SERVICE_UNAVAILABLE:
        log.warning("request %s: %s", request_id, redact(str(error)))
        detail = "The database cannot be used just now; nothing is known to be written."
        headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}
        hint = "Try again later, with the same Idempotency-Key where there was one."
        return problem(status, error.code, detail, hint=hint, request_id=request_id, headers=headers)
    hint = NAME_TENANT if isinstance(error, TenantRequired) else error.hint
    return problem(status, error.code, error.message, hint=hint, request_id=request_id)


def add_handlers(api: FastAPI) -> None:
    """Have every error of an API answered with a problem."""
    for kind, answer in HANDLERS.items():
        api.add_exception_handler(kind, answer)


async def problem_for(request: Request, error: Exception) -> Response:
    """The problem of an error for which there is one; of any other it is raised again."""
    for kind, answer in HANDLERS.items():
        if isinstance(error, kind):
            return await answer(request, error)
    raise error


async def _of_ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, HaulwrightError)  # noqa: S101 - registered for these alone
    return problem_of(error, request_id_of(request))


async def _of_validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - as above
    parts = [_invalid_part(part) for part in error.errors()]
    detail = f"The request cannot be right: {parts[0]['where']}: {parts[0]['why']}." if parts else "It cannot be right."
    return problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "invalid_request",
        detail,
        hint="Nothing was done. The document of this API, openapi.json, says what each route takes.",
        request_id=request_id_of(request),
        errors=parts,
    )


def _invalid_part(part: Mapping[str, Any]) -> InvalidPart:
    where, why = ".".join(map(str, part["loc"])), str(part["msg"])
    if part["type"] == "json_invalid":
        where, why = "body", f"it is no JSON: {part['ctx']['error']} at character {part['loc'][-1]}"
    return {"where": where, "why": redact(why)[:LONGEST_INPUT_CHARS]}


async def _of_framework(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - as above
    status = HTTPStatus(error.status_code)
    code = CODE_OF.get(status, "refused")
    detail = {
        HTTPStatus.NOT_FOUND: "There is nothing at this address.",
        HTTPStatus.METHOD_NOT_ALLOWED: "This address does not take that method.",
        HTTPStatus.BAD_REQUEST: "The body cannot be read: it is no JSON in UTF-8, is cut off, or is nested too deeply.",
    }.get(status, str(error.detail))
    is_lost = status in {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED}
    hint = ADDRESSES if is_lost else ""
    headers = {"Allow": _methods_at(request)} if status is HTTPStatus.METHOD_NOT_ALLOWED else error.headers
    return problem(status, code, detail, hint=hint, request_id=request_id_of(request), headers=headers)


def _methods_at(request: Request) -> str:
    """Every method that an address takes: each has a route of its own here, and the framework names those of one."""
    routes = [route for route in request.app.routes if isinstance(route, Route)]
    matching = [route for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    return ", ".join(sorted({method for route in matching for method in route.methods or ()}))


HANDLERS: Final[Mapping[type[Exception], Callable[[Request, Exception], Awaitable[Response]]]] = {
    HaulwrightError: _of_ours,
    RequestValidationError: _of_validation,
    HTTPException: _of_framework,
}


def fault_problem(request: Request, error: Exception) -> Response:
    """The problem of what nobody foresaw; the log has the rest."""
    request_id = request_id_of(request)
    log.error("request %s failed", request_id, exc_info=error)
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "unexpected", FAULT, request_id=request_id)


def request_id_of(request: Request) -> str:
    """The id of a request, given by the outermost layer."""
    return str(request.scope.get("state", {}).get("request_id", ""))


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Problems for the API's own document."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": HTTPStatus(status).phrase, "content": content} for status in statuses}
