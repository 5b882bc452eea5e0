"""One call: through the gate, over the wire, under its limits, and out of the gate again with a verdict."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeVar

from haulwright.errors import HaulwrightError
from haulwright.sources.http import body as bodies
from haulwright.sources.http import rate_limit_headers
from haulwright.sources.http.classify import Rejected, from_failure
from haulwright.sources.http.gate import Gate, Grant, Verdict, signal_of
from haulwright.sources.http.limits import Limits
from haulwright.sources.http.network_errors import FAILURES
from haulwright.sources.http.reply import Response
from haulwright.sources.http.request import Request
from haulwright.sources.http.response_parser import HeadTooLarge
from haulwright.sources.http.ssrf_guard import Guard
from haulwright.sources.http.transport import Progress, Transport, WireResponse

GRACE_SECONDS: Final = 0.5
"""What the whole may take longer than its requests, so that a cache can stand in for a server that used up the time."""

T = TypeVar("T")


class Answered(Protocol):
    """What a redirect is read from."""

    @property
    def status(self) -> int:
        """The status."""

    @property
    def headers(self) -> dict[str, str]:
        """The headers, names in lower case."""

    async def discard(self) -> None:
        """Read no more of it."""


A = TypeVar("A", bound=Answered)


@dataclass(slots=True)
class Exchange:
    """One call, its redirects included. The gate is entered with the first request that really leaves."""

    transport: Transport
    guard: Guard
    gate: Gate
    limits: Limits
    now: Callable[[], float]
    """The time in seconds since 1970, for what a server says in dates."""
    own_auth: bool = False
    """A 401 is the caller's own affair."""
    passed: list[str] = field(default_factory=list)
    """The addresses that led on, without secrets."""
    status: int | None = None
    park_seconds: float | None = None
    sent_bytes: int = 0
    received_bytes: int = 0
    _grant: Grant | None = None
    _progress: Progress = field(default_factory=Progress)
    _begun: float = field(default_factory=lambda: asyncio.get_running_loop().time())

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return asyncio.get_running_loop().time() - self._begun

    async def within_deadline(self, what: object, work: Awaitable[T], *, is_whole: bool = False) -> T:
        """Do the work in what is left of the total time; failures of the network come out as ours, without a trail.

        The whole of a call, gate and cache included, has a moment longer than its requests.
        """
        grace = GRACE_SECONDS if is_whole else 0.0
        try:
            async with asyncio.timeout_at(self._begun + self.limits.total_seconds + grace):
                return await work
        except FAILURES as failure:
            if isinstance(failure, HaulwrightError):
                raise
            problem = from_failure(failure, what=what, sent=self._progress.sent)
        # Outside the handler, so that the failure is not chained: its text may show what was sent.
        raise problem

    async def follow(self, request: Request, fetch: Callable[[Request], Awaitable[A]]) -> tuple[Request, A]:
        """Fetch, and go where redirects lead; each step is checked like the first."""
        for _ in range(self.limits.redirects + 1):
            self.check(request)
            answer = await fetch(request)
            try:
                onward = request.redirected(answer.status, answer.headers.get("location"))
            except HaulwrightError:
                await answer.discard()
                raise
            if onward is None:
                return request, answer
            await answer.discard()
            self.passed.append(request.address.shown)
            request = onward
        raise Rejected(f"{request.what}: more than {self.limits.redirects} redirects.", status=self.status or 0)

    def check(self, request: Request) -> None:
        """Block a forbidden scheme or literal address before anything is looked up or entered."""
        self.guard.check_scheme(request.address.scheme)
        self.guard.check_literal(request.address.host)

    async def open(self, request: Request) -> WireResponse:
        """Send one request, through the gate if this is the first, and return its answer with the body to come."""
        if self._grant is None:
            self._grant = await self.gate.enter()
        self._progress = Progress()
        self.status = None
        self.sent_bytes += len(request.body)
        answer = await self.within_deadline(request, self.transport.open(request, self.limits, self._progress))
        self.status = answer.status
        self.park_seconds = (
            rate_limit_headers.park_seconds(answer.status, answer.headers, self.now()) or self.park_seconds
        )
        return answer

    async def fetch(self, request: Request) -> Response:
        """Send one request and read its answer to the end."""
        answer = await self.open(request)
        before = self.received_bytes
        try:
            if request.method == "HEAD":
                return Response(answer.status, answer.headers, b"")
            bodies.check_declared(answer.headers, self.limits, request)
            encoding = answer.headers.get("content-encoding", "")
            reading = bodies.read(self.pieces(answer, request), encoding, self.limits, request)
            body = await self.within_deadline(request, reading)
        finally:
            await answer.discard()
        return Response(answer.status, answer.headers, body, self.received_bytes - before)

    async def pieces(self, answer: WireResponse, what: object) -> AsyncGenerator[bytes, None]:
        """The body as it travels, counted and capped."""
        received = 0
        try:
            async with aclosing(answer.chunks()) as chunks:
                async for chunk in chunks:
                    received += len(chunk)
                    self.received_bytes += len(chunk)
                    bodies.check_received(received, self.limits, what)
                    yield chunk
        except HeadTooLarge:
            is_too_large = True  # behind the body, where headers may stand too
        else:
            is_too_large = False
        if is_too_large:
            raise bodies.headers_too_large(self.limits, what)

    async def pieces_within_deadline(self, answer: WireResponse, what: object) -> AsyncGenerator[bytes, None]:
        """The same for somebody who takes the pieces one by one: only the waiting for them counts as our failure."""
        async with aclosing(self.pieces(answer, what)) as pieces:
            while True:
                try:
                    piece = await self.within_deadline(what, anext(pieces))
                except StopAsyncIteration:
                    return
                yield piece

    async def leave(self, problem: BaseException | None) -> None:
        """Give the grant back with what this call says about the server; even where the caller is being cancelled."""
        grant, self._grant = self._grant, None
        if grant is None:
            return
        outcome = signal_of(self.status, problem, park_seconds=self.park_seconds, own_auth=self.own_auth)
        verdict = Verdict(
            outcome, self.park_seconds, self.status, self.sent_bytes, self.received_bytes, round(self.seconds, 6)
        )
        await asyncio.shield(asyncio.ensure_future(grant.leave(verdict)))
