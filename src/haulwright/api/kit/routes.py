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
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from http import HTTPStatus
from typing import Any, Final, TypeVar, get_type_hints

from fastapi import APIRouter, Response, params
from fastapi.responses import JSONResponse

from haulwright.api.kit.call import ApiCall
from haulwright.api.kit.direct import body_model_of
from haulwright.api.kit.files import ApiFile, file_response
from haulwright.api.kit.problems import request_id_of, responses
from haulwright.api.kit.uploads import LARGEST_UPLOAD_BYTES
from haulwright.operations.requests import KeptAnswer, answer_request, look

F = TypeVar("F", bound=Callable[..., Any])

PREFIX: Final = "/api/v1"
BEFORE_ROUTE: Final = (400, 408, 431)
"""What may be answered to a head that is none, does not come in time, or is too large: no route has been looked for."""
ALWAYS: Final = (*BEFORE_ROUTE, 401, 403, 422, 429, 503)
WITH_BODY: Final = (413, 415)
"""What every route may answer beside what it is for, and beside it where it takes a body."""
JSON: Final = "application/json"
_JSON_TEXT: Final = json.JSONEncoder(separators=(",", ":"))
_LAST_EVENT_ID: Final = {
    "name": "Last-Event-ID",
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": "The last `id` that was received; a browser sends it by itself when it comes again.",
}


@dataclass(frozen=True, slots=True)
class ApiReply:
    """A view with another status than 200, with headers of its own, or a text of another media type than JSON."""

    view: Any
    status: int = HTTPStatus.OK
    headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str = JSON


Jointly = Callable[[ApiCall, Any], Awaitable[ApiReply | None]]


class ApiRoutes:
    """The routes of one noun. Paths are below the prefix of the API."""

    def __init__(self, noun: str, *, prefix: str = "", at_root: bool = False) -> None:
        self.noun = noun
        self.router = APIRouter(prefix=prefix if at_root else PREFIX + prefix, tags=[noun])
        self.uploads: list[tuple[str, str, int]] = []
        """Method, path and size of what takes a body that is no JSON, as a stream."""

    def get(
        self, path: str, view: Any, *, missing: bool = False, etag: bool = False, media_types: Sequence[str] = ()
    ) -> Callable[[F], F]:
        """Declare what looks. `missing` where it may be answered 404, `etag` where a caller may have it already.

        `media_types` are those that it may be answered in beside JSON; without a view, instead of it.
        """
        return self._declare("GET", path, view, missing=missing, etag=etag, media_types=media_types)

    def file(self, path: str) -> Callable[[F], F]:
        """Declare what gives a file out: the function returns an `ApiFile`, of which a caller may ask for a range."""
        content = {"*/*": {"schema": {"type": "string", "format": "binary"}}}
        answers: dict[int | str, dict[str, Any]] = {
            200: {"description": "The file", "content": content},
            206: {"description": "The part of it that was asked for", "content": content},
            304: {"description": "Not Modified"},
            **responses(*sorted([*ALWAYS, 404, 409, 416])),
        }

        def decorate(function: F) -> F:
            self.router.add_api_route(
                path, _file_endpoint(function), methods=["GET"], response_class=Response, responses=answers,
                summary=_summary(function), operation_id=self._operation_id(function),
            )  # fmt: skip
            return function

        return decorate

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
        jointly: Jointly | None = None,
        uploads: Sequence[str] = (),
        upload_bytes: int = LARGEST_UPLOAD_BYTES,
    ) -> Callable[[F], F]:
        """Declare what does something. `keyed` where it is done once for an Idempotency-Key: it does no I/O then.

        `jointly` does the same on the event loop with what others ask at the same time; None where that cannot be. It
        is for a route that takes its call and a body, and asked where there is no key.

        `uploads` are the media types of a body that is no JSON and may have `upload_bytes`: it is handed on as it
        comes, or taken whole by a parameter of the type `Upload`.
        """
        if uploads:
            self.uploads.append(("POST", self.router.prefix + path, upload_bytes))
        options: dict[str, Any] = {"missing": missing, "conflict": conflict, "keyed": keyed, "uploads": uploads}
        return self._declare("POST", path, view, status=status, jointly=jointly, **options)

    def put(self, path: str, view: Any, *, missing: bool = False, conflict: bool = False) -> Callable[[F], F]:
        """Declare what sets something to what the body says."""
        return self._declare("PUT", path, view, missing=missing, conflict=conflict)

    def patch(self, path: str, view: Any, *, missing: bool = True, conflict: bool = False) -> Callable[[F], F]:
        """Declare what changes what the body names, and leaves the rest as it is."""
        return self._declare("PATCH", path, view, missing=missing, conflict=conflict)

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
        jointly: Jointly | None = None,
        etag: bool = False,
        media_types: Sequence[str] = (),
        uploads: Sequence[str] = (),
    ) -> Callable[[F], F]:
        missing = missing or "{" in path  # what cannot be a part of an address, such as a line break, leads nowhere
        more = [
            *ALWAYS,
            *([] if method == "GET" else WITH_BODY),
            *([404] if missing else []),
            *([409] if conflict or keyed else []),
        ]
        answers = responses(*sorted(more)) | ({304: {"description": "Not Modified"}} if etag else {})
        if media_types:
            content = {media_type: {"schema": {"type": "string"}} for media_type in media_types}
            answers[status] = {"description": HTTPStatus(status).phrase, "content": content}

        def decorate(function: F) -> F:
            self.router.add_api_route(
                path,
                _endpoint(function, status=status, keyed=keyed, etag=etag, jointly=jointly),
                methods=[method],
                response_model=view,
                response_class=Response if view is None else JSONResponse,
                status_code=status,
                summary=_summary(function),
                operation_id=self._operation_id(function),
                responses=answers,
                openapi_extra=(_key_parameter() if keyed else {}) | (_upload_body(uploads) if uploads else {}),
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


def _endpoint(
    function: Callable[..., Any], *, status: int, keyed: bool, etag: bool, jointly: Jointly | None = None
) -> Callable[..., Response]:
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

    endpoint.jointly = None if jointly is None else _joint_endpoint(jointly, status)  # type: ignore[attr-defined] # read by `DirectRoutes`
    return _signed(endpoint, function)


def _joint_endpoint(jointly: Jointly, status: int) -> Callable[[ApiCall, Any], Awaitable[Response | None]]:
    async def endpoint(call: ApiCall, body: Any) -> Response | None:
        reply = await jointly(call, body)
        return None if reply is None else _response(call, _answer(reply, status), etag=False)

    return endpoint


def _file_endpoint(function: Callable[..., Any]) -> Callable[..., Response]:
    @wraps(function)
    def endpoint(**arguments: Any) -> Response:
        call: ApiCall = arguments["call"]
        request_id = request_id_of(call.request)
        file: ApiFile = look(call.app, call.principal, lambda: function(**arguments), request_id=request_id)
        return file_response(call.request, file)

    return _signed(endpoint, function)


def _signed(endpoint: Callable[..., Response], function: Callable[..., Any]) -> Callable[..., Response]:
    """An endpoint with the parameters of its function, as the framework reads them."""
    hints = get_type_hints(function, include_extras=True)
    signature = inspect.signature(function)
    parameters = [
        parameter.replace(annotation=hints[parameter.name], kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in signature.parameters.values()
    ]
    endpoint.__signature__ = signature.replace(parameters=parameters, return_annotation=Response)  # type: ignore[attr-defined]
    names = {name for name, hint in hints.items() if _is_query(hint)}
    endpoint.body_model = body_model_of(hints)  # type: ignore[attr-defined] # read by `DirectRoutes`
    endpoint.query_names = frozenset(names)  # type: ignore[attr-defined] # read by `call_of`
    return endpoint


def _answer(result: Any, status: int) -> KeptAnswer:
    reply = result if isinstance(result, ApiReply) else ApiReply(result, status)
    if reply.media_type != JSON:
        return KeptAnswer(reply.status, reply.view, {**reply.headers, "Content-Type": reply.media_type})
    return KeptAnswer(reply.status, _JSON_TEXT.encode(reply.view), reply.headers)


def _response(call: ApiCall, answer: KeptAnswer, *, etag: bool) -> Response:
    body = answer.body.encode()
    headers = dict(answer.headers)
    if etag:
        mark = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        headers["ETag"] = mark
        held = call.request.headers.get("if-none-match", "").split(",")
        if mark in {word.strip().removeprefix("W/") for word in held}:
            return Response(None, HTTPStatus.NOT_MODIFIED, headers)
    headers.setdefault("Content-Type", JSON)
    return Response(body, answer.status, headers)


def _is_query(hint: Any) -> bool:
    return any(isinstance(mark, params.Query) for mark in getattr(hint, "__metadata__", ()))


def _upload_body(media_types: Sequence[str]) -> dict[str, Any]:
    content = {media_type: {"schema": {"type": "string"}} for media_type in media_types}
    return {"requestBody": {"required": True, "content": content}}


def _key_parameter() -> dict[str, Any]:
    schema = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"}
    words = "The request is done once for this key; who repeats it within a day gets the same answer."
    return {
        "parameters": [
            {"name": "Idempotency-Key", "in": "header", "required": False, "schema": schema, "description": words}
        ]
    }
