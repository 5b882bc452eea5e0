"""The client: one governed way to other people's servers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any, Self, TypedDict, TypeVar, Unpack
from weakref import WeakKeyDictionary

from penstock.clock import Clock, clock_from_environment
from penstock.engine.words import Duration, seconds
from penstock.errors import InvalidValue
from penstock.sources.http import background
from penstock.sources.http import body as bodies
from penstock.sources.http.ask import Ask, Headers, Params, ask
from penstock.sources.http.caching import Cache, Keeping
from penstock.sources.http.gate import OPEN, Gate
from penstock.sources.http.guard import Guard
from penstock.sources.http.limits import Limits
from penstock.sources.http.policy import Policy
from penstock.sources.http.reply import Reply, Stream, Whole
from penstock.sources.http.secret import Credential, Secret
from penstock.sources.http.store import NO_STORE, Store

if TYPE_CHECKING:  # the transport takes a while to import: who sends nothing does not wait for it
    from penstock.sources.http.call import Call
    from penstock.sources.http.transport import Transport

T = TypeVar("T")


class Options(TypedDict, total=False):
    """What any request may be given."""

    headers: Headers | None
    params: Params | None
    json: Any
    content: bytes | str | None
    limits: Limits | None
    """In place of the client's."""
    revalidate: bool
    """Ask the server even where a kept answer is fresh."""
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
        store: Store | None = None,
        headers: Headers | None = None,
        auth: Credential | Secret | None = None,
        scope: str | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._policy = policy or Policy()
        self._limits = limits or Limits()
        self._gate = gate
        self._headers = dict(headers or {})
        self._credential = Credential.bearer(auth) if isinstance(auth, Secret) else auth
        self._scope = scope
        self._guard = Guard(self._policy)
        self._cache = Cache(store or NO_STORE, clock or clock_from_environment())
        self._lock = threading.Lock()
        self._transports: WeakKeyDictionary[asyncio.AbstractEventLoop, Transport] = WeakKeyDictionary()

    async def arequest(self, method: str, url: str, **options: Unpack[Options]) -> Reply:
        """Make one call and return its reply, whatever its status; see `Reply.raise_for_status`."""
        call = self._call(options.get("limits"), own_auth=options.get("own_auth", False))
        asked = self._ask(method, url, options)
        scope = options.get("scope") or self._scope
        ttl = options.get("ttl")

        async def fetch(one: Ask) -> Whole:
            revalidate = options.get("revalidate", False)
            return await self._cache.fetch(one, call.fetch, scope=scope, revalidate=revalidate)

        async def work() -> tuple[Ask, Whole]:
            if ttl is None:
                return await call.follow(asked, fetch)
            return await self._kept_for(asked, call, scope, ttl, options)

        last, whole = await self._governed(call, asked.what, work)
        return self._reply(call, last, whole)

    async def aget(self, url: str, **options: Unpack[Options]) -> Reply:
        """GET an address."""
        return await self.arequest("GET", url, **options)

    async def apost(self, url: str, **options: Unpack[Options]) -> Reply:
        """POST to an address. It is sent once; no redirect sends it to another server."""
        return await self.arequest("POST", url, **options)

    def request(self, method: str, url: str, **options: Unpack[Options]) -> Reply:
        """As `arequest`, for plain functions."""
        return background.wait_for("request", "http.arequest(...)", lambda: self.arequest(method, url, **options))

    def get(self, url: str, **options: Unpack[Options]) -> Reply:
        """As `aget`, for plain functions."""
        return background.wait_for("get", "http.aget(...)", lambda: self.aget(url, **options))

    def post(self, url: str, **options: Unpack[Options]) -> Reply:
        """As `apost`, for plain functions."""
        return background.wait_for("post", "http.apost(...)", lambda: self.apost(url, **options))

    @asynccontextmanager
    async def astream(
        self, url: str, *, method: str = "GET", **options: Unpack[StreamOptions]
    ) -> AsyncIterator[Stream]:
        """Open a download: status and headers at once, the bytes as they travel, with all the caps, past the cache."""
        call = self._call(options.get("limits"))
        headers = {"accept-encoding": "identity", **(options.get("headers") or {})}
        asked = self._ask(method, url, {"headers": headers, "params": options.get("params")})
        problem: BaseException | None = None
        try:
            last, answer = await call.within_time(asked.what, call.follow(asked, call.open))
            try:
                bodies.check_declared(answer.headers, call.limits, last.what)
                async with aclosing(call.pieces_in_time(answer, last.what)) as pieces:
                    yield Stream(self._reply(call, last, Whole(answer.status, answer.headers, b"")), pieces)
            finally:
                await answer.discard()
        except BaseException as failure:
            problem = failure
            raise
        finally:
            await call.leave(problem)

    async def aclose(self) -> None:
        """Close the connections of this loop. The next call opens new ones."""
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

    async def _governed(self, call: Call, what: str, work: Callable[[], Awaitable[T]]) -> T:
        """Do the work of a call within its limits, and leave the gate whatever happens."""
        problem: BaseException | None = None
        try:
            return await call.within_time(what, work())
        except BaseException as failure:
            problem = failure
            raise
        finally:
            await call.leave(problem)

    async def _kept_for(
        self, asked: Ask, call: Call, scope: str | None, ttl: Duration, options: Options
    ) -> tuple[Ask, Whole]:
        """The reply to this very request, redirects and all, if it is young enough; else a new one."""
        longest = seconds(ttl, what="ttl", minimum=0.001)
        if asked.proven and scope is None:
            hint = "Give scope=, such as the tenant and the name of the credential."
            raise InvalidValue("ttl", ttl, "would keep the reply to a credential without saying whose it is", hint=hint)
        last = asked

        async def whole_call(one: Ask) -> Whole:
            nonlocal last
            last, whole = await call.follow(one, call.fetch)
            return whole

        keeping = Keeping(longest, options.get("parser_version", ""), missing=options.get("keep_missing", False))
        whole = await self._cache.fetch_for(asked, whole_call, scope=scope, keeping=keeping)
        return last, whole

    def _ask(self, method: str, url: str, options: Options) -> Ask:
        """The request that these words describe."""
        return ask(
            method,
            url,
            defaults=self._headers,
            credential=self._credential,
            headers=options.get("headers"),
            params=options.get("params"),
            json=options.get("json"),
            content=options.get("content"),
        )

    def _call(self, limits: Limits | None, *, own_auth: bool = False) -> Call:
        """A call that has not begun."""
        from penstock.sources.http.call import Call  # noqa: PLC0415  see above

        return Call(self._transport(), self._guard, self._gate, limits or self._limits, self._cache.now, own_auth)

    def _transport(self) -> Transport:
        """The connections of this loop."""
        from penstock.sources.http.transport import Transport  # noqa: PLC0415  see above

        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._transports:
                self._transports[loop] = Transport(self._policy)
            return self._transports[loop]

    def _reply(self, call: Call, last: Ask, whole: Whole) -> Reply:
        """What the caller is told."""
        who = self._credential
        return Reply(
            status=whole.status,
            method=last.method,
            url=last.address.shown,
            headers=whole.headers,
            body=whole.body,
            cache=whole.cache,
            received_bytes=whole.received_bytes,
            seconds=round(call.seconds, 6),
            redirects=tuple(call.passed),
            park_seconds=call.park_seconds,
            credential=who.name if who else "",
            shared=who.shared if who else False,
        )
