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

from penstock.clock import SECOND, Clock, host_now
from penstock.errors import PenstockError
from penstock.sources.http import freshness
from penstock.sources.http.ask import Ask
from penstock.sources.http.classify import SUCCESSES, NotSent, OutcomeUnknown
from penstock.sources.http.flights import Flights, Landed, arrival
from penstock.sources.http.reply import CacheUse, Whole
from penstock.sources.http.store import NoStore, Store, Stored

Send = Callable[[Ask], Awaitable[Whole]]

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


class Cache:
    """Serves what is fresh, asks whether the rest still holds, and keeps what may be kept."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._flights = Flights()

    @property
    def is_off(self) -> bool:
        """Whether nothing is kept at all."""
        return isinstance(self._store, NoStore)

    def now(self) -> float:
        """The time, in seconds since 1970."""
        return (self._clock.now() or host_now()) / SECOND

    async def fetch(self, ask: Ask, send: Send, *, scope: str | None, revalidate: bool) -> Whole:
        """Return the answer to a request: a fresh one that is kept, or the server's."""
        if self.is_off or (ask.proven and scope is None) or not freshness.may_look_up(ask.method, ask.headers):
            whole = await send(ask)
            await self._invalidate(ask, whole, scope)
            return whole
        key, stored = await self._find(ask, scope)
        if stored and not revalidate and freshness.is_fresh(stored, ask.headers, self.now()):
            return _served(stored, "hit")
        flight_key = key_of("flight", ask.method, ask.address.url, scope, sorted(ask.headers.items()), revalidate)
        return await self._together(flight_key, lambda: self._ask_server(ask, send, scope, key, stored), ask, send)

    async def fetch_for(self, ask: Ask, send: Send, *, scope: str | None, keeping: Keeping) -> Whole:
        """Return the reply to this very request, body included, that is not too old to be kept."""
        if self.is_off:
            return await send(ask)
        headers = sorted((k, v) for k, v in ask.headers.items() if k not in _NOT_OF_THE_REQUEST)
        body = hashlib.sha256(ask.body).hexdigest()
        key = key_of("ttl", ask.method, ask.address.url, headers, body, keeping.parser_version, scope)
        stored = await self._store.load(key)
        if stored and self.now() - stored.answered_at < keeping.seconds:
            return _served(stored, "hit")

        async def ask_server() -> tuple[Whole, Stored | None]:
            requested_at = self.now()
            whole = await send(ask)
            if not keeping.holds(whole.status) or ask.is_repeated_in(whole.headers, whole.body):
                return whole, None
            kept = self._as_stored(ask, whole, requested_at)
            until = kept.answered_at + keeping.seconds
            kept = replace(kept, fresh_until=until, keep_until=until)
            await self._store.save(key, kept)
            return whole, kept

        return await self._together(key, ask_server, ask, send)

    async def _together(
        self, key: str, lead: Callable[[], Awaitable[tuple[Whole, Stored | None]]], ask: Ask, send: Send
    ) -> Whole:
        """Ask once for everybody in this process who wants the same now."""
        if flight := self._flights.board(key):
            landed = await arrival(flight)
            if landed.problem:
                raise landed.problem
            return _served(landed.stored, "hit") if landed.stored else await send(ask)
        landed = Landed()
        try:
            whole, kept = await lead()
            landed = Landed(kept)
        except PenstockError as problem:
            landed = Landed(problem=problem)
            raise
        finally:
            self._flights.land(key, landed)
        return whole

    async def _ask_server(
        self, ask: Ask, send: Send, scope: str | None, key: str, stored: Stored | None
    ) -> tuple[Whole, Stored | None]:
        """Ask the server, with the validators of what is kept; return its answer and what others may use of it."""
        requested_at = self.now()
        try:
            whole = await send(ask.with_headers(freshness.validators(stored.headers)) if stored else ask)
        except (NotSent, OutcomeUnknown):
            if stored and freshness.may_serve_stale(stored, ask.headers, self.now()):
                return _served(stored, "stale"), stored
            raise
        if stored and whole.status == NOT_MODIFIED:
            if freshness.matches(stored, whole.headers):
                return await self._renew(key, stored, whole, requested_at)
            await self._store.forget(key)
            whole = await send(ask)
        if stored and whole.status in _STANDS_IN_FOR and freshness.may_serve_stale(stored, ask.headers, self.now()):
            return _served(stored, "stale"), stored
        return whole, await self._keep(ask, scope, key, whole, requested_at)

    async def _renew(self, key: str, stored: Stored, whole: Whole, requested_at: float) -> tuple[Whole, Stored]:
        """Take over what a 304 says about a kept answer."""
        renewed = freshness.refreshed(stored, whole.headers, requested_at=requested_at, answered_at=self.now())
        await self._store.save(key, renewed)
        return replace(_served(renewed, "revalidated"), received_bytes=whole.received_bytes), renewed

    async def _find(self, ask: Ask, scope: str | None) -> tuple[str, Stored | None]:
        """Return the key of a request and what is kept under it, by way of the signpost where answers vary."""
        key = key_of(ask.method, ask.address.url, scope)
        stored = await self._store.load(key)
        if stored and stored.is_signpost:
            key = _varied(key, stored.vary, ask)
            stored = await self._store.load(key)
        return key, stored

    async def _keep(self, ask: Ask, scope: str | None, key: str, whole: Whole, requested_at: float) -> Stored | None:
        """Keep an answer that may be kept, in place of the one before; drop the one before where it may not."""
        may_store = freshness.may_store(ask.method, ask.headers, whole.status, whole.headers)
        if not may_store or ask.is_repeated_in(whole.headers, whole.body):
            if whole.status < min(_STANDS_IN_FOR):
                await self._store.forget(key)
            return None
        stored = freshness.dated(self._as_stored(ask, whole, requested_at))
        first = key_of(ask.method, ask.address.url, scope)
        if vary := freshness.vary_names(whole.headers):
            await self._store.save(first, replace(stored, headers={}, body=b"", vary=vary))
            key = _varied(first, vary, ask)
        else:
            key = first
        await self._store.save(key, stored)
        return stored

    async def _invalidate(self, ask: Ask, whole: Whole, scope: str | None) -> None:
        """Forget what is kept for an address that was just changed."""
        if not self.is_off and ask.method not in _SAFE and whole.status < min(_REFUSALS):
            for method in sorted(freshness.CACHEABLE_METHODS):
                await self._store.forget(key_of(method, ask.address.url, scope))

    def _as_stored(self, ask: Ask, whole: Whole, requested_at: float) -> Stored:
        """The answer as it is kept."""
        now = self.now()
        headers = freshness.kept_headers(whole.headers)
        return Stored(whole.status, headers, whole.body, ask.address.shown, requested_at, now, now, now)


def _varied(key: str, vary: tuple[str, ...], ask: Ask) -> str:
    """The key of the answer for these request headers."""
    return key_of(key, [[name, ask.headers.get(name)] for name in vary])


def _served(stored: Stored, use: CacheUse) -> Whole:
    """A kept answer, given out."""
    return Whole(stored.status, dict(stored.headers), stored.body, 0, use)
