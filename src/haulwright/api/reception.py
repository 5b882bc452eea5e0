"""The reception of the API: who sent a request, and whether there is room for it now."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from starlette.concurrency import run_in_threadpool

from haulwright.api.auth.browser_sessions import BrowserSessions
from haulwright.api.auth.host_login import HostLogin
from haulwright.api.auth.identity import Authenticator, CallerIdentity
from haulwright.api.kit.headers import headers_of
from haulwright.api.kit.problems import TooManyRequests, Unauthenticated, request_id_of
from haulwright.api.limits import ApiLimits, TokenBuckets
from haulwright.errors import DatabaseProblem, Forbidden
from haulwright.operations.strangers import Strangers
from haulwright.redaction import redact

if TYPE_CHECKING:
    from fastapi import Request

    from haulwright.client.app import Haulwright

log = logging.getLogger("haulwright.api")

LONGEST_CREDENTIAL_CHARS: Final = 16_384 + len("Bearer ")
IDENTITY: Final = "identity"
"""Where the state of a request has its caller, once that is known."""


class Reception:
    """What every request passes before its route sees it."""

    def __init__(
        self,
        app: Haulwright,
        authenticators: Sequence[Authenticator],
        *,
        limits: ApiLimits | None = None,
        sessions: BrowserSessions | None = None,
        host_login: HostLogin | None = None,
    ) -> None:
        limits = limits or ApiLimits()
        self.app = app
        self._authenticators = authenticators
        self.sessions = sessions or BrowserSessions()
        self.host_login = host_login
        self._requests = TokenBuckets(limits.rate_per_minute)
        self._failures = TokenBuckets(limits.failures_per_minute)
        self._strangers = Strangers(app)

    async def identify(self, request: Request) -> CallerIdentity | None:
        """Who sent it; None where nobody is known by what it shows. Why, is told in the log alone."""
        state = request.scope.setdefault("state", {})
        if IDENTITY not in state:
            try:
                state[IDENTITY] = await self._identify(request)
            except Unauthenticated as refusal:
                state[IDENTITY] = None
                log.warning("request %s is of nobody known: %s", request_id_of(request), redact(refusal.reason))
                await self._write_down(request, refusal.reason)
                self._count_failure(request)
            except Forbidden as refusal:
                await self._write_down(request, refusal.message)
                raise
        identity: CallerIdentity | None = state[IDENTITY]
        return identity

    async def log_in(self, request: Request, credential: str) -> str | None:
        """A session for whoever shows this token; None where it is none that is known, which counts as a failure."""
        prove = partial(self._prove, credential)
        try:
            await prove()
        except Unauthenticated as refusal:
            log.warning("request %s: nobody could log in: %s", request_id_of(request), redact(refusal.reason))
            await self._write_down(request, refusal.reason)
            self._count_failure(request)
            return None
        return self.sessions.open(prove)

    async def identify_again(self, request: Request) -> CallerIdentity | None:
        """The same for a request that goes on: what was known at its beginning may not hold any more."""
        request.scope.setdefault("state", {}).pop(IDENTITY, None)
        return await self.identify(request)

    async def _identify(self, request: Request) -> CallerIdentity:
        if "authorization" not in request.headers:
            identity = None if self.host_login is None else await self.host_login.identify(request)
            identity = identity or await self.sessions.identify(request)
            if identity is not None:
                return identity
        return await self._prove(_credential(request))

    async def _prove(self, credential: str) -> CallerIdentity:
        for authenticator in self._authenticators:
            identity = await authenticator.identify(credential)
            if identity is not None:
                return identity
        raise Unauthenticated("it shows no token of a kind that is known here")

    async def admit(self, request: Request, identity: CallerIdentity) -> None:  # noqa: ARG002 - for other limits
        """Refuse where a limit of this caller is reached."""
        wait = self._requests.take((identity.role, identity.tenant, identity.name))
        if wait:
            raise TooManyRequests("This caller has sent as many requests as it may.", wait)

    async def _write_down(self, request: Request, reason: str) -> None:
        """Leave an event of a refusal, now and then; one that cannot be written keeps nobody out or in."""
        count = self._strangers.note()
        if count:
            request_id = request_id_of(request)
            record = partial(self._strangers.record, reason, request_id=request_id, count=count)
            try:
                await run_in_threadpool(record)
            except DatabaseProblem as error:
                log.warning("request %s: its refusal could not be recorded: %s", request_id, redact(str(error)))

    def _count_failure(self, request: Request) -> None:
        """Refuse in another way where an address fails again and again.

        Who shows a valid token is let in even so: behind one address there may be many.
        """
        wait = self._failures.take(_address_of(request))
        if wait:
            raise TooManyRequests("Too many requests from here do not say who sends them.", wait)


def _address_of(request: Request) -> str:
    return request.client.host if request.client is not None else ""


def _credential(request: Request) -> str:
    """What a request shows, in the one header for it."""
    headers = headers_of(request.scope, b"authorization")
    if len(headers) != 1 or len(headers[0]) > LONGEST_CREDENTIAL_CHARS:
        raise Unauthenticated("it has no Authorization header, several, or one that is too long")
    scheme, _, credential = headers[0].partition(" ")
    if scheme.lower() != "bearer" or not credential:
        raise Unauthenticated("its Authorization header is no bearer token")
    return credential
