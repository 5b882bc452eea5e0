"""What a request may take: room, size, depth, time, and how often. What is beyond is refused before a route sees it."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request

from haulwright.api.kit.headers import header_of
from haulwright.api.kit.problems import CODE_OF, Unauthenticated, problem, problem_of, request_id_of
from haulwright.errors import HaulwrightError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from haulwright.settings import Settings

BODY: Final = "body"
"""Where the state of a request has its whole body, if that is JSON."""
DEEPEST_JSON: Final = 64
MOST_BUCKETS: Final = 10_000
STREAM_METHOD: Final = "GET"
STREAM_TYPE: Final = b"text/event-stream"
_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_BRACKETS: Final = b"[]{}"
_OTHERS: Final = bytes(byte for byte in range(256) if byte not in _BRACKETS)
_JSON: Final = re.compile(r"application/(?:[\w.-]+\+)?json\s*(?:;.*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ApiLimits:
    """The figures of one server."""

    body_bytes: int = 1 << 20
    body_seconds: float = 30.0
    """What a client gets to send its body; for an upload, each piece of it."""
    in_flight: int = 256
    rate_per_minute: float = 6000
    failures_per_minute: float = 60
    """Requests of one address that nobody is known by."""

    @classmethod
    def of(cls, settings: Settings) -> ApiLimits:
        """As the settings say."""
        return cls(
            body_bytes=int(settings["web_max_body_bytes"]),
            in_flight=int(settings["web_max_in_flight"]),
            rate_per_minute=float(settings["web_rate_per_minute"]),
        )


@dataclass(frozen=True, slots=True)
class UploadRoute:
    """A route that takes a body of another kind, and a larger one. It reads the body as a stream."""

    method: str
    path: re.Pattern[str]
    most_bytes: int
    is_open: bool = False
    """Its route proves by itself who calls: a form by which somebody logs in is sent by nobody known."""


class TokenBuckets:
    """So many of a kind in a minute for each key, all of them at once if need be. In the memory of this process."""

    def __init__(self, rate_per_minute: float) -> None:
        self._rate = rate_per_minute
        self._buckets: OrderedDict[object, tuple[float, float]] = OrderedDict()

    def take(self, key: object) -> float:
        """Take one; returns 0, or after how many seconds there will be one."""
        if not self._rate:
            return 0.0
        now = time.monotonic()
        level, at = self._buckets.pop(key, (self._rate, now))
        level = min(self._rate, level + (now - at) * self._rate / 60)
        is_full = level < 1
        self._buckets[key] = (level if is_full else level - 1, now)
        if len(self._buckets) > MOST_BUCKETS:
            self._buckets.popitem(last=False)
        return (1 - level) * 60 / self._rate if is_full else 0.0


class RequestRoom:
    """Answers so many requests at once, and sends the others away for a moment. A stream gives its place free."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most
        self._count = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on where there is room."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._count >= self._most:
            detail = "More requests are being answered than there is room for."
            await _refuse(HTTPStatus.SERVICE_UNAVAILABLE, "busy", detail, "Try again.", {"Retry-After": "1"})(
                scope, receive, send
            )
            return
        holds_place = True
        self._count += 1

        async def watch(message: Message) -> None:
            nonlocal holds_place
            if message["type"] == "http.response.start" and holds_place and _is_stream(message):
                holds_place = False
                self._count -= 1
            await send(message)

        try:
            await self._app(scope, receive, watch if scope["method"] == STREAM_METHOD else send)
        finally:
            self._count -= holds_place


class BodyLimits:
    """Reads the body of a request, within its limits, once it is known who sends it."""

    def __init__(
        self,
        app: ASGIApp,
        limits: ApiLimits,
        identify: Callable[[Request], Awaitable[object]],
        uploads: Sequence[UploadRoute],
    ) -> None:
        self._app = app
        self._limits = limits
        self._identify = identify
        self._uploads = uploads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its body, or refuse it."""
        if scope["type"] != "http" or not _has_body(scope):
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        upload = next((route for route in self._uploads if _fits(route, scope)), None)
        most = self._limits.body_bytes if upload is None else upload.most_bytes
        try:
            if int(header_of(scope, b"content-length") or 0) > most:
                raise _too_large(most)
            is_open = upload is not None and upload.is_open
            if not is_open and await self._identify(request) is None:
                raise Unauthenticated
            if upload is not None:
                read = _counted(receive, most, self._limits.body_seconds)
            else:
                _require_json(header_of(scope, b"content-type") or "")
                body = await self._read(receive, most)
                scope.setdefault("state", {})[BODY] = body
                read = _replayed(body, receive)
        except HaulwrightError as error:
            await problem_of(error, request_id_of(request))(scope, receive, send)
        except HTTPException as error:
            await _refusal_of(error)(scope, receive, send)
        except _ClientLeft:
            return
        else:
            await self._app(scope, read, send)

    async def _read(self, receive: Receive, most: int) -> bytes:
        """The whole body."""
        pieces, size, is_more = [], 0, True
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                while is_more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise _ClientLeft
                    pieces.append(message.get("body", b""))
                    size += len(pieces[-1])
                    is_more = message.get("more_body", False)
                    if size > most:
                        raise _too_large(most, close=is_more)
        except TimeoutError:
            raise _too_slow(self._limits.body_seconds) from None
        body = b"".join(pieces)
        if json.detect_encoding(body) not in {"utf-8", "utf-8-sig"}:  # as who reads it would; its depth is not counted
            raise HTTPException(HTTPStatus.BAD_REQUEST, "The body is no JSON in UTF-8.")
        if is_too_deep(body):
            status, detail = HTTPStatus.UNPROCESSABLE_ENTITY, f"The JSON is nested deeper than {DEEPEST_JSON} levels."
            raise HTTPException(status, detail)
        return body


def is_too_deep(body: bytes, most: int = DEEPEST_JSON) -> bool:
    """Whether JSON is nested deeper than that. What is no JSON is left to who reads it, unless it opens so many."""
    if body.count(b"[") + body.count(b"{") <= most:
        return False
    depth = 0
    for bracket in _STRING.sub(b"", body).translate(None, _OTHERS):
        depth += 1 if bracket in b"[{" else -1
        if depth > most:
            return True
    return False


class _ClientLeft(Exception):
    """The client closed the connection before its body was complete: there is nobody to answer."""


def _counted(receive: Receive, most: int, seconds: float) -> Receive:
    """The body as it comes, until it is too large or too slow."""
    size = 0

    async def read() -> Message:
        nonlocal size
        try:
            async with asyncio.timeout(seconds):
                message = await receive()
        except TimeoutError:
            raise _too_slow(seconds) from None
        size += len(message.get("body", b""))
        if size > most:
            raise _too_large(most, close=True)
        return message

    return read


def _replayed(body: bytes, receive: Receive) -> Receive:
    is_read = False

    async def read() -> Message:
        nonlocal is_read
        if is_read:
            return await receive()
        is_read = True
        return {"type": "http.request", "body": body, "more_body": False}

    return read


def _require_json(content_type: str) -> None:
    if content_type != "application/json" and not _JSON.fullmatch(content_type):
        detail = "The body of a request is JSON, and its Content-Type says so: application/json."
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, detail)


def _has_body(scope: Scope) -> bool:
    return header_of(scope, b"content-length") not in {None, "0"} or header_of(scope, b"transfer-encoding") is not None


def _fits(route: UploadRoute, scope: Scope) -> bool:
    path = str(scope["path"]).removeprefix(str(scope.get("root_path", "")))
    return route.method == scope["method"] and route.path.match(path) is not None


def _is_stream(message: Message) -> bool:
    return any(name.lower() == b"content-type" and value.startswith(STREAM_TYPE) for name, value in message["headers"])


def _too_large(most: int, *, close: bool = False) -> HTTPException:
    headers = {"Connection": "close"} if close else None
    return HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"The body is larger than {most:,} bytes.", headers)


def _too_slow(seconds: float) -> HTTPException:
    detail = f"The body did not come within {seconds:g} s."
    return HTTPException(HTTPStatus.REQUEST_TIMEOUT, detail, {"Connection": "close"})


def _refusal_of(error: HTTPException) -> ASGIApp:
    status = HTTPStatus(error.status_code)
    return _refuse(status, CODE_OF[status], error.detail, "Nothing was done.", dict(error.headers or {}))


def _refuse(status: HTTPStatus, code: str, detail: str, hint: str, headers: dict[str, str]) -> ASGIApp:
    """Whoever answers with a problem."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        request_id = request_id_of(Request(scope))
        await problem(status, code, detail, hint=hint, request_id=request_id, headers=headers)(scope, receive, send)

    return answer
