"""Settling: how a lease ends. Each row is written under its fence; a stale one changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from penstock.engine.outcome import Failure
from penstock.engine.settlement import Finish, PutBack, Settlement, events_of
from penstock.engine.transitions import State
from penstock.stores.books import book
from penstock.stores.connection import Connection, Database
from penstock.stores.events import Events
from penstock.stores.permits import Permits


class Settling:
    """Writes the steps that jobs take when a lease ends."""

    def __init__(self, database: Database, events: Events, permits: Permits) -> None:
        self._db = database
        self._events = events
        self._permits = permits
        self._book = book("penstock.stores", database.dialect, "jobs")

    def settle(self, connection: Connection, settlements: Sequence[Settlement], worker: str) -> frozenset[str]:
        """Record how runs ended, with their permits and events, and return the ids that were accepted."""
        finished = self.finish(connection, [(s.lease.id, s.lease.fence, s.step) for s in _finishing(settlements)])
        again = [s for s in settlements if isinstance(s.step, PutBack)]
        put_back = self.put_back(connection, again)
        turned = self._cancel_instead(connection, [s for s in again if s.lease.id not in put_back])
        accepted = finished | put_back | turned.keys()
        final = [turned.get(s.lease.id, s) for s in settlements if s.lease.id in accepted]
        self._permits.free(connection, [s.lease for s in final])
        self._events.record(connection, [event for s in final for event in events_of(s, worker or s.lease.worker_id)])
        return frozenset(accepted)

    def finish(
        self, connection: Connection, steps: Sequence[tuple[str, int, Finish]], was: State = State.RUNNING
    ) -> set[str]:
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

    def put_back(self, connection: Connection, settlements: Sequence[Settlement]) -> set[str]:
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

    def _cancel_instead(self, connection: Connection, refused: Sequence[Settlement]) -> dict[str, Settlement]:
        """A job that was asked to cancel does not go back to the queue: it is cancelled."""
        if not refused:
            return {}
        columns = {"id": [s.lease.id for s in refused], "fence": [s.lease.fence for s in refused]}
        asked = connection.each(self._book["asked_to_cancel"], columns, {})
        steps = {job_id: Finish(State.CANCELLED, reason) for job_id, _, reason in asked}
        accepted = self.finish(connection, [(job_id, fence, steps[job_id]) for job_id, fence, _ in asked])
        return {s.lease.id: replace(s, step=steps[s.lease.id]) for s in refused if s.lease.id in accepted}

    def _each(self, connection: Connection, entry: str, rows: Sequence[dict[str, Any]]) -> set[str]:
        if not rows:
            return set()
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        accepted = connection.each(self._book[entry], columns, {"now": self._db.clock.now()})
        return {job_id for (job_id,) in accepted}


def _finishing(settlements: Sequence[Settlement]) -> list[Any]:
    return [s for s in settlements if isinstance(s.step, Finish)]


def _failure_columns(failure: Failure | None) -> dict[str, str | None]:
    if failure is None:
        return {"error_class": None, "error_code": None, "error_message": None}
    return {"error_class": failure.error_class, "error_code": failure.code, "error_message": failure.message}
