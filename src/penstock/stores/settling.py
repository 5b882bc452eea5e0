"""Settling: how a lease ends. Each row is written under its fence; a stale one changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.engine.outcome import Failure
from penstock.engine.settlement import Finish, PutBack, Settlement, events_of
from penstock.engine.transitions import State
from penstock.stores.books import book
from penstock.stores.connection import Connection, Database, as_columns
from penstock.stores.events import Events
from penstock.stores.permits import Permits
from penstock.stores.sources import Sources

Held = tuple[str, int]
"""The id and the fence of a lease: one worker may hold an old and a new lease of the same job."""


class Settling:
    """Writes the steps that jobs take when a lease ends."""

    def __init__(self, database: Database, events: Events, permits: Permits, sources: Sources) -> None:
        self._db = database
        self._events = events
        self._permits = permits
        self._sources = sources
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
        self._sources.give_back(connection, [s.lease for s in final if s.lease.source or s.step.losses])
        self._events.record(connection, [event for s in final for event in events_of(s, worker or s.lease.worker_id)])
        return frozenset(job_id for job_id, _ in accepted)

    def settle_plain(self, settlements: Sequence[Settlement]) -> frozenset[str]:
        """Record successes that need neither events nor permits, in a single statement where the database can."""
        columns = finish_columns([(s.lease.id, s.lease.fence, s.step) for s in settlements])  # type: ignore[misc]
        accepted = self._db.alone(self._book["settle"], {"now": self._db.clock.now()}, columns)
        return frozenset(job_id for job_id, _ in accepted)

    def finish(
        self, connection: Connection, steps: Sequence[tuple[str, int, Finish]], was: State = State.RUNNING
    ) -> set[Held]:
        """Move jobs out of the hot table, each under its fence and from the state it was in."""
        return self._each(connection, "settle", finish_columns(steps, was))

    def put_back(self, connection: Connection, settlements: Sequence[Settlement]) -> set[Held]:
        """Queue jobs again, each under its fence; those that were asked to cancel are left alone."""
        steps = [(s.lease, s.step) for s in settlements if isinstance(s.step, PutBack)]
        columns: dict[str, list[Any]] = {
            "id": [lease.id for lease, _ in steps],
            "fence": [lease.fence for lease, _ in steps],
            "delay_us": [step.delay_us for _, step in steps],
            "refund": [step.refund for _, step in steps],
            "deferral": [step.deferral for _, step in steps],
            "losses": [step.losses for _, step in steps],
            "waiting_on": [step.waiting_on for _, step in steps],
            **_failure_columns([step.failure for _, step in steps]),
        }
        return self._each(connection, "put_back", columns)

    def _cancel_instead(self, connection: Connection, refused: Sequence[Settlement]) -> dict[Held, Settlement]:
        """A job that was asked to cancel does not go back to the queue: it is cancelled."""
        if not refused:
            return {}
        rows = [{"id": s.lease.id, "fence": s.lease.fence} for s in refused]
        asked = connection.each(self._book["asked_to_cancel"], as_columns(rows), {})
        steps = {(job_id, fence): Finish(State.CANCELLED, reason) for job_id, fence, reason in asked}
        accepted = self.finish(connection, [(*held, step) for held, step in steps.items()])
        return {_held(s): s._replace(step=steps[_held(s)]) for s in refused if _held(s) in accepted}

    def _each(self, connection: Connection, entry: str, columns: dict[str, list[Any]]) -> set[Held]:
        if not columns["id"]:
            return set()
        accepted = connection.each(self._book[entry], columns, {"now": self._db.clock.now()})
        return {(job_id, fence) for job_id, fence in accepted}


def is_plain_success(settlement: Settlement) -> bool:
    """Whether a first run succeeded that held no permit: its row alone tells all of it."""
    lease, step = settlement.lease, settlement.step
    first = lease.fence == 1 and lease.concurrency_key is None and lease.source is None
    return first and isinstance(step, Finish) and step.state is State.SUCCEEDED


def finish_columns(steps: Sequence[tuple[str, int, Finish]], was: State = State.RUNNING) -> dict[str, list[Any]]:
    """Ends of jobs as columns."""
    return {
        "id": [job_id for job_id, _, _ in steps],
        "fence": [fence for _, fence, _ in steps],
        "was": [str(was)] * len(steps),
        "state": [str(step.state) for _, _, step in steps],
        "reason": [step.reason for _, _, step in steps],
        "result": [step.result for _, _, step in steps],
        "facts": [step.facts for _, _, step in steps],
        "losses": [step.losses for _, _, step in steps],
        **_failure_columns([step.failure for _, _, step in steps]),
    }


def _held(settlement: Settlement) -> Held:
    return settlement.lease.id, settlement.lease.fence


def _failure_columns(failures: Sequence[Failure | None]) -> dict[str, list[Any]]:
    return {
        "error_class": [failure and failure.error_class for failure in failures],
        "error_code": [failure and failure.code for failure in failures],
        "error_message": [failure and failure.message for failure in failures],
    }
