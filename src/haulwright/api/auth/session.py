"""A way in for the person at this machine: a link that works once, and the session that it opens.

It is there where nobody could come in with a token, and then the server listens for this machine alone. A browser sends
the cookie of a session by itself, wherever a request comes from. So two things are asked beside it: that the request
was made for an address of this machine, and that what changes something comes from a page of ours.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import time
from collections.abc import Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from haulwright.api.auth.identity import CallerIdentity
from haulwright.api.kit.problems import Unauthenticated, problem, request_id_of
from haulwright.errors import Forbidden

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

OPEN_PATH: Final = "/open"
SESSION_SECONDS: Final = 12 * 3600
SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
OWN_SITES: Final = frozenset({"same-origin", "none"})
"""What a browser says of a request from a page of this very address, or from nobody's page."""


class LocalSessions:
    """The sessions of this process. They are nowhere else, and end with it."""

    def __init__(self, user: str) -> None:
        self._identity = CallerIdentity(f"local:{user}", "admin", is_browser=True)
        self._ticket: str | None = secrets.token_urlsafe(32)
        self._until = time.monotonic() + SESSION_SECONDS
        self._sessions: dict[str, float] = {}

    @property
    def link(self) -> str:
        """The path that opens a session, once."""
        return f"{OPEN_PATH}?ticket={self._ticket}"

    def exchange(self, ticket: str) -> str:
        """A session for the ticket, which is used up by this."""
        if (
            self._ticket is None
            or time.monotonic() > self._until
            or not hmac.compare_digest(ticket.encode(), self._ticket.encode())
        ):
            raise Unauthenticated("the link was used before, or is none of this process")
        self._ticket = None
        session = secrets.token_urlsafe(32)
        self._sessions[_digest(session)] = time.monotonic() + SESSION_SECONDS
        return session

    def identify(self, request: Request) -> CallerIdentity | None:
        """Whose session a request shows; None where it shows none. What changes something must be meant."""
        session = request.cookies.get(cookie_name(request.scope))
        if session is None:
            return None
        if self._sessions.get(_digest(session), 0.0) < time.monotonic():
            raise Unauthenticated("its session has ended, or was one of another process")
        if request.method not in SAFE_METHODS and not _comes_from_here(request):
            hint = "Use a page of this server; a program sends a token: haulwright token create."
            raise Forbidden("A page of another address may change nothing here.", hint=hint)
        return self._identity

    async def open(self, request: Request) -> Response:
        """Open a session for whoever follows the link, and go on to the first page."""
        session = self.exchange(request.query_params.get("ticket", ""))
        root = str(request.scope.get("root_path", ""))
        answer = RedirectResponse(f"{root}{_first_page(request)}", HTTPStatus.SEE_OTHER)
        answer.set_cookie(
            cookie_name(request.scope),
            session,
            max_age=SESSION_SECONDS,
            path=root or "/",
            httponly=True,
            samesite="strict",
        )
        return answer


def cookie_name(scope: Scope) -> str:
    """The cookie of this server: browsers do not tell the ports of one machine apart."""
    return f"haulwright_{(scope.get('server') or ('', 0))[1]}"


class LoopbackHosts:
    """Refuses what was sent to another name than those of this machine: a page elsewhere may have it point here."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on where its host is this machine."""
        if scope["type"] != "http" or is_loopback(_host_of(Headers(scope=scope).getlist("host"))):
            await self._app(scope, receive, send)
            return
        detail = "This server answers for this machine alone, and the request was sent to another name."
        hint = "Open it as http://127.0.0.1 or http://localhost, with its port."
        request_id = request_id_of(Request(scope))
        answer = problem(HTTPStatus.MISDIRECTED_REQUEST, "misdirected", detail, hint=hint, request_id=request_id)
        await answer(scope, receive, send)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _host_of(headers: Sequence[str]) -> str:
    """The name in the Host header, without its port; empty where there is not exactly one."""
    if len(headers) != 1:
        return ""
    if headers[0].startswith("["):
        return headers[0][1:].partition("]")[0]
    return headers[0].partition(":")[0].lower()


def _comes_from_here(request: Request) -> bool:
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in OWN_SITES
    return request.headers.get("origin") == f"{request.url.scheme}://{request.headers.get('host')}"


def _first_page(request: Request) -> str:
    paths = set(request.app.openapi()["paths"])
    return next((path for path in ("/api/v1/overview", "/api/v1/jobs") if path in paths), "/")


def _digest(session: str) -> str:
    return hashlib.sha256(session.encode()).hexdigest()
