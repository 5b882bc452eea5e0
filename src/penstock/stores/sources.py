"""Sources: the gates before other people's servers, shared by the fleet. Every answer is one statement."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from penstock.clock import SECOND
from penstock.engine.job import Lease
from penstock.engine.settlement import PutBack
from penstock.engine.source import (
    ASK_AGAIN_SECONDS,
    BRIEF_SECONDS,
    FOREVER,
    LONGEST_COOL_DOWN_SECONDS,
    LONGEST_PARK_SECONDS,
    PATIENCE_SECONDS,
    PROBE_SECONDS,
    Standing,
    gate_name,
)
from penstock.errors import LeaseLost
from penstock.stores.books import book
from penstock.stores.connection import Connection, Database, Row, as_columns, first
from penstock.stores.events import Events
from penstock.stores.source_line import Line, permit_wait_us
from penstock.stores.source_rows import SourceRows, told_of_leaving


class Asker(NamedTuple):
    """Somebody who wants to make one request: a job under its fence, or somebody outside any job."""

    id: str
    fence: int
    back: bool = False
    """It comes back at the turn that it was given."""


class Passed(NamedTuple):
    """The right to make one request, from a moment on. A permit comes with it where the source has few of them."""

    key: str
    ticket: int
    id: str
    fence: int
    delay_us: int = 0
    """How long after the answer it begins."""
    heard: float = 0.0
    """When the answer came, by the monotonic clock of this process."""
    is_probe: bool = False
    """It is the one request by which an open breaker finds out how the server is."""

    @property
    def starts(self) -> float:
        """From when on it may be used, by the monotonic clock of this process."""
        return self.heard + self.delay_us / SECOND


class Refused(NamedTuple):
    """Not now: which gate is closed, and after how long the asker may come back."""

    key: str
    gate: str
    wait_us: int

    @property
    def name(self) -> str:
        """What a job waits on."""
        return gate_name(self.key, self.gate)


class Left(NamedTuple):
    """How a request ended, as far as it speaks of the server."""

    outcome: str
    """ok, failed, auth, answered (it says nothing, but there was an answer), or ignored."""
    park_seconds: float = 0.0
    sent: int = 0
    received: int = 0
    seconds: float = 0.0
    counts: bool = True
    """False where no request was made."""


class Sources(SourceRows):
    """The gates: asked, left, and given back."""

    def __init__(self, database: Database, events: Events) -> None:
        super().__init__(database, events, Line(database))
        self._gates = book("penstock.stores", database.dialect, "sources")
        self._claimed: dict[tuple[str, int], Passed] = {}
        """What jobs of this process got with their claim and have not used yet, by id and fence."""
        self._claims_here = False
        self._adopted: tuple[str, int] | None = None

    def ask(
        self, key: str, asker: Asker, *, lease_seconds: float | None = None, patience: float = PATIENCE_SECONDS
    ) -> Passed | Refused | None:
        """Ask for one request, in one statement; None where the source is not known, and so not governed.

        Without a time of its own the right belongs to a run, and ends with its lease.
        """
        how = _How(_microseconds(lease_seconds), patience, fenced=lease_seconds is None)
        params, columns = self._asked(key, [asker], how)
        answered = _answers(key, [asker], self._db.alone(self._gates["pass"], params, columns))
        if answered is None:
            self._require_lease(key, asker, how)
            return None
        if _wants_permit(answered):
            again = partial(self._ask_again, key=key, askers=[asker], answered=answered, how=how)
            answered = self._db.transact(again)
        return answered[0]

    def ask_at_once(
        self, key: str, asker: Asker, *, lease_seconds: float | None = None, patience: float = PATIENCE_SECONDS
    ) -> Passed | Refused | None:
        """The same for an event loop: without waiting for anything. None where that cannot be, and `ask` has to."""
        if self._db.dialect == "postgres":  # a trip is more than a moment
            return None
        how = _How(_microseconds(lease_seconds), patience, fenced=lease_seconds is None, lasting=False)
        params, columns = self._asked(key, [asker], how)
        rows = self._db.lightly(self._gates["pass"], params, columns, waiting=False)
        answered = _answers(key, [asker], rows or ())
        return None if answered is None or _wants_permit(answered) else answered[0]

    def ask_on(self, connection: Connection, key: str, askers: Sequence[Asker]) -> list[Passed | Refused] | None:
        """Ask for the jobs of a claim, in its transaction; None where the source is not governed."""
        how = _How(None, PATIENCE_SECONDS, fenced=False)  # their leases are as new as this transaction
        params, columns = self._asked(key, askers, how)
        answered = _answers(key, askers, connection.each(self._gates["pass"], columns, params))
        if answered and _wants_permit(answered):
            return self._ask_again(connection, key, askers, answered, how)
        return answered

    def take_claimed(self, lease: Lease) -> Passed | None:
        """What a job got with its claim, once. A process that did not claim it finds it in the database."""
        held = (lease.id, lease.fence)
        found = self._claimed.pop(held, None)
        if found is None and not self._claims_here and self._adopted != held:
            self._adopted = held
            found = self._adopt(lease)
        return found

    def is_shut_to(self, passed: Passed) -> bool:
        """Whether the source was closed after it let somebody through: to be asked before an old right is used."""
        standing = self.standing(passed.key)
        return standing is not None and standing.shuts_out(passed.id, passed.fence)

    def leave(self, passed: Passed, left: Left) -> Refused | None:
        """Give the right back, and say what the request taught about the server.

        Where it was the probe of a breaker and failed, the answer is how long the source is closed again.
        """
        if self.leave_quietly(passed, left):
            return None
        params = self._leaving(passed, left)

        def work(connection: Connection) -> tuple[bool, Refused | None]:
            row = first(connection.all(self._gates["leave"], params))
            if row is None:
                return False, None
            told = told_of_leaving(passed.key, row, params["park_us"])
            self._events.record(connection, told)
            if row[-1]:
                self._line.wake(connection, passed.key, 1)
            return bool(told), _closed_again(passed, left, row)

        changed, closed = self._db.transact(work)
        if changed:
            self.realign(passed.key)
        return closed

    def leave_quietly(self, passed: Passed, left: Left, *, waiting: bool = True) -> bool:
        """Give the right back where that changes nothing for anybody else; False where there is more to it.

        Nothing depends on it, so it does not wait for the disk; without `waiting` not for anything.
        """
        if left.outcome in ("failed", "auth") or left.park_seconds > 0:
            return False
        return bool(self._db.lightly(self._gates["leave_quietly"], self._leaving(passed, left), waiting=waiting))

    def _leaving(self, passed: Passed, left: Left) -> dict[str, Any]:
        park_us = round(min(max(left.park_seconds, 0.0), LONGEST_PARK_SECONDS) * SECOND)
        return {
            "key": passed.key,
            "gate": gate_name(passed.key, "permits"),
            "ticket": passed.ticket,
            "id": passed.id,
            "fence": passed.fence,
            "outcome": left.outcome,
            "park_us": park_us,
            "sent": left.sent,
            "received": left.received,
            "busy_us": round(left.seconds * SECOND),
            "counts": left.counts,
            "longest_us": round(LONGEST_COOL_DOWN_SECONDS * SECOND),
            "now": self._db.clock.now(),
        }

    def give_back(self, connection: Connection, leases: Sequence[Lease]) -> None:
        """Free the permits and probes of leases that ended, in the transaction that ends them; wake as many waiters."""
        if not leases:
            return
        held = as_columns([{"id": lease.id, "fence": lease.fence} for lease in leases])
        for lease in leases:
            self._claimed.pop((lease.id, lease.fence), None)
        for key, permits in connection.each(self._gates["give_back"], held, {"now": self._db.clock.now()}):
            if permits:
                self._line.wake(connection, key, int(permits))

    def pass_claim(self, connection: Connection, leases: Sequence[Lease]) -> list[tuple[Lease, PutBack]]:
        """Ask for the jobs of a claim, once for each source; those that must wait come back with their step.

        What the others got is kept until their first request uses it.
        """
        self._claims_here = True
        waiting: list[tuple[Lease, PutBack]] = []
        by_source: dict[str, list[Lease]] = {}
        for lease in leases:
            if lease.source is not None:
                by_source.setdefault(lease.source, []).append(lease)
        for key in sorted(by_source):  # in one order, so that two claims never wait for each other in a circle
            asking = sorted(by_source[key], key=_turn)
            askers = [Asker(lease.id, lease.fence, lease.deferrals > 0) for lease in asking]
            refused = []
            for lease, answer in zip(asking, self.ask_on(connection, key, askers) or (), strict=False):
                if isinstance(answer, Refused):
                    refused.append((lease, _wait(lease, answer)))
                else:
                    self._claimed[lease.id, lease.fence] = answer
            if refused:
                self._line.park(connection, key, [lease for lease, _ in refused])
            waiting += refused
        return waiting

    def _adopt(self, lease: Lease) -> Passed | None:
        """What another process got for a job. To ask anew instead would cost a second place in the rate.

        Where that has room for one in an hour, such a job would never be let through.
        """
        params = {
            "key": lease.source,
            "id": lease.id,
            "fence": lease.fence,
            "leased_at": lease.leased_at,
            "patience_us": round(PATIENCE_SECONDS * SECOND),
            "now": self._db.clock.now(),
        }
        row = self._db.read(lambda connection: first(connection.all(self._gates["claimed"], params)))
        if row is None or lease.source is None:
            return None
        ticket, delay_us, age_us, is_probe = row
        heard = time.monotonic() - age_us / SECOND
        return Passed(lease.source, ticket, lease.id, lease.fence, delay_us, heard, is_probe=bool(is_probe))

    def _asked(self, key: str, askers: Sequence[Asker], how: _How) -> tuple[dict[str, Any], dict[str, list[Any]]]:
        params = {
            "key": key,
            "lease_us": how.lease_us,
            "fenced": how.fenced,
            "lasting": how.lasting,
            "brief_us": round(BRIEF_SECONDS * SECOND),
            "patience_us": round(how.patience * SECOND),
            "probe_us": round(PROBE_SECONDS * SECOND),
            "again_us": round(ASK_AGAIN_SECONDS * SECOND),
            "forever": FOREVER,
            "now": self._db.clock.now(),
        }
        columns: dict[str, list[Any]] = {
            "place": list(range(1, len(askers) + 1)),
            "id": [asker.id for asker in askers],
            "fence": [asker.fence for asker in askers],
            "back": [asker.back for asker in askers],
        }
        return params, columns

    def _ask_again(
        self,
        connection: Connection,
        key: str,
        askers: Sequence[Asker],
        answered: list[Passed | Refused],
        how: _How,
    ) -> list[Passed | Refused]:
        """No permit is free: free those whose holders are gone, and where there are such, ask for the rest again."""
        if not connection.all(self._gates["drop_gone"], {"key": key, "now": self._db.clock.now()}):
            return answered
        got = [one for one in answered if isinstance(one, Passed)]
        rest = askers[len(got) :]
        params, columns = self._asked(key, rest, how)
        return [*got, *(_answers(key, rest, connection.each(self._gates["pass"], columns, params)) or [])]

    def _require_lease(self, key: str, asker: Asker, how: _How) -> None:
        """No answer came: either there is no such source, or the run has no authority any more."""
        if how.fenced and self.standing(key) is not None:
            raise LeaseLost(asker.id, asker.fence, "pass")


class _How(NamedTuple):
    lease_us: int | None
    """How long a permit lasts that belongs to no run."""
    patience: float
    fenced: bool
    lasting: bool = True


def _microseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * SECOND)


def _answers(key: str, askers: Sequence[Asker], rows: Sequence[Row]) -> list[Passed | Refused] | None:
    """Who got through and from when on, and who comes back after how long. Those who came first are served first."""
    if not rows:
        return None
    standing = Standing(*rows[0])
    first_ticket = standing.tickets - standing.granted + 1
    heard = time.monotonic()
    passed: list[Passed | Refused] = [
        Passed(key, first_ticket + place, one.id, one.fence, delay_us, heard, standing.is_probe(one.id, one.fence))
        for place, (one, delay_us) in enumerate(zip(askers, standing.delays_us(), strict=False))
    ]
    refused = len(askers) - standing.granted
    if refused:
        gate = standing.refusal().gate
        waits = [0] * refused if gate == "permits" else standing.turns_us(refused)
        passed += [Refused(key, gate, wait_us) for wait_us in waits]
    return passed


def _closed_again(passed: Passed, left: Left, row: Row) -> Refused | None:
    breaker, _, open_until, _, _, now, _ = row
    if not passed.is_probe or left.outcome != "failed" or breaker != "open":
        return None
    return Refused(passed.key, "breaker", open_until - now)


def _wants_permit(answered: Sequence[Passed | Refused]) -> bool:
    return isinstance(answered[-1], Refused) and answered[-1].gate == "permits"


def _turn(lease: Lease) -> tuple[bool, int, int, str]:
    """Who was told to come back at a turn comes first; then as in every claim."""
    return (lease.deferrals == 0, -lease.priority, lease.run_at, lease.id)


def _wait(lease: Lease, refused: Refused) -> PutBack:
    wait_us = permit_wait_us(lease.deferrals) if refused.gate == "permits" else refused.wait_us
    return PutBack("snooze", wait_us, refund=1, deferral=1, waiting_on=refused.name)
