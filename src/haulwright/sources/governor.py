"""The gate of a source: asked before every request and left after it. Its state is in the database, for the fleet."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from haulwright.client.context import Context, current
from haulwright.clock import SECOND
from haulwright.engine.ids import new_id
from haulwright.engine.job import LeaseKey
from haulwright.engine.lease import gate_wait_us
from haulwright.engine.source import LEASE_SECONDS, PATIENCE_SECONDS, gate_name
from haulwright.errors import Throttled
from haulwright.sources.grouped_calls import GroupedCalls
from haulwright.sources.http.gate import OPEN, Grant, Verdict
from haulwright.stores.sources.admission import Admission, Denial, Leaving, Release, Requester
from haulwright.stores.sources.answers import Answer

if TYPE_CHECKING:
    from haulwright.sources.source import Source
    from haulwright.stores.sources.gate import Gates

FRESH_SECONDS: Final = 5.0
"""How long what a job got with its claim holds for its first request, at least; a later one asks anew.

Within one interval of the rate the place is its own, however long that is: nobody else was given it.
"""
YOUNG_SECONDS: Final = 0.1
"""A right that is older when it is used is looked at once more: the source may have been closed since. What one run
sees holds for the others for as long."""
CHANCES: Final = 3
"""How often one request asks anew because the source was closed before it could begin."""
REMEMBERED: Final = 10_000
"""Of so many runs it is known that they used their turn."""
AFTER_OTHERS_SECONDS: Final = 5.0
"""A job whose request found the server down still lets others try next: it may be this one request that hurts."""
FIRST_NAP_SECONDS: Final = 0.05
"""The first wait for a permit; it doubles, up to the patience in all."""


Leavings = GroupedCalls[tuple["Gates", Leaving], bool]
"""Those that leave one source at the same moment."""


class Ask(NamedTuple):
    """One who wants to make a request through a source, and on which terms."""

    gates: Gates
    key: str
    requester: Requester
    lease_seconds: float | None
    patience: float

    @property
    def terms(self) -> tuple[Gates, str, float | None, float]:
        """What those have in common who can be answered by one statement."""
        return (self.gates, self.key, self.lease_seconds, self.patience)

    def alone(self) -> Answer | None:
        """The answer, asked for by itself, on a thread."""
        return self.gates.ask(self.key, self.requester, lease_seconds=self.lease_seconds, patience=self.patience)


class SourceGrant:
    """The right to make one request. Given back exactly once."""

    def __init__(self, gates: Gates, leavings: Leavings, admission: Admission, running: Context | None) -> None:
        self._gates = gates
        self._leavings = leavings
        self._admission = admission
        self._running = running

    async def leave(self, verdict: Verdict) -> None:
        """Give the right back, with what the answer says about the server."""
        release = _release(verdict)
        if release.park_seconds and self._running is not None:
            self._running.signals.parked = gate_name(self._admission.key, "parked")
        leaving = Leaving(self._admission, release)
        if not (release.is_quiet and await self._leavings.call((self._gates, leaving))):
            leave = partial(self._gates.leave, self._admission, release, quietly=False)
            closed = await asyncio.get_running_loop().run_in_executor(None, leave)
            if closed is not None and self._running is not None:
                self._running.signals.probed = (closed.wait_us / SECOND + AFTER_OTHERS_SECONDS, closed.name)


class Governor:
    """What stands before one source."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._came_back: dict[LeaseKey, None] = {}
        self._looks: GroupedCalls[tuple[Gates, Admission], bool] = GroupedCalls(_are_shut)
        self._asks: GroupedCalls[Ask, Answer | None] = GroupedCalls(_ask_together, _ask_at_once)
        self._leavings: Leavings = GroupedCalls(_leave_together, _leave_at_once)

    async def enter(self) -> Grant:
        """Return the right to make one request. A short wait is slept; a longer one raises `Throttled`."""
        running = current.get()
        if running is not None:
            running.signals.has_asked_source = True
            running.check()
        gates = await self._gates(running)
        admission = await self._claimed(gates, running)
        for _ in range(CHANCES):
            admission = admission or await self._ask(gates, running)
            if admission is None:
                return await OPEN.enter()
            if await self._has_begun(gates, admission):
                return SourceGrant(gates, self._leavings, admission, running)
            admission = None  # closed meanwhile: who asks now is mostly told when to come back
        raise Throttled(f"The source {self._source.key} opens and closes too fast.", after=PATIENCE_SECONDS)

    async def _gates(self, running: Context | None) -> Gates:
        """The gates of the database that this code works on; only the first time that takes a trip."""
        store = self._source.known_already(running)
        if store is None:
            store = await asyncio.to_thread(self._source.known_to, running)
        return store.gates

    async def _claimed(self, gates: Gates, running: Context | None) -> Admission | None:
        """What the job got with its claim, for its first request, where that comes soon enough."""
        if running is None or running.job.source != self._source.key:
            return None
        admission = gates.take_claimed(running.job)
        if admission is None and gates.is_claimed_elsewhere(running.job):
            admission = await asyncio.to_thread(gates.adopt, running.job)
        fresh_seconds = max(FRESH_SECONDS, self._source.figures.interval_us / SECOND)
        if admission is not None and time.monotonic() > admission.starts + fresh_seconds:
            await _unused(gates, admission)
            return None
        return admission

    async def _ask(self, gates: Gates, running: Context | None) -> Admission | None:
        """Ask until the gate lets us through or the wait becomes too long to be slept."""
        key = self._source.key
        requester = _outsider() if running is None else self._requester(running)
        if admission := gates.pass_unlimited(key, requester.holder):
            return admission
        lease_seconds = max(LEASE_SECONDS, self._source.total_seconds) if running is None else None
        left, nap = PATIENCE_SECONDS, FIRST_NAP_SECONDS
        while True:
            answer = await self._answer(Ask(gates, key, requester, lease_seconds, left))
            if not isinstance(answer, Denial):
                return answer
            wait = nap if answer.gate == "permits" else answer.wait_us / SECOND
            if wait > left:
                raise _throttled(answer, running)
            await asyncio.sleep(wait)
            left, nap, requester = left - wait, nap * 2, requester._replace(back=True)

    async def _answer(self, ask: Ask) -> Answer | None:
        """One ask, with those of others where it can be. Where its caller is cancelled, what it got goes back."""
        asking = self._asks.submit(ask)
        try:
            answer = await asyncio.shield(asking)
            if answer is None:  # it has to ask alone
                asking = asyncio.get_running_loop().run_in_executor(None, ask.alone)
                answer = await asyncio.shield(asking)
        except asyncio.CancelledError:
            await asyncio.wait([asking])
            if asking.exception() is None and isinstance(answer := asking.result(), Admission):
                await asyncio.shield(_unused(ask.gates, answer))
            raise
        return answer

    async def _has_begun(self, gates: Gates, admission: Admission) -> bool:
        """Wait until a right begins; False, and it is given back, where the source was closed meanwhile."""
        try:
            if admission.delay_us:
                await asyncio.sleep(max(0.0, admission.starts - time.monotonic()))
            is_young = time.monotonic() - admission.heard < YOUNG_SECONDS
            if is_young or gates.was_open(admission.key, YOUNG_SECONDS):
                return True
            if not await self._looks.call((gates, admission)):
                return True
        except asyncio.CancelledError:
            await asyncio.shield(_unused(gates, admission))
            raise
        await _unused(gates, admission)
        return False

    def _requester(self, running: Context) -> Requester:
        """A run whose job waited, or passed with its claim, is at its turn with its first ask, and with no other."""
        holder = running.job.key
        had_turn = running.job.deferrals > 0 or running.job.source == self._source.key
        back = had_turn and holder not in self._came_back
        if back:
            self._came_back[holder] = None
            if len(self._came_back) > REMEMBERED:
                self._came_back.pop(next(iter(self._came_back)), None)
        return Requester(holder, back)


def _are_shut(looks: Sequence[tuple[Gates, Admission]]) -> list[bool]:
    """Whether the source was closed after it let each through; where it is open to everybody one look is enough."""
    return [
        not gates.was_open(admission.key, YOUNG_SECONDS) and gates.is_shut_to(admission) for gates, admission in looks
    ]


def _ask_together(asks: Sequence[Ask], *, waiting: bool = True) -> list[Answer | None]:
    """Answer all together that can be; None for each who has to ask alone."""
    by_terms: dict[Any, list[int]] = {}
    for place, ask in enumerate(asks):
        by_terms.setdefault(ask.terms, []).append(place)
    answers: list[Answer | None] = [None] * len(asks)
    for (gates, key, lease_seconds, patience), places in by_terms.items():
        requesters = [asks[place].requester for place in places]
        passed = gates.ask_together(key, requesters, lease_seconds=lease_seconds, patience=patience, waiting=waiting)
        for place, answer in zip(places, passed, strict=True):
            answers[place] = answer
    return answers


def _ask_at_once(asks: Sequence[Ask]) -> list[Answer | None] | None:
    """The same without waiting for anything, where at least one is answered like that."""
    answers = _ask_together(asks, waiting=False)
    return None if all(answer is None for answer in answers) else answers


def _leave_together(leavings: Sequence[tuple[Gates, Leaving]]) -> list[bool]:
    """Have all leave together that can; of each, whether it has."""
    by_gates: dict[Gates, list[Leaving]] = {}
    for gates, leaving in leavings:
        by_gates.setdefault(gates, []).append(leaving)
    left = {gates: gates.leave_together(several) for gates, several in by_gates.items()}
    return [left[gates] for gates, _ in leavings]


def _leave_at_once(leavings: Sequence[tuple[Gates, Leaving]]) -> list[bool] | None:
    """The same without waiting for anything, where they are of one database and it can."""
    gates = leavings[0][0]
    if any(other is not gates for other, _ in leavings):
        return None
    left = gates.leave_quietly([leaving for _, leaving in leavings], waiting=False)
    return [True] * len(leavings) if left else None


def _outsider() -> Requester:
    """Somebody outside any job, who holds what it gets for itself."""
    holder = new_id()
    return Requester(LeaseKey(holder, 0, holder))


def _throttled(denial: Denial, running: Context | None) -> Throttled:
    deferrals = 0 if running is None else running.job.deferrals
    # A permit that is freed before this job is back in the queue wakes somebody else: it looks for itself, and soon.
    wait_us = gate_wait_us(deferrals) if denial.gate == "permits" else denial.wait_us
    message = (
        f"The source {denial.key} takes no request now ({denial.gate}); the next try is in {wait_us / SECOND:g} s."
    )
    return Throttled(message, after=wait_us / SECOND, gate=denial.name)


async def _unused(gates: Gates, admission: Admission) -> None:
    """Give back what no request was made with. Its place in the rate stays taken: that errs on the polite side."""
    await asyncio.to_thread(gates.leave, admission, Release("ignored", counts=False))


def _release(verdict: Verdict) -> Release:
    answered = verdict.outcome == "ignored" and verdict.status is not None
    return Release(
        "answered" if answered else verdict.outcome,
        verdict.park_seconds or 0.0,
        verdict.sent_bytes,
        verdict.received_bytes,
        verdict.seconds,
    )
