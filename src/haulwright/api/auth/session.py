"""A way in for the person at this machine: a link that works once, and the session that it opens.

It is there where nobody could come in with a token, and then the server listens for this machine alone. A page of
another address may have its own name point here: so a request must have been made for an address of this machine.
"""

from __future__ import annotations

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

from haulwright.api.auth.browser_sessions import SESSION_SECONDS, BrowserSessions, set_session_cookie
from haulwright.api.auth.identity import CallerIdentity
from haulwright.api.kit.problems import Unauthenticated, problem, request_id_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

OPEN_PATH: Final = "/open"


class LocalSessions:
    """The way in of the person at this machine. The link and what it opened end with this process."""

    def __init__(self, user: str, secret: str | None = None) -> None:
        """With the secret of a session this process goes on with it: it is the next one of several, one at a time."""
        self._identity = CallerIdentity(f"local:{user}", "admin", is_browser=True)
        self._ticket: str | None = secrets.token_urlsafe(32)
        self._until = time.monotonic() + SESSION_SECONDS
        self.browsers = BrowserSessions()
        self._secret = None if secret is None else self.browsers.open(self._prove, secret)

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
        return self.browsers.open(self._prove, self._secret)

    async def _prove(self) -> CallerIdentity:
        return self._identity

    async def open(self, request: Request) -> Response:
        """Open a session for whoever follows the link, and go on to the first page."""
        session = self.exchange(request.query_params.get("ticket", ""))
        root = str(request.scope.get("root_path", ""))
        answer = RedirectResponse(f"{root}{_first_page(request)}", HTTPStatus.SEE_OTHER)
        set_session_cookie(request, answer, session)
        return answer


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


def _first_page(request: Request) -> str:
    if request.app.state.first_page is not None:
        return str(request.app.state.first_page)
    paths = set(request.app.openapi()["paths"])
    return next((path for path in ("/api/v1/overview", "/api/v1/jobs") if path in paths), "/")
