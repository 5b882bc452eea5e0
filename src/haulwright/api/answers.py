"""What every answer passes on its way out: its id, the headers that browsers obey, and the line in the log."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from starlette.requests import Request

from haulwright.api.kit.problems import fault_problem
from haulwright.api.reception import IDENTITY
from haulwright.engine.ids import new_id

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger("haulwright.api")

HEADERS: Final = {
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
    b"cross-origin-resource-policy": b"same-origin",
    b"cache-control": b"no-store",
}
"""What an answer has where its route says nothing else: it is data of somebody, for programs."""
ID_HEADER: Final = b"x-request-id"
_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,100}")
PROBES: Final = ("/healthz", "/readyz", "/metrics")
"""Asked every few seconds by machines; told to whoever looks closely."""
NO_ANSWER: Final = 499
"""The status in the log where the client left before there was one."""


class OuterLayer:
    """What a request passes first and its answer last: one layer for all of it, since each takes its time.

    A request gets an id, which its answer, its problems, its events and its lines in the log carry; one that a proxy
    gave is kept, where it looks like one. Its answer gets the headers that every answer has. What nobody foresaw is
    answered with a problem. The log gets a line: what was asked, by whom, and what became of it; queries are left out.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on. Where its answer has begun when something fails, only the connection can be ended."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id_of(scope["headers"])
        scope.setdefault("state", {})["request_id"] = request_id.decode()
        began, status = time.perf_counter(), NO_ANSWER

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = complete_headers(message["headers"], request_id)
            await send(message)

        try:
            await self._app(scope, receive, answer)
        except Exception as error:
            if status != NO_ANSWER:
                raise
            await (fault_problem(Request(scope), error))(scope, receive, answer)
        finally:
            _write(scope, status, time.perf_counter() - began)


def _request_id_of(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    for name, value in headers:
        if name == ID_HEADER:
            return value if _ID.fullmatch(value) else new_id().encode()
    return new_id().encode()


def complete_headers(headers: Iterable[tuple[bytes, bytes]], request_id: bytes) -> list[tuple[bytes, bytes]]:
    """The headers of an answer with those that every answer has."""
    return [*headers, *_missing_headers(headers), (ID_HEADER, request_id)]


def _missing_headers(headers: Iterable[tuple[bytes, bytes]]) -> Iterable[tuple[bytes, bytes]]:
    """The headers of every answer that this one does not have."""
    there = [lower for name, _ in headers if (lower := name.lower()) in HEADERS]
    return [(name, value) for name, value in HEADERS.items() if name not in there] if there else HEADERS.items()


def _write(scope: Scope, status: int, seconds: float) -> None:
    level = logging.DEBUG if str(scope["path"]).endswith(PROBES) else logging.INFO
    if not log.isEnabledFor(level):
        return
    state: dict[str, Any] = scope.get("state", {})
    identity = state.get(IDENTITY)
    facts = {
        "status": status,
        "ms": round(seconds * 1000, 1),
        "actor": f"{identity.role}:{identity.name}" if identity is not None else "nobody",
        "tenant": identity.tenant if identity is not None else None,
        "address": (scope.get("client") or ("", 0))[0],
        "request": state.get("request_id", ""),
    }
    write_line((scope["method"], scope["path"]), facts, level)


def write_line(words: tuple[str, str], facts: Mapping[str, Any], level: int = logging.INFO) -> None:
    """A line about a request: two words, and what became of it."""
    if not log.isEnabledFor(level):
        return
    present = {name: value for name, value in facts.items() if value not in {None, ""}}
    # Not by `log.log`, which looks through the stack for the line of code that nobody shows.
    log.handle(log.makeRecord(log.name, level, __file__, 0, "%s %s", words, None, extra={"facts": present}))
