"""The gates before other people's servers, shared by the fleet. Every answer is one statement."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from haulwright.clock import SECOND
from haulwright.engine.job import Lease, LeaseKey
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
from haulwright.errors import DatabaseUnavailable, LeaseLost
from haulwright.stores.books import Entry, book
from haulwright.stores.connection import Columns, Connection, Database, Params, Row, first
from haulwright.stores.events import Events
from haulwright.stores.job_rows import fenced
from haulwright.stores.sources.admission import Admission, Denial, Leaving, Release, Requester
from haulwright.stores.sources.answers import (
    Answer,
    Terms,
    answers_of,
    closed_again,
    release_events,
    wants_permit,
)
from haulwright.stores.sources.limits import Sources
from haulwright.stores.sources.waiters import SourceWaiters, permit_wait_us

UNASKED_SECONDS: Final = 0.1
"""How long a source that limits nothing is passed without a look, once it was seen open: so late a pause is seen."""
Run = Callable[[Entry, Params, Columns], list[Row] | None]
"""How a statement is run; None where it was not."""


class Gates:
    """The gates of all sources: asked, left, and given back."""

    def __init__(self, database: Database, record: Events, sources: Sources, waiters: SourceWaiters) -> None:
        self._db = database
        self._events = record
        self._sources = sources
        self._waiters = waiters
        self._book = book("haulwright.stores", database.dialect, "sources")
        self._admissions = database.process.admissions
        self._seen = database.process.open_sources

    def ask(
        self, key: str, requester: Requester, *, lease_seconds: float | None = None, patience: float = PATIENCE_SECONDS
    ) -> Answer | None:
        """Ask for one request, in one statement; None where the source is not known, and so not governed.

        Without a time of its own the right belongs to a run, and ends with its lease.
        """
        terms = Terms(lease_seconds, patience, fenced=lease_seconds is None)
        answers = self._pass(self._db.run_single, key, [requester], terms)
        if answers is not None and wants_permit(answers):
            again = partial(self._ask_again, key=key, requesters=[requester], answers=answers, terms=terms)
            answers = self._db.transact(again)  # between the two the lease may have been taken back
        if answers is None:
            self._require_lease(key, requester, terms)
            return None
        return answers[0]

    def ask_together(
        self,
        key: str,
        requesters: Sequence[Requester],
        *,
        lease_seconds: float | None = None,
        patience: float = PATIENCE_SECONDS,
        waiting: bool = True,
    ) -> list[Answer | None]:
        """The same for several, in one statement; None for each who has to `ask` alone, and got nothing here.

        Without `waiting` it is for an event loop, and where it would take more than a moment that is everybody.
        """
        places = sorted(range(len(requesters)), key=lambda place: not requesters[place].back)
        asking = [requesters[place] for place in places]
        terms = Terms(lease_seconds, patience, fenced=lease_seconds is None, lasting=waiting)
        answers: list[Answer | None] = [None] * len(requesters)
        for place, answer in zip(places, self._pass_together(key, asking, terms), strict=False):
            answers[place] = answer
        return answers

    def _pass_together(self, key: str, requesters: Sequence[Requester], terms: Terms) -> list[Answer]:
        """The answers for the first of them, as far as they are final."""
        waiting = terms.lasting
        if not (waiting or self._db.answers_at_once):
            return []
        answers = self._pass(self._db.run_single if waiting else self._run_at_once, key, requesters, terms) or []
        if answers and wants_permit(answers):
            granted = [answer for answer in answers if isinstance(answer, Admission)]
            rest = requesters[len(granted) :]
            return [*granted, *(self._find_permits(key, rest, answers[len(granted) :], terms) if waiting else [])]
        return answers

    def _find_permits(
        self, key: str, requesters: Sequence[Requester], answers: list[Answer], terms: Terms
    ) -> list[Answer]:
        """The same for those who found no permit; nothing where they have to ask alone, and hear why for themselves."""
        again = partial(self._ask_again, key=key, requesters=requesters, answers=answers, terms=terms)
        try:
            others: list[Answer] | None = self._db.transact(again)
        except DatabaseUnavailable:
            return []
        return others or []

    def pass_unlimited(self, key: str, holder: LeaseKey) -> Admission | None:
        """What a source gives that limits nothing and was seen open a moment ago: without a statement."""
        if self._db.clock.now() is not None:
            return None  # a clock that is set stands still, whatever happens meanwhile
        if not self._seen.was_unlimited(key, UNASKED_SECONDS):
            return None
        return Admission(key, 0, holder, heard=time.monotonic())

    def ask_on(self, connection: Connection, key: str, requesters: Sequence[Requester]) -> list[Answer] | None:
        """Ask for the jobs of a claim, in its transaction; None where the source is not governed."""
        terms = Terms(None, PATIENCE_SECONDS, fenced=False)  # their leases are as new as this transaction
        answers = self._pass(_on(connection), key, requesters, terms)
        if answers and wants_permit(answers):
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
        if state is not None:
            self._seen.note(state, began)
        return state is not None and state.shuts_out(admission.holder)

    def was_open(self, key: str, seconds: float) -> bool:
        """Whether this process saw within so many seconds that the source was open to everybody."""
        return self._seen.was_open(key, seconds)

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
            record = release_events(admission.key, row, params["park_us"])
            self._events.record(connection, record)
            if row[-1]:
                self._waiters.wake(connection, admission.key, 1)
            return bool(record), closed_again(admission, release, row)

        changed, closed = self._db.transact(work)
        if changed:
            self._sources.realign(admission.key)
        return closed

    def leave_together(self, leavings: Sequence[Leaving]) -> bool:
        """The same for several of one source that say nothing of it; False where `leave` has to do it.

        Where somebody waits for the permits, as many are woken, all in one transaction.
        """
        if self.leave_quietly(leavings):
            return True
        if not all(release.is_quiet for _, release in leavings):
            return False
        params, columns = self._quiet_leaving(leavings, waking=True)
        key = leavings[0].admission.key

        def work(connection: Connection) -> bool:
            row = first(connection.run_batch(self._book["leave_quietly"], columns, params))
            if row is not None and row[0]:
                self._waiters.wake(connection, key, len(leavings))
            return row is not None

        return self._db.transact(work)

    def leave_quietly(self, leavings: Sequence[Leaving], *, waiting: bool = True) -> bool | None:
        """The same where it changes nothing for others, and nobody waits; False where that is not so.

        Nothing depends on it, so it does not wait for the disk. Without `waiting` it is for an event loop: None, and
        nothing done, where it would take more than a moment.
        """
        if not all(release.is_quiet for _, release in leavings):
            return False
        if not (waiting or self._db.answers_at_once):
            return None
        params, columns = self._quiet_leaving(leavings, waking=False)
        rows = self._db.run_nondurable(self._book["leave_quietly"], params, columns, waiting=waiting)
        return None if rows is None else bool(rows)

    def _quiet_leaving(
        self, leavings: Sequence[Leaving], *, waking: bool
    ) -> tuple[dict[str, Any], dict[str, list[Any]]]:
        key = leavings[0].admission.key
        counted = [release for _, release in leavings if release.counts]
        params = {
            "key": key,
            "gate": gate_name(key, "permits"),
            "waking": waking,
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
        return params, columns

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

    def _pass(self, run: Run, key: str, requesters: Sequence[Requester], terms: Terms) -> list[Answer] | None:
        """The answers of one statement; None where there is none. A source that limits nothing is only looked at."""
        params = {
            "key": key,
            "lease_us": None if terms.lease_seconds is None else round(terms.lease_seconds * SECOND),
            "fenced": terms.fenced,
            "lasting": terms.lasting,
            "brief_us": round(BRIEF_SECONDS * SECOND),
            "patience_us": round(terms.patience * SECOND),
            "probe_us": round(PROBE_SECONDS * SECOND),
            "again_us": round(ASK_AGAIN_SECONDS * SECOND),
            "forever": FOREVER,
            "now": self._db.clock.now(),
        }
        holders = fenced([requester.holder for requester in requesters])
        began = time.monotonic()
        if self._seen.was_unlimited(key):
            if run(self._book["pass_unlimited"], {name: params[name] for name in ("key", "fenced", "now")}, holders):
                self._seen.note_open(key, began, is_unlimited=True)
                heard = time.monotonic()
                return [Admission(key, 0, holder, heard=heard) for holder, _ in requesters]
            self._seen.forget(key)
        places = list(range(1, len(requesters) + 1))
        columns = {"place": places, **holders, "back": [requester.back for requester in requesters]}
        rows = run(self._book["pass"], params, columns)
        if not rows:
            return None
        state = SourceState(*rows[0])
        self._seen.note(state, began)
        return answers_of(key, requesters, state)

    def _run_at_once(self, entry: Entry, params: Params, columns: Columns) -> list[Row] | None:
        return self._db.run_nondurable(entry, params, columns, waiting=False)

    def _ask_again(
        self,
        connection: Connection,
        key: str,
        requesters: Sequence[Requester],
        answers: list[Answer],
        terms: Terms,
    ) -> list[Answer] | None:
        """No permit is free: free those whose holders are gone, and where there are such, ask for the rest again.

        None where the rest is given no answer any more.
        """
        if not connection.run(self._book["drop_gone"], {"key": key, "now": self._db.clock.now()}):
            return answers
        admissions = [answer for answer in answers if isinstance(answer, Admission)]
        rest = requesters[len(admissions) :]
        others = self._pass(_on(connection), key, rest, terms)
        return None if others is None else [*admissions, *others]

    def _require_lease(self, key: str, requester: Requester, terms: Terms) -> None:
        """No answer came: either there is no such source, or the run has no authority any more."""
        if terms.fenced and self._sources.standing(key) is not None:
            raise LeaseLost(requester.holder.id, requester.holder.fence, "pass")


def _on(connection: Connection) -> Run:
    """In the open transaction of this connection."""
    return lambda entry, params, columns: connection.run_batch(entry, columns, params)


def _turn(lease: Lease) -> tuple[bool, int, int, str]:
    """Who was told to come back at a turn comes first; then as in every claim."""
    return (lease.deferrals == 0, -lease.priority, lease.run_at, lease.id)


def _wait(lease: Lease, denial: Denial) -> PutBack:
    wait_us = permit_wait_us(lease.deferrals) if denial.gate == "permits" else denial.wait_us
    return PutBack("snooze", wait_us, refund=1, deferral=1, waiting_on=denial.name)
