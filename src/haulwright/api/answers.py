"""What every answer passes on its way out: the headers that browsers obey, and the line in the log."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any, Final

from starlette.requests import Request

from haulwright.api.kit.problems import fault_problem
from haulwright.api.reception import IDENTITY

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
PROBES: Final = ("/healthz", "/readyz", "/metrics")
"""Asked every few seconds by machines; told to whoever looks closely."""
NO_ANSWER: Final = 499
"""The status in the log where the client left before there was one."""


class SecurityHeaders:
    """Adds the headers that every answer has."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer back with the headers."""

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = {name.lower() for name, _ in message["headers"]}
                missing = [(name, value) for name, value in HEADERS.items() if name not in there]
                message["headers"] = [*message["headers"], *missing]
            await send(message)

        await self._app(scope, receive, answer)


class FaultAnswers:
    """Answers what nobody foresaw with a problem, within the layers that every answer passes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on. Where its answer has begun already, the connection is all that can be ended."""
        has_begun = False

        async def answer(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, answer)
        except Exception as error:
            if scope["type"] != "http" or has_begun:
                raise
            await (fault_problem(Request(scope), error))(scope, receive, send)


class AccessLog:
    """Writes a line for each request: what was asked, by whom, and what became of it. Queries are left out."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and tell of it when it is answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), NO_ANSWER

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, answer)
        finally:
            _write(scope, status, time.perf_counter() - began)


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
    present = {name: value for name, value in facts.items() if value not in {None, ""}}
    log.log(level, "%s %s", scope["method"], scope["path"], extra={"facts": present})
