"""The gates before other people's servers, shared by the fleet. Every answer is one statement."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from haulwright import events
from haulwright.clock import SECOND
from haulwright.engine.job import DEFAULT_TENANT, Lease, LeaseKey
from haulwright.engine.settlement import PutBack
from haulwright.engine.source import (
    ASK_AGAIN_SECONDS,
    BRIEF_SECONDS,
    FOREVER,
    LONGEST_COOL_DOWN_SECONDS,
    LONGEST_PARK_SECONDS,
    PATIENCE_SECONDS,
    PROBE_SECONDS,
    SourceState,
    gate_name,
)
from haulwright.errors import LeaseLost
from haulwright.events import Event
from haulwright.stores.books import book
from haulwright.stores.connection import Connection, Database, Row, first
from haulwright.stores.events import Events
from haulwright.stores.job_rows import fenced
from haulwright.stores.sources.admission import Admission, Denial, Leaving, Release, Requester
from haulwright.stores.sources.limits import Sources
from haulwright.stores.sources.waiters import SourceWaiters, permit_wait_us

Answer = Admission | Denial
MOST_SEEN_OPEN: Final = 1000
"""Sources of which a process remembers when it saw them open: a second or so, for those that it asks just now."""
NOBODY = LeaseKey("", 0, "")
"""Who has no probe: a source that lets this one in lets everybody in."""


class Gates:
    """The gates of all sources: asked, left, and given back."""

    def __init__(self, database: Database, record: Events, sources: Sources, waiters: SourceWaiters) -> None:
        self._db = database
        self._events = record
        self._sources = sources
        self._waiters = waiters
        self._book = book("haulwright.stores", database.dialect, "sources")
        self._admissions = database.process.admissions
        self._seen_open: dict[str, float] = {}
        """When this process last looked at a source that was open to everybody, by its monotonic clock."""

    def ask(
        self, key: str, requester: Requester, *, lease_seconds: float | None = None, patience: float = PATIENCE_SECONDS
    ) -> Answer | None:
        """Ask for one request, in one statement; None where the source is not known, and so not governed.

        Without a time of its own the right belongs to a run, and ends with its lease.
        """
        terms = _Terms(_microseconds(lease_seconds), patience, fenced=lease_seconds is None)
        params, columns = self._asking(key, [requester], terms)
        answers = _answers(key, [requester], self._db.run_single(self._book["pass"], params, columns))
        if answers is not None and _wants_permit(answers):
            again = partial(self._ask_again, key=key, requesters=[requester], answers=answers, terms=terms)
            answers = self._db.transact(again)  # between the two the lease may have been taken back
        if answers is None:
            self._require_lease(key, requester, terms)
            return None
        return answers[0]

    def ask_at_once(
        self, key: str, requester: Requester, *, lease_seconds: float | None = None, patience: float = PATIENCE_SECONDS
    ) -> Answer | None:
        """The same for an event loop: without waiting for anything. None where that cannot be, and `ask` has to."""
        if not self._db.answers_at_once:
            return None
        terms = _Terms(_microseconds(lease_seconds), patience, fenced=lease_seconds is None, lasting=False)
        params, columns = self._asking(key, [requester], terms)
        rows = self._db.run_nondurable(self._book["pass"], params, columns, waiting=False)
        answers = _answers(key, [requester], rows or ())
        return None if answers is None or _wants_permit(answers) else answers[0]

    def ask_on(self, connection: Connection, key: str, requesters: Sequence[Requester]) -> list[Answer] | None:
        """Ask for the jobs of a claim, in its transaction; None where the source is not governed."""
        terms = _Terms(None, PATIENCE_SECONDS, fenced=False)  # their leases are as new as this transaction
        params, columns = self._asking(key, requesters, terms)
        answers = _answers(key, requesters, connection.run_batch(self._book["pass"], columns, params))
        if answers and _wants_permit(answers):
            return self._ask_again(connection, key, requesters, answers, terms)
        return answers

    def take_claimed(self, lease: Lease) -> Admission | None:
        """What a job got with its claim, once, where this process claimed it. Needs no look at the database."""
        return self._admissions.take(lease.key)

    def is_claimed_elsewhere(self, lease: Lease) -> bool:
        """Whether another process claimed the job, so that `adopt` has to find what it got. True once a job."""
        return self._admissions.is_elsewhere(lease.key)

    def is_shut_to(self, admission: Admission) -> bool:
        """Whether the source was closed after it let somebody through: to be asked before an old right is used."""
        began = time.monotonic()
        state = self._sources.standing(admission.key)
        if state is not None and not state.shuts_out(NOBODY):
            if len(self._seen_open) >= MOST_SEEN_OPEN:
                self._seen_open.clear()  # which costs a look for each that is asked again
            self._seen_open[admission.key] = began
        return state is not None and state.shuts_out(admission.holder)

    def was_open(self, key: str, seconds: float) -> bool:
        """Whether this process saw within so many seconds that the source was open to everybody."""
        return time.monotonic() - self._seen_open.get(key, float("-inf")) < seconds

    def leave(self, admission: Admission, release: Release, *, quietly: bool = True) -> Denial | None:
        """Give the right back, and say what the request taught about the server; `quietly` where that is enough.

        Where it was the probe of a breaker and failed, the answer is how long the source is closed again.
        """
        if quietly and release.is_quiet and self.leave_quietly([Leaving(admission, release)]):
            return None
        params = self._leaving(admission, release)

        def work(connection: Connection) -> tuple[bool, Denial | None]:
            row = first(connection.run(self._book["leave"], params))
            if row is None:
                return False, None
            record = _release_events(admission.key, row, params["park_us"])
            self._events.record(connection, record)
            if row[-1]:
                self._waiters.wake(connection, admission.key, 1)
            return bool(record), _closed_again(admission, release, row)

        changed, closed = self._db.transact(work)
        if changed:
            self._seen_open.pop(admission.key, None)
            self._sources.realign(admission.key)
        return closed

    def leave_quietly(self, leavings: Sequence[Leaving], *, waiting: bool = True) -> bool | None:
        """The same for several of one source, where it changes nothing for others; False where `leave` has to do it.

        Nothing depends on it, so it does not wait for the disk. Without `waiting` it is for an event loop: None, and
        nothing done, where it would take more than a moment.
        """
        if not all(release.is_quiet for _, release in leavings):
            return False
        if not (waiting or self._db.answers_at_once):
            return None
        key = leavings[0].admission.key
        counted = [release for _, release in leavings if release.counts]
        params = {
            "key": key,
            "gate": gate_name(key, "permits"),
            "outcome": "ok" if any(release.outcome == "ok" for _, release in leavings) else leavings[0].release.outcome,
            "requests": len(counted),
            "sent": sum(release.sent for release in counted),
            "received": sum(release.received for release in counted),
            "busy_us": sum(round(release.seconds * SECOND) for release in counted),
            "now": self._db.clock.now(),
        }
        admissions = [admission for admission, _ in leavings]
        columns = {
            "ticket": [admission.ticket for admission in admissions],
            **fenced([admission.holder for admission in admissions]),
        }
        rows = self._db.run_nondurable(self._book["leave_quietly"], params, columns, waiting=waiting)
        return None if rows is None else bool(rows)

    def _leaving(self, admission: Admission, release: Release) -> dict[str, Any]:
        park_us = round(min(max(release.park_seconds, 0.0), LONGEST_PARK_SECONDS) * SECOND)
        return {
            "key": admission.key,
            "gate": gate_name(admission.key, "permits"),
            "ticket": admission.ticket,
            **admission.holder._asdict(),
            "outcome": release.outcome,
            "park_us": park_us,
            "sent": release.sent,
            "received": release.received,
            "busy_us": round(release.seconds * SECOND),
            "counts": release.counts,
            "longest_us": round(LONGEST_COOL_DOWN_SECONDS * SECOND),
            "now": self._db.clock.now(),
        }

    def give_back(self, connection: Connection, leases: Sequence[LeaseKey]) -> None:
        """Free the permits and probes of leases that ended, in the transaction that ends them; wake as many waiters."""
        if not leases:
            return
        for lease in leases:
            self._admissions.take(lease)
        now = {"now": self._db.clock.now()}
        for key, permits in connection.run_batch(self._book["give_back"], fenced(leases), now):
            if permits:
                self._waiters.wake(connection, key, int(permits))

    def pass_claim(self, connection: Connection, leases: Sequence[Lease]) -> list[tuple[Lease, PutBack]]:
        """Ask for the jobs of a claim, once for each source; those that must wait come back with their step.

        What the others got is kept until their first request uses it.
        """
        self._admissions.claiming()
        waiting: list[tuple[Lease, PutBack]] = []
        by_source: dict[str, list[Lease]] = {}
        for lease in leases:
            if lease.source is not None:
                by_source.setdefault(lease.source, []).append(lease)
        for key in sorted(by_source):  # in one order, so that two claims never wait for each other in a circle
            waiting += self._pass_source(connection, key, sorted(by_source[key], key=_turn))
        return waiting

    def _pass_source(self, connection: Connection, key: str, leases: Sequence[Lease]) -> list[tuple[Lease, PutBack]]:
        requesters = [Requester(lease.key, lease.deferrals > 0) for lease in leases]
        denied = []
        for lease, answer in zip(leases, self.ask_on(connection, key, requesters) or (), strict=False):
            if isinstance(answer, Denial):
                denied.append((lease, _wait(lease, answer)))
            else:
                self._admissions.keep(lease.key, answer)
        if denied:
            self._waiters.park(connection, key, [lease for lease, _ in denied])
        return denied

    def adopt(self, lease: Lease) -> Admission | None:
        """What another process got for a job with its claim. To ask anew would cost a second place in the rate.

        Where that has room for one in an hour, such a job would never be let through.
        """
        params = {
            "key": lease.source,
            **lease.key._asdict(),
            "leased_at": lease.leased_at,
            "patience_us": round(PATIENCE_SECONDS * SECOND),
            "now": self._db.clock.now(),
        }
        row = self._db.read(lambda connection: first(connection.run(self._book["claimed"], params)))
        if row is None or lease.source is None:
            return None
        ticket, delay_us, age_us, is_probe = row
        heard = time.monotonic() - age_us / SECOND
        return Admission(lease.source, ticket, lease.key, delay_us, heard, is_probe=bool(is_probe))

    def _asking(
        self, key: str, requesters: Sequence[Requester], terms: _Terms
    ) -> tuple[dict[str, Any], dict[str, list[Any]]]:
        params = {
            "key": key,
            "lease_us": terms.lease_us,
            "fenced": terms.fenced,
            "lasting": terms.lasting,
            "brief_us": round(BRIEF_SECONDS * SECOND),
            "patience_us": round(terms.patience * SECOND),
            "probe_us": round(PROBE_SECONDS * SECOND),
            "again_us": round(ASK_AGAIN_SECONDS * SECOND),
            "forever": FOREVER,
            "now": self._db.clock.now(),
        }
        columns: dict[str, list[Any]] = {
            "place": list(range(1, len(requesters) + 1)),
            **fenced([requester.holder for requester in requesters]),
            "back": [requester.back for requester in requesters],
        }
        return params, columns

    def _ask_again(
        self,
        connection: Connection,
        key: str,
        requesters: Sequence[Requester],
        answers: list[Answer],
        terms: _Terms,
    ) -> list[Answer] | None:
        """No permit is free: free those whose holders are gone, and where there are such, ask for the rest again.

        None where the rest is given no answer any more.
        """
        if not connection.run(self._book["drop_gone"], {"key": key, "now": self._db.clock.now()}):
            return answers
        admissions = [answer for answer in answers if isinstance(answer, Admission)]
        rest = requesters[len(admissions) :]
        params, columns = self._asking(key, rest, terms)
        others = _answers(key, rest, connection.run_batch(self._book["pass"], columns, params))
        return None if others is None else [*admissions, *others]

    def _require_lease(self, key: str, requester: Requester, terms: _Terms) -> None:
        """No answer came: either there is no such source, or the run has no authority any more."""
        if terms.fenced and self._sources.standing(key) is not None:
            raise LeaseLost(requester.holder.id, requester.holder.fence, "pass")


class _Terms(NamedTuple):
    """On which terms a gate is asked."""

    lease_us: int | None
    """How long a permit lasts that belongs to no run."""
    patience: float
    fenced: bool
    lasting: bool = True


def _microseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * SECOND)


def _answers(key: str, requesters: Sequence[Requester], rows: Sequence[Row]) -> list[Answer] | None:
    """Who got through and from when on, and who comes back after how long. Those who came first are served first."""
    if not rows:
        return None
    state = SourceState(*rows[0])
    first_ticket = state.tickets - state.granted + 1
    heard = time.monotonic()
    answers: list[Answer] = [
        Admission(key, first_ticket + place, holder, delay_us, heard, state.is_probe(holder))
        for place, ((holder, _), delay_us) in enumerate(zip(requesters, state.delays_us(), strict=False))
    ]
    denied = len(requesters) - state.granted
    if denied:
        gate = state.refusal().gate
        waits = [0] * denied if gate == "permits" else state.turns_us(denied)
        answers += [Denial(key, gate, wait_us) for wait_us in waits]
    return answers


def _release_events(key: str, row: Row, park_us: int) -> list[Event]:
    """What the end of a request changed, where it changed something."""
    breaker, changed, open_until, streak, parked_until, now, _ = row
    record = []
    if changed and breaker == "closed":
        record.append(Event(events.SOURCE_BREAKER_CLOSED, DEFAULT_TENANT, data={"source": key}))
    elif changed:
        gate = "credential" if breaker == "refused" else "breaker"
        seconds = None if breaker == "refused" else (open_until - now) / SECOND
        data = {"source": key, "gate": gate, "seconds": seconds, "failure_streak": streak}
        record.append(Event(events.SOURCE_BREAKER_OPENED, DEFAULT_TENANT, data=data))
    if park_us and parked_until == now + park_us:
        data = {"source": key, "seconds": park_us / SECOND}
        record.append(Event(events.SOURCE_PARKED, DEFAULT_TENANT, data=data))
    return record


def _closed_again(admission: Admission, release: Release, row: Row) -> Denial | None:
    breaker, _, open_until, _, _, now, _ = row
    if not admission.is_probe or release.outcome != "failed" or breaker != "open":
        return None
    return Denial(admission.key, "breaker", open_until - now)


def _wants_permit(answers: Sequence[Answer]) -> bool:
    return isinstance(answers[-1], Denial) and answers[-1].gate == "permits"


def _turn(lease: Lease) -> tuple[bool, int, int, str]:
    """Who was told to come back at a turn comes first; then as in every claim."""
    return (lease.deferrals == 0, -lease.priority, lease.run_at, lease.id)


def _wait(lease: Lease, denial: Denial) -> PutBack:
    wait_us = permit_wait_us(lease.deferrals) if denial.gate == "permits" else denial.wait_us
    return PutBack("snooze", wait_us, refund=1, deferral=1, waiting_on=denial.name)
