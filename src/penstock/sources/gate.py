"""The gate of a source: asked before every request and left after it. Its state is in the database, for the fleet."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING, Final

from penstock.client.context import Context, current
from penstock.clock import SECOND
from penstock.engine.ids import new_id
from penstock.engine.lease import gate_wait_us
from penstock.engine.source import LEASE_SECONDS, PATIENCE_SECONDS
from penstock.errors import Throttled
from penstock.sources.http.gate import OPEN, Grant, Verdict
from penstock.stores.sources import Asker, Left, Passed, Refused

if TYPE_CHECKING:
    from penstock.sources.source import Source
    from penstock.stores.sources import Sources

FRESH_SECONDS: Final = 5.0
"""How long what a job got with its claim holds for its first request, at least; a later one asks anew.

Within one interval of the rate the place is its own, however long that is: nobody else was given it.
"""
YOUNG_SECONDS: Final = 0.1
"""A right that is older when it is used is looked at once more: the source may have been closed since."""
CHANCES: Final = 3
"""How often one request asks anew because the source was closed before it could begin."""
REMEMBERED: Final = 10_000
"""Of so many runs it is known that they used their turn."""
AFTER_OTHERS_SECONDS: Final = 5.0
"""A job whose request found the server down still lets others try next: it may be this one request that hurts."""
FIRST_NAP_SECONDS: Final = 0.05
"""The first wait for a permit; it doubles, up to the patience in all."""


class SourceGrant:
    """The right to make one request. Given back exactly once."""

    def __init__(self, sources: Sources, passed: Passed, running: Context | None) -> None:
        self._sources = sources
        self._passed = passed
        self._running = running

    async def leave(self, verdict: Verdict) -> None:
        """Give the right back, with what the answer says about the server."""
        left = _left(verdict)
        if not self._sources.leave_quietly(self._passed, left, waiting=False):
            leaving = asyncio.get_running_loop().run_in_executor(None, self._sources.leave, self._passed, left)
            closed = await leaving
            if closed is not None and self._running is not None:
                self._running.signals.probed = (closed.wait_us / SECOND + AFTER_OTHERS_SECONDS, closed.name)


class SourceGate:
    """What stands before one source."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._came_back: dict[tuple[str, int], None] = {}

    async def enter(self) -> Grant:
        """Return the right to make one request. A short wait is slept; a longer one raises `Throttled`."""
        running = current.get()
        if running is not None:
            running.check()
        sources = await self._sources(running)
        passed = await self._claimed(sources, running)
        for _ in range(CHANCES):
            passed = passed or await self._ask(sources, running)
            if passed is None:
                return await OPEN.enter()
            if await _has_begun(sources, passed):
                return SourceGrant(sources, passed, running)
            passed = None  # closed meanwhile: who asks now is mostly told when to come back
        raise Throttled(f"The source {self._source.key} opens and closes too fast.", after=PATIENCE_SECONDS)

    async def _sources(self, running: Context | None) -> Sources:
        """The gates of the database that this code works on; only the first time that takes a trip."""
        known = self._source.known_already(running)
        return known if known is not None else await asyncio.to_thread(self._source.known_to, running)

    async def _claimed(self, sources: Sources, running: Context | None) -> Passed | None:
        """What the job got with its claim, for its first request, where that comes soon enough."""
        if running is None or running.job.source != self._source.key:
            return None
        passed = await asyncio.to_thread(sources.take_claimed, running.job)
        fresh_seconds = max(FRESH_SECONDS, self._source.figures.interval_us / SECOND)
        if passed is not None and time.monotonic() > passed.starts + fresh_seconds:
            await _unused(sources, passed)
            return None
        return passed

    async def _ask(self, sources: Sources, running: Context | None) -> Passed | None:
        """Ask until the gate lets us through or the wait becomes too long to be slept."""
        asker = Asker(new_id(), 0) if running is None else self._asker(running)
        lease_seconds = max(LEASE_SECONDS, self._source.total_seconds) if running is None else None
        left, nap = PATIENCE_SECONDS, FIRST_NAP_SECONDS
        while True:
            answer = await _asked(sources, self._source.key, asker, lease_seconds, left)
            if not isinstance(answer, Refused):
                return answer
            wait = nap if answer.gate == "permits" else answer.wait_us / SECOND
            if wait > left:
                raise _throttled(answer, running)
            await asyncio.sleep(wait)
            left, nap, asker = left - wait, nap * 2, asker._replace(back=True)

    def _asker(self, running: Context) -> Asker:
        """A run whose job waited, or passed with its claim, is at its turn with its first ask, and with no other."""
        right = (running.job.id, running.job.fence)
        had_turn = running.job.deferrals > 0 or running.job.source == self._source.key
        back = had_turn and right not in self._came_back
        if back:
            self._came_back[right] = None
            if len(self._came_back) > REMEMBERED:
                self._came_back.pop(next(iter(self._came_back)), None)
        return Asker(*right, back)


def _throttled(refused: Refused, running: Context | None) -> Throttled:
    deferrals = 0 if running is None else running.job.deferrals
    # A permit that is freed before this job is back in the queue wakes somebody else: it looks for itself, and soon.
    wait_us = gate_wait_us(deferrals) if refused.gate == "permits" else refused.wait_us
    message = (
        f"The source {refused.key} takes no request now ({refused.gate}); the next try is in {wait_us / SECOND:g} s."
    )
    return Throttled(message, after=wait_us / SECOND, gate=refused.name)


async def _asked(
    sources: Sources, key: str, asker: Asker, lease_seconds: float | None, patience: float
) -> Passed | Refused | None:
    """One ask. Where its caller is cancelled before the answer is heard, what it got goes back."""
    at_once = sources.ask_at_once(key, asker, lease_seconds=lease_seconds, patience=patience)
    if at_once is not None:
        return at_once
    ask = partial(sources.ask, key, asker, lease_seconds=lease_seconds, patience=patience)
    asking = asyncio.get_running_loop().run_in_executor(None, ask)  # a future, where to_thread would make a task of it
    try:
        return await asyncio.shield(asking)
    except asyncio.CancelledError:
        await asyncio.wait([asking])
        if asking.exception() is None and isinstance(passed := asking.result(), Passed):
            await asyncio.shield(_unused(sources, passed))
        raise


async def _has_begun(sources: Sources, passed: Passed) -> bool:
    """Wait until a right begins; False, and it is given back, where the source was closed meanwhile."""
    try:
        if passed.delay_us:
            await asyncio.sleep(max(0.0, passed.starts - time.monotonic()))
        if time.monotonic() - passed.heard < YOUNG_SECONDS or not await asyncio.to_thread(sources.is_shut_to, passed):
            return True
    except asyncio.CancelledError:
        await asyncio.shield(_unused(sources, passed))
        raise
    await _unused(sources, passed)
    return False


async def _unused(sources: Sources, passed: Passed) -> None:
    """Give back what no request was made with. Its place in the rate stays taken: that errs on the polite side."""
    await asyncio.to_thread(sources.leave, passed, Left("ignored", counts=False))


def _left(verdict: Verdict) -> Left:
    answered = verdict.outcome == "ignored" and verdict.status is not None
    return Left(
        "answered" if answered else verdict.outcome,
        verdict.park_seconds or 0.0,
        verdict.sent_bytes,
        verdict.received_bytes,
        verdict.seconds,
    )
