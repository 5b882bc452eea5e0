"""The cache in front of the server: RFC 9111 with validators, and an explicit one that keeps a reply for a time.

A key is a hash that contains the scope, tenant and credential in the caller's words, so that nobody is served what was
answered to somebody else. A request that proves itself and names no scope is never kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

from haulwright.clock import SECOND, Clock, host_now
from haulwright.errors import HaulwrightError
from haulwright.sources.http import freshness
from haulwright.sources.http.behind import Renewals, Send
from haulwright.sources.http.cache_store import CacheEntry, CacheStore, NoCacheStore, RenewingStore
from haulwright.sources.http.classify import SUCCESSES, NotSent, OutcomeUnknown
from haulwright.sources.http.reply import CacheUse, Response
from haulwright.sources.http.request import Request
from haulwright.sources.http.single_flight import FlightResult, SingleFlight, arrival

KEY_VERSION: Final = 1
"""Part of every key; it grows when the rules below change what a key means."""
NOT_MODIFIED: Final = 304
_STANDS_IN_FOR: Final = frozenset({500, 502, 503, 504})
_REFUSALS: Final = range(400, 600)
_MISSING: Final = frozenset({404, 410})
_PARTIAL: Final = 206
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
_NOT_OF_THE_REQUEST: Final = frozenset({"accept-encoding", "user-agent"})


def key_of(*parts: object) -> str:
    """The key of a request: a hash over the canonical form of all that distinguishes it."""
    return hashlib.sha256(json.dumps([KEY_VERSION, *parts], sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Keeping:
    """How long a reply is kept whatever its headers say, and which."""

    seconds: float
    parser_version: str = ""
    missing: bool = False
    """Also that there is nothing."""

    def holds(self, status: int) -> bool:
        """Whether a reply with this status is kept."""
        return (status in SUCCESSES and status != _PARTIAL) or (self.missing and status in _MISSING)


class HttpCache:
    """Serves what is fresh, asks whether the rest still holds, and keeps what may be kept."""

    def __init__(self, store: CacheStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._flights = SingleFlight()

    @property
    def is_off(self) -> bool:
        """Whether nothing is kept at all."""
        return isinstance(self._store, NoCacheStore)

    def now(self) -> float:
        """The time, in seconds since 1970."""
        return (self._clock.now() or host_now()) / SECOND

    async def fetch(  # noqa: PLR0913 - how an answer may be had, each with a name
        self,
        request: Request,
        send: Send,
        *,
        scope: str | None,
        revalidate: bool,
        own_validators: bool = False,
        renewals: Renewals | None = None,
    ) -> Response:
        """Return the answer to a request: a fresh one that is kept, or the server's."""
        if (
            self.is_off
            or (request.proven and scope is None)
            or not freshness.may_look_up(request.method, request.headers)
        ):
            response = await send(request)
            await self._invalidate(request, response, scope)
            return response
        key, stored = await self._find(request, scope)
        if stored and not revalidate and freshness.is_fresh(stored, request.headers, self.now()):
            return _served(stored, "hit", self.now())
        if stored and not revalidate and renewals and await self._is_renewed(request, scope, key, stored, renewals):
            return _served(stored, "stale", self.now())
        flight_key = key_of(
            "flight", request.method, request.address.url, scope, sorted(request.headers.items()), revalidate
        )

        async def ask_server() -> tuple[Response, CacheEntry | None]:
            response, requested_at, entry = await self._ask_server(request, send, key, stored)
            if entry is None and not (own_validators and not stored and freshness.validators(response.headers)):
                entry = await self._keep(request, scope, key if stored else None, response, requested_at)
            return response, entry

        return await self._together(flight_key, ask_server, request, send)

    async def fetch_for(self, request: Request, send: Send, *, scope: str | None, keeping: Keeping) -> Response:
        """Return the reply to this very request, body included, that is not too old to be kept."""
        if self.is_off:
            return await send(request)
        headers = sorted((k, v) for k, v in request.headers.items() if k not in _NOT_OF_THE_REQUEST)
        body = hashlib.sha256(request.body).hexdigest()
        key = key_of("ttl", request.method, request.address.url, headers, body, keeping.parser_version, scope)
        stored = await self._store.load(key)
        if stored and self.now() - stored.answered_at < keeping.seconds:
            return _served(stored, "hit", self.now())

        async def ask_server() -> tuple[Response, CacheEntry | None]:
            requested_at = self.now()
            response = await send(request)
            if not keeping.holds(response.status) or request.is_repeated_in(response.headers, response.body):
                return response, None
            entry = self._as_stored(request, response, requested_at)
            until = entry.answered_at + keeping.seconds
            entry = replace(entry, fresh_until=until, keep_until=until)
            await self._store.save(key, entry)
            return response, entry

        return await self._together(key, ask_server, request, send)

    async def _is_renewed(
        self, request: Request, scope: str | None, key: str, stored: CacheEntry, renewals: Renewals
    ) -> bool:
        """Whether a stale answer may be served as it is, for exactly one of all who share it is asking the server."""
        now = self.now()
        if not isinstance(self._store, RenewingStore) or not freshness.may_renew_behind(stored, request.headers, now):
            return False
        if stored.fresh_until > now:
            return True
        if not renewals.has_room:
            return False

        async def renew(send: Send) -> None:
            response, requested_at, entry = await self._ask_server(request, send, key, stored)
            if entry is None:
                await self._keep(request, scope, key, response, requested_at)

        if await self._store.take_renewal(key, stored, now + renewals.longest_seconds):
            renewals.start(request, renew)
        return True

    async def _together(
        self, key: str, lead: Callable[[], Awaitable[tuple[Response, CacheEntry | None]]], request: Request, send: Send
    ) -> Response:
        """Ask once for everybody in this process who wants the same now."""
        if flight := self._flights.board(key):
            landed = await arrival(flight)
            if landed.problem:
                raise landed.problem
            return _served(landed.stored, "hit", self.now()) if landed.stored else await send(request)
        landed = FlightResult()
        try:
            response, entry = await lead()
            landed = FlightResult(entry)
        except HaulwrightError as problem:
            landed = FlightResult(problem=problem)
            raise
        finally:
            self._flights.land(key, landed)
        return response

    async def _ask_server(
        self, request: Request, send: Send, key: str, stored: CacheEntry | None
    ) -> tuple[Response, float, CacheEntry | None]:
        """Ask the server, with the validators of what is kept; return its answer, and what is kept already of it."""
        requested_at = self.now()
        try:
            response = await send(request.with_headers(freshness.validators(stored.headers)) if stored else request)
        except (NotSent, OutcomeUnknown):
            if stored and freshness.may_serve_stale(stored, request.headers, self.now()):
                return _served(stored, "stale", self.now()), requested_at, stored
            raise
        if stored and response.status == NOT_MODIFIED:
            if freshness.matches(stored, response.headers):
                response, renewed = await self._renew(key, stored, response, requested_at)
                return response, requested_at, renewed
            await self._store.forget(key)
            response = await send(request)
        if (
            stored
            and response.status in _STANDS_IN_FOR
            and freshness.may_serve_stale(stored, request.headers, self.now())
        ):
            return _served(stored, "stale", self.now()), requested_at, stored
        return response, requested_at, None

    async def _renew(
        self, key: str, stored: CacheEntry, response: Response, requested_at: float
    ) -> tuple[Response, CacheEntry]:
        """Take over what a 304 says about a kept answer."""
        renewed = freshness.refreshed(stored, response.headers, requested_at=requested_at, answered_at=self.now())
        await self._store.save(key, renewed)
        return replace(_served(renewed, "revalidated", self.now()), received_bytes=response.received_bytes), renewed

    async def _find(self, request: Request, scope: str | None) -> tuple[str, CacheEntry | None]:
        """Return the key of a request and what is kept under it, by way of the signpost where answers vary."""
        key = key_of(request.method, request.address.url, scope)
        stored = await self._store.load(key)
        if stored and stored.is_signpost:
            key = _varied(key, stored.vary, request)
            stored = await self._store.load(key)
        return key, stored

    async def _keep(
        self, request: Request, scope: str | None, before: str | None, response: Response, requested_at: float
    ) -> CacheEntry | None:
        """Keep an answer that may be kept, in place of the one before; drop the one before where it may not."""
        may_store = freshness.may_store(request.method, request.headers, response.status, response.headers)
        if not may_store or request.is_repeated_in(response.headers, response.body):
            if before is not None and response.status < min(_STANDS_IN_FOR):
                await self._store.forget(before)
            return None
        stored = freshness.dated(self._as_stored(request, response, requested_at))
        first = key_of(request.method, request.address.url, scope)
        if vary := freshness.vary_names(response.headers):
            await self._store.save(first, replace(stored, headers={}, body=b"", vary=vary))
            key = _varied(first, vary, request)
        else:
            key = first
        await self._store.save(key, stored)
        return stored

    async def _invalidate(self, request: Request, response: Response, scope: str | None) -> None:
        """Forget what is kept for an address that was just changed."""
        if not self.is_off and request.method not in _SAFE and response.status < min(_REFUSALS):
            for method in sorted(freshness.CACHEABLE_METHODS):
                await self._store.forget(key_of(method, request.address.url, scope))

    def _as_stored(self, request: Request, response: Response, requested_at: float) -> CacheEntry:
        """The answer as it is kept."""
        now = self.now()
        headers = freshness.kept_headers(response.headers)
        return CacheEntry(response.status, headers, response.body, request.address.shown, requested_at, now, now, now)


def _varied(key: str, vary: tuple[str, ...], request: Request) -> str:
    """The key of the answer for these request headers."""
    return key_of(key, [[name, request.headers.get(name)] for name in vary])


def _served(stored: CacheEntry, use: CacheUse, now: float) -> Response:
    """A kept answer, given out. One that nobody was asked about says how old it is."""
    headers = dict(stored.headers)
    if use != "revalidated":
        headers["age"] = str(int(freshness.age(stored, now)))
    return Response(stored.status, headers, stored.body, 0, use)
