"""How an endpoint is declared and run: in a thread, in the scope of its caller, and once where it has a key.

routes = ApiRoutes("jobs", prefix="/jobs")

@routes.get("/{job_id}", JobView, etag=True)
def show(call: Caller, job_id: JobId) -> JobView:
return job_view(call.operations.jobs.get(job_id))
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from http import HTTPStatus
from typing import Any, Final, TypeVar, get_type_hints

from fastapi import APIRouter, Response, params

from haulwright.api.kit.call import ApiCall
from haulwright.api.kit.problems import request_id_of, responses
from haulwright.operations.requests import KeptAnswer, answer_request, look

F = TypeVar("F", bound=Callable[..., Any])

ALWAYS: Final = (401, 403, 422, 429, 503)
"""What every route may answer beside what it is for."""
_LAST_EVENT_ID: Final = {
    "name": "Last-Event-ID",
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": "The last `id` that was received; a browser sends it by itself when it comes again.",
}


@dataclass(frozen=True, slots=True)
class ApiReply:
    """A view with another status than 200, or with headers of its own."""

    view: Any
    status: int = HTTPStatus.OK
    headers: Mapping[str, str] = field(default_factory=dict)


class ApiRoutes:
    """ApiRoutes of one noun. Paths are below the prefix of the API."""

    def __init__(self, noun: str, *, prefix: str = "") -> None:
        self.noun = noun
        self.router = APIRouter(prefix=prefix, tags=[noun])

    def get(self, path: str, view: Any, *, missing: bool = False, etag: bool = False) -> Callable[[F], F]:
        """Declare what looks. `missing` where it may be answered 404, `etag` where a caller may have it already."""
        return self._declare("GET", path, view, missing=missing, etag=etag)

    def stream(self, path: str, *, missing: bool = False) -> Callable[[F], F]:
        """Declare what goes on and on: the function gives the answer itself, which is server-sent events."""
        return self._declare_text(path, "text/event-stream", missing=missing, extra={"parameters": [_LAST_EVENT_ID]})

    def text(self, path: str, media_type: str) -> Callable[[F], F]:
        """Declare what is no JSON: the function gives the answer itself."""
        return self._declare_text(path, media_type.partition(";")[0])

    def _declare_text(
        self, path: str, media_type: str, *, missing: bool = False, extra: dict[str, Any] | None = None
    ) -> Callable[[F], F]:
        content: dict[int | str, dict[str, Any]] = {
            200: {"description": "Text", "content": {media_type: {"schema": {"type": "string"}}}}
        }

        def decorate(function: F) -> F:
            self.router.add_api_route(
                path,
                _signed(_text_endpoint(function), function),
                methods=["GET"],
                response_class=Response,
                summary=_summary(function),
                operation_id=self._operation_id(function),
                responses=responses(*sorted([*ALWAYS, *([404] if missing else [])])) | content,
                openapi_extra=extra,
            )
            return function

        return decorate

    def post(  # noqa: PLR0913 - what can be said of a route, each with a name
        self,
        path: str,
        view: Any,
        *,
        status: int = HTTPStatus.OK,
        missing: bool = False,
        conflict: bool = False,
        keyed: bool = False,
    ) -> Callable[[F], F]:
        """Declare what does something. `keyed` where it is done once for an Idempotency-Key: it does no I/O then."""
        return self._declare("POST", path, view, status=status, missing=missing, conflict=conflict, keyed=keyed)

    def put(self, path: str, view: Any, *, missing: bool = False, conflict: bool = False) -> Callable[[F], F]:
        """Declare what sets something to what the body says."""
        return self._declare("PUT", path, view, missing=missing, conflict=conflict)

    def delete(self, path: str, view: Any, *, missing: bool = True, conflict: bool = False) -> Callable[[F], F]:
        """Declare what takes something away."""
        return self._declare("DELETE", path, view, missing=missing, conflict=conflict)

    def _declare(  # noqa: PLR0913 - as above
        self,
        method: str,
        path: str,
        view: Any,
        *,
        status: int = HTTPStatus.OK,
        missing: bool = False,
        conflict: bool = False,
        keyed: bool = False,
        etag: bool = False,
    ) -> Callable[[F], F]:
        more = [*ALWAYS, *([404] if missing else []), *([409] if conflict or keyed else [])]
        answers = responses(*sorted(more)) | ({304: {"description": "Not Modified"}} if etag else {})

        def decorate(function: F) -> F:
            self.router.add_api_route(
                path,
                _endpoint(function, status=status, keyed=keyed, etag=etag),
                methods=[method],
                response_model=view,
                status_code=status,
                summary=_summary(function),
                operation_id=self._operation_id(function),
                responses=answers,
                openapi_extra=_key_parameter() if keyed else None,
            )
            return function

        return decorate

    def _operation_id(self, function: Callable[..., Any]) -> str:
        return f"{self.noun}_{function.__name__.strip('_')}".replace(" ", "_")


def _summary(function: Callable[..., Any]) -> str:
    return (function.__doc__ or function.__name__).strip().partition("\n")[0].rstrip(".")


def _text_endpoint(function: Callable[..., Response]) -> Callable[..., Response]:
    @wraps(function)
    def endpoint(**arguments: Any) -> Response:
        call: ApiCall = arguments["call"]
        request_id = request_id_of(call.request)
        return look(call.app, call.principal, lambda: function(**arguments), request_id=request_id)

    return endpoint


def _endpoint(function: Callable[..., Any], *, status: int, keyed: bool, etag: bool) -> Callable[..., Response]:
    @wraps(function)
    def endpoint(**arguments: Any) -> Response:
        call: ApiCall = arguments["call"]
        answer = answer_request(
            call.app,
            call.principal,
            lambda: _answer(function(**arguments), status),
            request_id=request_id_of(call.request),
            key=call.key if keyed else None,
        )
        return _response(call, answer, etag=etag)

    return _signed(endpoint, function)


def _signed(endpoint: Callable[..., Response], function: Callable[..., Any]) -> Callable[..., Response]:
    """An endpoint with the parameters of the function that it runs."""
    hints = get_type_hints(function, include_extras=True)
    signature = inspect.signature(function)
    parameters = [
        parameter.replace(annotation=hints[parameter.name], kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in signature.parameters.values()
    ]
    endpoint.__signature__ = signature.replace(parameters=parameters, return_annotation=Response)  # type: ignore[attr-defined]
    names = {name for name, hint in hints.items() if _is_query(hint)}
    endpoint.query_names = frozenset(names)  # type: ignore[attr-defined] # read by `call_of`
    return endpoint


def _answer(result: Any, status: int) -> KeptAnswer:
    reply = result if isinstance(result, ApiReply) else ApiReply(result, status)
    return KeptAnswer(reply.status, json.dumps(reply.view, separators=(",", ":")), reply.headers)


def _response(call: ApiCall, answer: KeptAnswer, *, etag: bool) -> Response:
    body = answer.body.encode()
    headers = dict(answer.headers)
    if etag:
        mark = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        headers["ETag"] = mark
        held = call.request.headers.get("if-none-match", "").split(",")
        if mark in {word.strip().removeprefix("W/") for word in held}:
            return Response(None, HTTPStatus.NOT_MODIFIED, headers)
    return Response(body, answer.status, headers, "application/json")


def _is_query(hint: Any) -> bool:
    return any(isinstance(mark, params.Query) for mark in getattr(hint, "__metadata__", ()))


def _key_parameter() -> dict[str, Any]:
    schema = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"}
    words = "The request is done once for this key; who repeats it within a day gets the same answer."
    return {
        "parameters": [
            {"name": "Idempotency-Key", "in": "header", "required": False, "schema": schema, "description": words}
        ]
    }
