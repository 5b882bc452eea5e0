"""Settling: how a lease ends. Each row is written under its fence; a stale one changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from penstock.engine.outcome import Failure
from penstock.engine.settlement import Finish, PutBack, Settlement, events_of
from penstock.engine.transitions import State
from penstock.stores.books import book
from penstock.stores.connection import Connection, Database, as_columns
from penstock.stores.events import Events
from penstock.stores.permits import Permits

Held = tuple[str, int]
"""The id and the fence of a lease: one worker may hold an old and a new lease of the same job."""


class Settling:
    """Writes the steps that jobs take when a lease ends."""

    def __init__(self, database: Database, events: Events, permits: Permits) -> None:
        self._db = database
        self._events = events
        self._permits = permits
        self._book = book("penstock.stores", database.dialect, "jobs")

    def settle(self, connection: Connection, settlements: Sequence[Settlement], worker: str) -> frozenset[str]:
        """Record how runs ended, with their permits and events, and return the ids that were accepted."""
        ends = [(s.lease.id, s.lease.fence, s.step) for s in settlements if isinstance(s.step, Finish)]
        finished = self.finish(connection, ends)
        again = [s for s in settlements if isinstance(s.step, PutBack)]
        put_back = self.put_back(connection, again)
        turned = self._cancel_instead(connection, [s for s in again if _held(s) not in put_back])
        accepted = finished | put_back | turned.keys()
        final = [turned.get(_held(s), s) for s in settlements if _held(s) in accepted]
        self._permits.free(connection, [s.lease for s in final])
        self._events.record(connection, [event for s in final for event in events_of(s, worker or s.lease.worker_id)])
        return frozenset(job_id for job_id, _ in accepted)

    def finish(
        self, connection: Connection, steps: Sequence[tuple[str, int, Finish]], was: State = State.RUNNING
    ) -> set[Held]:
        """Move jobs out of the hot table, each under its fence and from the state it was in."""
        rows = [
            {
                "id": job_id,
                "fence": fence,
                "was": str(was),
                "state": str(step.state),
                "reason": step.reason,
                "result": step.result,
                "facts": step.facts,
                "losses": step.losses,
                **_failure_columns(step.failure),
            }
            for job_id, fence, step in steps
        ]
        return self._each(connection, "settle", rows)

    def put_back(self, connection: Connection, settlements: Sequence[Settlement]) -> set[Held]:
        """Queue jobs again, each under its fence; those that were asked to cancel are left alone."""
        rows = [
            {
                "id": s.lease.id,
                "fence": s.lease.fence,
                "delay_us": s.step.delay_us,
                "refund": s.step.refund,
                "deferral": s.step.deferral,
                "losses": s.step.losses,
                "waiting_on": s.step.waiting_on,
                **_failure_columns(s.step.failure),
            }
            for s in settlements
            if isinstance(s.step, PutBack)
        ]
        return self._each(connection, "put_back", rows)

    def _cancel_instead(self, connection: Connection, refused: Sequence[Settlement]) -> dict[Held, Settlement]:
        """A job that was asked to cancel does not go back to the queue: it is cancelled."""
        if not refused:
            return {}
        rows = [{"id": s.lease.id, "fence": s.lease.fence} for s in refused]
        asked = connection.each(self._book["asked_to_cancel"], as_columns(rows), {})
        steps = {(job_id, fence): Finish(State.CANCELLED, reason) for job_id, fence, reason in asked}
        accepted = self.finish(connection, [(*held, step) for held, step in steps.items()])
        return {_held(s): replace(s, step=steps[_held(s)]) for s in refused if _held(s) in accepted}

    def _each(self, connection: Connection, entry: str, rows: Sequence[dict[str, Any]]) -> set[Held]:
        if not rows:
            return set()
        accepted = connection.each(self._book[entry], as_columns(rows), {"now": self._db.clock.now()})
        return {(job_id, fence) for job_id, fence in accepted}


def _held(settlement: Settlement) -> Held:
    return settlement.lease.id, settlement.lease.fence


def _failure_columns(failure: Failure | None) -> dict[str, str | None]:
    if failure is None:
        return {"error_class": None, "error_code": None, "error_message": None}
    return {"error_class": failure.error_class, "error_code": failure.code, "error_message": failure.message}
