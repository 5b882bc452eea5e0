"""Sessions of people in browsers: a cookie that stands for a way to prove who somebody is, asked again at each request.

They are in the memory of this process and end with it. A browser sends the cookie by itself, wherever a request comes
from: what changes something must come from a page of ours.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from haulwright.api.auth.identity import CallerIdentity
from haulwright.api.kit.problems import Unauthenticated
from haulwright.errors import Forbidden

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import Scope

SESSION_SECONDS: Final = 12 * 3600
MOST_SESSIONS: Final = 10_000
SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
OWN_SITES: Final = frozenset({"same-origin", "none"})
"""What a browser says of a request from a page of this very address, or from nobody's page."""

Proof = Callable[[], Awaitable[CallerIdentity]]
"""Says who somebody is now, or raises: a token that was revoked meanwhile proves nothing any more."""


@dataclass(frozen=True, slots=True)
class _Session:
    prove: Proof
    until: float


class BrowserSessions:
    """The sessions of this process, the one that was used last kept longest."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, _Session] = OrderedDict()

    def open(self, prove: Proof, secret: str | None = None) -> str:
        """A new session: the secret that its cookie holds, which is made here unless it is given."""
        secret = secret or secrets.token_urlsafe(32)
        self._sessions[_digest(secret)] = _Session(prove, time.monotonic() + SESSION_SECONDS)
        if len(self._sessions) > MOST_SESSIONS:
            self._sessions.popitem(last=False)
        return secret

    def close(self, request: Request) -> None:
        """End the session that a request shows, if it shows one."""
        self._sessions.pop(_digest(request.cookies.get(cookie_name(request.scope), "")), None)

    async def identify(self, request: Request) -> CallerIdentity | None:
        """Whose session a request shows; None where it shows none. What changes something must be meant."""
        secret = request.cookies.get(cookie_name(request.scope))
        if secret is None:
            return None
        digest = _digest(secret)
        session = self._sessions.get(digest)
        if session is None or session.until < time.monotonic():
            self._sessions.pop(digest, None)
            raise Unauthenticated("its session has ended, or was one of another process")
        require_own_page(request)
        identity = await session.prove()
        if digest in self._sessions:  # it may have been closed meanwhile
            self._sessions.move_to_end(digest)
        return replace(identity, is_browser=True)


def set_session_cookie(request: Request, answer: Response, secret: str) -> None:
    """Give a browser its session. No script reads it, and no page of another address sends it."""
    answer.set_cookie(
        cookie_name(request.scope),
        secret,
        max_age=SESSION_SECONDS,
        path=str(request.scope.get("root_path", "")) or "/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def cookie_name(scope: Scope) -> str:
    """The cookie of this server: browsers do not tell the ports of one machine apart."""
    return f"haulwright_{(scope.get('server') or ('', 0))[1]}"


def require_own_page(request: Request) -> None:
    """Refuse a request that changes something and was not sent by a page of this address."""
    if request.method not in SAFE_METHODS and not _comes_from_here(request):
        hint = "Use a page of this server; a program sends a token: haulwright token create."
        raise Forbidden("A page of another address may change nothing here.", hint=hint)


def _comes_from_here(request: Request) -> bool:
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in OWN_SITES
    return request.headers.get("origin") == f"{request.url.scheme}://{request.headers.get('host')}"


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
