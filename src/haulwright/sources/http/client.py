"""The client: one governed way to other people's servers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, Self, TypedDict, TypeVar, Unpack
from weakref import WeakKeyDictionary

from haulwright.clock import Clock, clock_from_environment
from haulwright.engine.durations import Duration, seconds
from haulwright.errors import InvalidValue
from haulwright.extras import require_extra
from haulwright.sources.http import background
from haulwright.sources.http import body as bodies
from haulwright.sources.http.behind import CallsBehind, Renewals, Send
from haulwright.sources.http.cache import HttpCache, Keeping
from haulwright.sources.http.cache_store import NO_STORE, CacheStore
from haulwright.sources.http.gate import OPEN, Gate
from haulwright.sources.http.limits import Limits
from haulwright.sources.http.policy import Policy
from haulwright.sources.http.reply import Reply, Response, Stream
from haulwright.sources.http.request import Headers, Params, Request, build_request
from haulwright.sources.http.secret import Credential, Secret
from haulwright.sources.http.ssrf_guard import Guard

if TYPE_CHECKING:  # the transport takes a while to import: who sends nothing does not wait for it
    from haulwright.sources.http.exchange import Exchange
    from haulwright.sources.http.transport import Transport

T = TypeVar("T")

MOST_CONNECTIONS: Final = 100
"""Of one client on one event loop, in use or kept for the next request."""


class RequestOptions(TypedDict, total=False):
    """What any request may be given."""

    headers: Headers | None
    params: Params | None
    json: Any
    content: bytes | str | None
    limits: Limits | None
    """In place of the client's."""
    revalidate: bool
    """Ask the server even where a kept answer is fresh."""
    own_validators: bool
    """The caller keeps ETag and Last-Modified himself: an answer that has one is not kept a second time."""
    scope: str | None
    """Tenant and credential, in words of yours: an answer is kept for, and served to, this scope only."""
    ttl: Duration | None
    """Serve a reply to this very request that is not older than this, whatever its headers say."""
    parser_version: str
    """Part of the key of a reply that is kept by `ttl`: a new parser asks anew."""
    keep_missing: bool
    """Keep a 404 or 410 by `ttl` as well: that there is nothing is an answer too."""
    own_auth: bool
    """A 401 is the caller's own affair, who asks again with another token: the gate hears nothing of it."""


class StreamOptions(TypedDict, total=False):
    """What a download may be given."""

    headers: Headers | None
    params: Params | None
    limits: Limits | None


class Http:
    """A client with limits, a guard, a gate and a cache. It never retries: that is its caller's to decide."""

    def __init__(  # noqa: PLR0913  each has a name and a default
        self,
        *,
        policy: Policy | None = None,
        limits: Limits | None = None,
        gate: Gate = OPEN,
        store: CacheStore | None = None,
        headers: Headers | None = None,
        auth: Credential | Secret | None = None,
        scope: str | None = None,
        clock: Clock | None = None,
        connections: int = MOST_CONNECTIONS,
    ) -> None:
        self._policy = policy or Policy()
        self._limits = limits or Limits()
        self._gate = gate
        self._headers = dict(headers or {})
        self._credential = Credential.bearer(auth) if isinstance(auth, Secret) else auth
        self._scope = scope
        self._guard = Guard(self._policy)
        self._cache = HttpCache(store or NO_STORE, clock or clock_from_environment())
        self._connections = connections
        self._behind = CallsBehind()
        self._lock = threading.Lock()
        self._transports: WeakKeyDictionary[asyncio.AbstractEventLoop, Transport] = WeakKeyDictionary()

    async def arequest(self, method: str, url: str, **options: Unpack[RequestOptions]) -> Reply:
        """Make one call and return its reply, whatever its status; see `Reply.raise_for_status`."""
        call = self._call(options.get("limits"), own_auth=options.get("own_auth", False))
        request = self._request(method, url, options)
        scope = options.get("scope") or self._scope
        ttl = options.get("ttl")
        renewals = self._renewals(options.get("limits") or self._limits)

        async def fetch(step: Request) -> Response:
            revalidate, own = options.get("revalidate", False), options.get("own_validators", False)
            return await self._cache.fetch(
                step, call.fetch, scope=scope, revalidate=revalidate, own_validators=own, renewals=renewals
            )

        async def work() -> tuple[Request, Response]:
            if ttl is None:
                return await call.follow(request, fetch)
            return await self._kept_for(request, call, scope, ttl, options)

        last, response = await self._governed(call, request, work)
        return self._reply(call, last, response)

    async def aget(self, url: str, **options: Unpack[RequestOptions]) -> Reply:
        """GET an address."""
        return await self.arequest("GET", url, **options)

    async def apost(self, url: str, **options: Unpack[RequestOptions]) -> Reply:
        """POST to an address. It is sent once; no redirect sends it to another server."""
        return await self.arequest("POST", url, **options)

    def request(self, method: str, url: str, **options: Unpack[RequestOptions]) -> Reply:
        """As `arequest`, for plain functions."""
        return background.wait_for("request", "http.arequest(...)", lambda: self.arequest(method, url, **options))

    def get(self, url: str, **options: Unpack[RequestOptions]) -> Reply:
        """As `aget`, for plain functions."""
        return background.wait_for("get", "http.aget(...)", lambda: self.aget(url, **options))

    def post(self, url: str, **options: Unpack[RequestOptions]) -> Reply:
        """As `apost`, for plain functions."""
        return background.wait_for("post", "http.apost(...)", lambda: self.apost(url, **options))

    @asynccontextmanager
    async def astream(
        self, url: str, *, method: str = "GET", **options: Unpack[StreamOptions]
    ) -> AsyncIterator[Stream]:
        """Open a download: status and headers at once, the bytes as they travel, with all the caps, past the cache."""
        call = self._call(options.get("limits"))
        headers = {"accept-encoding": "identity", **(options.get("headers") or {})}
        request = self._request(method, url, {"headers": headers, "params": options.get("params")})
        problem: BaseException | None = None
        try:
            opening = call.follow(request, call.open)
            last, answer = await call.within_deadline(request, opening, is_whole=True)
            try:
                bodies.check_declared(answer.headers, call.limits, last)
                async with aclosing(call.pieces_within_deadline(answer, last)) as pieces:
                    yield Stream(self._reply(call, last, Response(answer.status, answer.headers, b"")), pieces)
            finally:
                await answer.discard()
        except BaseException as failure:
            problem = failure
            raise
        finally:
            await call.leave(problem)

    async def aclose(self) -> None:
        """Close the connections of this loop. The next call opens new ones."""
        await self._behind.end()
        with self._lock:
            transport = self._transports.pop(asyncio.get_running_loop(), None)
        if transport:
            await transport.aclose()

    def close(self) -> None:
        """Close the connections of the plain doors."""
        if background.is_running():
            background.wait_for("close", "http.aclose()", self.aclose)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"Http(policy={self._policy!r}, limits={self._limits!r})"

    async def _governed(self, call: Exchange, what: Request, work: Callable[[], Awaitable[T]]) -> T:
        """Do the work of a call within its limits, and leave the gate whatever happens."""
        problem: BaseException | None = None
        try:
            return await call.within_deadline(what, work(), is_whole=True)
        except BaseException as failure:
            problem = failure
            raise
        finally:
            await call.leave(problem)

    async def _kept_for(
        self, request: Request, call: Exchange, scope: str | None, ttl: Duration, options: RequestOptions
    ) -> tuple[Request, Response]:
        """The reply to this very request, redirects and all, if it is young enough; else a new one."""
        longest = seconds(ttl, what="ttl", minimum=0.001)
        if request.proven and scope is None:
            hint = "Give scope=, such as the tenant and the name of the credential."
            raise InvalidValue("ttl", ttl, "would keep the reply to a credential without saying whose it is", hint=hint)
        last = request

        async def whole_call(first: Request) -> Response:
            nonlocal last
            last, response = await call.follow(first, call.fetch)
            return response

        keeping = Keeping(longest, options.get("parser_version", ""), missing=options.get("keep_missing", False))
        response = await self._cache.fetch_for(request, whole_call, scope=scope, keeping=keeping)
        return last, response

    def _renewals(self, limits: Limits) -> Renewals:
        """How what is served stale is renewed: each by a call of its own, which nobody waits for."""

        def call(step: Request, work: Callable[[Send], Awaitable[object]]) -> Coroutine[Any, Any, object]:
            own = self._call(limits)
            return self._governed(own, step, lambda: work(own.fetch))

        return Renewals(self._behind, limits.total_seconds, call)

    def _request(self, method: str, url: str, options: RequestOptions) -> Request:
        """The request that these words describe."""
        return build_request(
            method,
            url,
            defaults=self._headers,
            credential=self._credential,
            headers=options.get("headers"),
            params=options.get("params"),
            json=options.get("json"),
            content=options.get("content"),
        )

    def _call(self, limits: Limits | None, *, own_auth: bool = False) -> Exchange:
        """A call that has not begun."""
        from haulwright.sources.http.exchange import Exchange  # noqa: PLC0415  see above

        return Exchange(self._transport(), self._guard, self._gate, limits or self._limits, self._cache.now, own_auth)

    def _transport(self) -> Transport:
        """The connections of this loop."""
        from haulwright.sources.http.transport import Transport  # noqa: PLC0415  see above

        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._transports:
                require_extra("http", "A request")  # before anything is sent, not in the middle of an answer
                for ended in [other for other in self._transports if other.is_closed()]:
                    del self._transports[ended]  # by itself none would go: its connections know their loop
                self._transports[loop] = Transport(self._policy, self._connections)
            return self._transports[loop]

    def _reply(self, call: Exchange, last: Request, response: Response) -> Reply:
        """What the caller is told."""
        who = self._credential
        return Reply(
            status=response.status,
            method=last.method,
            url=last.address.shown,
            headers=response.headers,
            body=response.body,
            cache=response.cache,
            received_bytes=response.received_bytes,
            seconds=round(call.seconds, 6),
            redirects=tuple(call.passed),
            park_seconds=call.park_seconds,
            credential=who.name if who else "",
            shared=who.shared if who else False,
        )
