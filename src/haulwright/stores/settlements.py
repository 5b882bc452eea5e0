"""Settlements: how leases end. Each row is written under its fence; a stale one changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from haulwright.engine.job import HeldLease, LeaseKey
from haulwright.engine.join import JOIN_GATE
from haulwright.engine.outcome import Failure, frames_text
from haulwright.engine.settlement import Finish, PutBack, Settlement, events_of
from haulwright.engine.transitions import State
from haulwright.stores.books import book
from haulwright.stores.connection import Connection, Database
from haulwright.stores.events import Events
from haulwright.stores.job_rows import Fenced, fenced
from haulwright.stores.joins import Joins
from haulwright.stores.permits import Permits
from haulwright.stores.sources.gate import Gates

Ending = tuple[Fenced, Finish]
"""The end of a job, and the right to write it."""


class Settlements:
    """The steps that jobs take when a lease ends."""

    def __init__(self, database: Database, events: Events, permits: Permits, gates: Gates, joins: Joins) -> None:
        self._db = database
        self._events = events
        self._permits = permits
        self._gates = gates
        self._joins = joins
        self._book = book("haulwright.stores", database.dialect, "jobs")

    def settle(self, settlements: Sequence[Settlement], worker: str = "") -> frozenset[str]:
        """Record how runs ended, all in one transaction, and return the ids that were accepted.

        An id that does not come back had lost its lease: its outcome is discarded.
        """
        if are_plain_successes(settlements):
            return self._settle_successes(settlements)
        work = partial(self.settle_on, settlements=settlements, worker=worker)
        return self._db.transact(work, rows=len(settlements))

    def settle_on(self, connection: Connection, settlements: Sequence[Settlement], worker: str = "") -> frozenset[str]:
        """Record how runs ended, with their permits and events, inside a transaction of the caller."""
        again = [s for s in settlements if isinstance(s.step, PutBack)]
        put_back = self.put_back(connection, again)
        # Last what wakes others: nobody who is woken is locked while this waits for anybody.
        finished = self.finish(connection, [(s.lease, s.step) for s in settlements if isinstance(s.step, Finish)])
        turned = self._cancel_instead(connection, [s for s in again if s.lease.key not in put_back])
        accepted = finished | put_back | turned.keys()
        final = [turned.get(s.lease.key, s) for s in settlements if s.lease.key in accepted]
        self._permits.free(connection, [s.lease for s in final])
        self._gates.give_back(connection, [s.lease.key for s in final if s.lease.source or s.step.losses])
        self._events.record(connection, [event for s in final for event in events_of(s, worker or s.lease.worker_id)])
        return frozenset(job_id for job_id, _, _ in accepted)

    def ended_by(self, lease: HeldLease) -> bool:
        """Whether the job stands as after a settlement of this very lease: to be asked after a lost reply."""
        params = {**lease.key._asdict(), "losses": lease.losses}
        return bool(self._db.read(lambda connection: connection.run(self._book["ended"], params)))

    def finish(self, connection: Connection, endings: Sequence[Ending], was: State = State.RUNNING) -> set[LeaseKey]:
        """Move jobs out of the hot table, each under its fence and from the state it was in."""
        if not endings:
            return set()
        ended = connection.run_batch(self._book["settle"], finish_columns(endings, was), {"now": self._db.clock.now()})
        joined = [job_id for job_id, _, _, is_joined in ended if is_joined]
        if joined:
            self._joins.wake(connection, joined)
        return {LeaseKey(job_id, fence, worker_id) for job_id, fence, worker_id, _ in ended}

    def put_back(self, connection: Connection, settlements: Sequence[Settlement]) -> set[LeaseKey]:
        """Queue jobs again, each under its fence; those that were asked to cancel are left alone."""
        steps = [(s.lease, s.step) for s in settlements if isinstance(s.step, PutBack)]
        if not steps:
            return set()
        columns: dict[str, list[Any]] = {
            **fenced([lease for lease, _ in steps]),
            "delay_us": [step.delay_us for _, step in steps],
            "refund": [step.refund for _, step in steps],
            "deferral": [step.deferral for _, step in steps],
            "losses": [step.losses for _, step in steps],
            "waiting_on": [step.waiting_on for _, step in steps],
            **_failure_columns([step.failure for _, step in steps]),
        }
        rows = connection.run_batch(self._book["put_back"], columns, {"now": self._db.clock.now()})
        queued = set(rows)
        accepted = {lease.key for lease, _ in steps if lease.key[:2] in queued}
        joining = [lease.id for lease, step in steps if step.waiting_on == JOIN_GATE]
        if joining:
            self._joins.settle_in(connection, [job_id for job_id, _, _ in accepted if job_id in joining])
        return accepted

    def _settle_successes(self, settlements: Sequence[Settlement]) -> frozenset[str]:
        """Record first successes of one worker that need neither events nor permits, in a single statement if it can.

        What that leaves is settled with those that wait for it, or has lost its lease.
        """
        endings: list[Ending] = [(s.lease, s.step) for s in settlements if isinstance(s.step, Finish)]
        columns: dict[str, list[Any]] = {
            "id": [lease.id for lease, _ in endings],
            "result": [step.result for _, step in endings],
            "event_fields": [step.event_fields for _, step in endings],
        }
        common = {"worker_id": settlements[0].lease.worker_id, "now": self._db.clock.now()}
        rows = self._db.run_single(self._book["settle_successes"], common, columns)
        accepted = frozenset(job_id for (job_id,) in rows)
        left = [ending for ending in endings if ending[0].id not in accepted]
        if left:
            ended = self._db.transact(lambda connection: self.finish(connection, left), rows=len(left))
            accepted |= {job_id for job_id, _, _ in ended}
        return accepted

    def _cancel_instead(self, connection: Connection, refused: Sequence[Settlement]) -> dict[LeaseKey, Settlement]:
        """A job that was asked to cancel does not go back to the queue: it is cancelled."""
        if not refused:
            return {}
        rows = connection.run_batch(self._book["asked_to_cancel"], fenced([s.lease for s in refused]), {})
        ends = {LeaseKey(*held): Finish(State.CANCELLED, reason) for *held, reason in rows}
        accepted = self.finish(connection, list(ends.items()))
        return {s.lease.key: s._replace(step=ends[s.lease.key]) for s in refused if s.lease.key in accepted}


def are_plain_successes(settlements: Sequence[Settlement]) -> bool:
    """Whether all are first successes of one worker whose rows alone tell all of them."""
    holder = settlements[0].lease.worker_id if settlements else None
    return holder is not None and all(is_plain_success(s) and s.lease.worker_id == holder for s in settlements)


def is_plain_success(settlement: Settlement) -> bool:
    """Whether a first run succeeded that held no permit and is not audited: its row alone tells all of it."""
    lease, step = settlement.lease, settlement.step
    first = lease.fence == 1 and lease.concurrency_key is None and lease.source is None and not lease.audited
    return first and isinstance(step, Finish) and step.state is State.SUCCEEDED


def finish_columns(endings: Sequence[Ending], was: State = State.RUNNING) -> dict[str, list[Any]]:
    """Ends of jobs as columns."""
    return {
        **fenced([lease for lease, _ in endings]),
        "was": [str(was)] * len(endings),
        "state": [str(step.state) for _, step in endings],
        "reason": [step.reason for _, step in endings],
        "result": [step.result for _, step in endings],
        "event_fields": [step.event_fields for _, step in endings],
        "losses": [step.losses for _, step in endings],
        **_failure_columns([step.failure for _, step in endings]),
    }


def _failure_columns(failures: Sequence[Failure | None]) -> dict[str, list[Any]]:
    return {
        "error_class": [failure and failure.error_class for failure in failures],
        "error_code": [failure and failure.code for failure in failures],
        "error_message": [failure and failure.message for failure in failures],
        "error_frames": [failure and frames_text(failure.frames) for failure in failures],
    }
