"""Jobs from the outside: enqueue, cancel, requeue, prune. What a running worker does is in `leases`."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from penstock import events
from penstock.clock import SECOND
from penstock.engine.ids import is_id
from penstock.engine.job import Enqueued, NewJob
from penstock.engine.keys import digest
from penstock.engine.settlement import Finish
from penstock.engine.transitions import State, require
from penstock.errors import (
    AlreadyRequeued,
    Conflict,
    DatabaseUnavailable,
    DuplicateMismatch,
    IllegalTransition,
    NotFound,
)
from penstock.events import Event
from penstock.stores.bellrope import BellRope
from penstock.stores.books import Entry, book
from penstock.stores.connection import Connection, Database, as_columns, first
from penstock.stores.effects import Effects
from penstock.stores.events import Events, as_text
from penstock.stores.job_rows import DeadLetter, Requeue, lasting_keys, loaded, only_key, row_of
from penstock.stores.leases import Leases

CHUNKS_AT_ONCE = 2
TWIN_TRIES = 5
"""How often an enqueue is tried again whose twin finished between the conflict and the look at it."""


class Jobs:
    """The jobs of a database."""

    def __init__(self, database: Database, record: Events, leases: Leases, effects: Effects) -> None:
        self._db = database
        self._events = record
        self._leases = leases
        self._effects = effects
        self._book = book("penstock.stores", database.dialect, "jobs")
        self._bell = BellRope()

    def enqueue(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """Write jobs and return what stands for each, in order. Each chunk is on disk whole, or not at all."""
        if len(jobs) == 1 and (not lasting_keys(jobs[0]) or only_key(jobs[0])):
            return [self._enqueue_alone(jobs[0])]
        size = self._db.rows_to_load
        chunks = [jobs[start : start + size] for start in range(0, len(jobs), size)]
        if len(chunks) == 1 or self._db.writers == 1:
            return [made for chunk in chunks for made in self._enqueue_chunk(chunk)]
        # While the server writes one chunk, the next is made ready. After a failure no further one begins.
        with ThreadPoolExecutor(CHUNKS_AT_ONCE) as threads:
            return [made for chunk in threads.map(self._enqueue_chunk, chunks) for made in chunk]

    def _enqueue_chunk(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        return self._db.transact(partial(self.enqueue_on, jobs=jobs), rows=len(jobs))

    def enqueue_on(self, connection: Connection, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """Write jobs inside a transaction of the caller."""
        if len(jobs) > 1 and all(job.job_key is None and job.unique is None for job in jobs):
            self._load(connection, jobs)
            return [Enqueued(job.id, True) for job in jobs]  # noqa: FBT003 - by place, which is faster, and there are many
        if len(jobs) > 1 and not any(lasting_keys(job) for job in jobs):
            return self._insert_many(connection, jobs)
        return [self._enqueue_one(connection, job) for job in jobs]

    def enqueue_told(self, connection: Connection, job: NewJob, name: str, data: dict[str, Any]) -> Enqueued:
        """Write one job inside a transaction of the caller, and an event about it where it was made."""
        return self._enqueue_one(connection, job, Event(name, job.tenant, job.id, data=data))

    def cancel(self, job_id: str, *, tenant: str | None, reason: str, actor: str) -> State:
        """Cancel a job: at once where it waits, by a signal to its run where it runs."""
        _require_id(job_id)

        def work(connection: Connection) -> State:
            row = first(connection.all(self._book["lock_any"], {"id": job_id, "tenant": tenant}))
            if row is None:
                self._refuse_finished(connection, job_id, tenant, "cancel")
                raise NotFound("job", job_id)
            _, fence, state, owner, _ = row
            require(job_id, State(state), "cancel")
            if state == State.QUEUED:
                self._leases.finish_queued(connection, job_id, fence, Finish(State.CANCELLED, reason))
                name, after = events.JOB_CANCELLED, State.CANCELLED
            else:
                params = {"id": job_id, "fence": fence, "reason": reason, "now": self._db.clock.now()}
                connection.all(self._book["ask_to_cancel"], params)
                name, after = events.JOB_CANCEL_REQUESTED, State.RUNNING
            data = {"job_id": job_id, "reason": reason}
            self._events.record(connection, [Event(name, owner, job_id, fence=fence, actor=actor, data=data)])
            return after

        return self._db.transact(work)

    def retry(self, job_id: str, *, tenant: str | None, reason: str, actor: str) -> bool:
        """Make a waiting job due at once, whatever it waited for; False where it is due already."""
        _require_id(job_id)

        def work(connection: Connection) -> bool:
            row = first(connection.all(self._book["lock_any"], {"id": job_id, "tenant": tenant}))
            if row is None:
                self._refuse_finished(connection, job_id, tenant, "retry")
                raise NotFound("job", job_id)
            _, fence, state, owner, _ = row
            if state != State.QUEUED:
                raise IllegalTransition(job_id, state, "retry")
            params = {"id": job_id, "fence": fence, "now": self._db.clock.now()}
            hastened = first(connection.all(self._book["retry"], params))
            if hastened is None:
                return False
            data = {"job_id": job_id, "retry_count": hastened[0], "delay_seconds": 0, "reason": reason}
            told = Event(events.JOB_RETRY, owner, job_id, fence=fence, actor=actor, data=data)
            self._events.record(connection, [told])
            return True

        return self._db.transact(work)

    def requeue(self, job_id: str, how: Requeue, *, tenant: str | None) -> Enqueued:
        """Give a dead letter another life as a new job, linked to it. It can be done only once."""
        _require_id(job_id)
        return self._db.transact(lambda connection: self._requeue_on(connection, job_id, how, tenant))

    def prune(self, state: State, age_seconds: float, limit: int = 500) -> int:
        """Remove finished jobs of one state older than an age, with what only they needed. One event tells of it.

        Keys that were unique for a time go when that is over, whatever became of their jobs.
        """
        params = {
            "state": str(state),
            "age_us": round(age_seconds * SECOND),
            "limit": limit,
            "now": self._db.clock.now(),
        }

        def work(connection: Connection) -> int:
            connection.all(self._book["prune_keys"], {"limit": limit, "now": params["now"]})
            gone = connection.all(self._book["prune"], params)
            # A requeued letter leaves its effects and stages to its successor, which has the same job key.
            self._effects.prune(connection, [(tenant, key) for tenant, key, successor in gone if successor is None])
            counts: dict[str, int] = {}
            for tenant, _, _ in gone:
                counts[tenant] = counts.get(tenant, 0) + 1
            told = [
                Event(events.JOBS_PRUNED, tenant, data={"state": str(state), "count": n, "age_seconds": age_seconds})
                for tenant, n in sorted(counts.items())
            ]
            self._events.record(connection, told)
            return len(gone)

        return self._db.transact(work)

    def _enqueue_alone(self, job: NewJob) -> Enqueued:
        """One job in one trip, which is how most are enqueued."""
        try:
            if self._db.alone(*self._in_one_trip(job)):
                return Enqueued(job.id, created=True)
        except DatabaseUnavailable as trouble:
            if not trouble.outcome_unknown:
                raise
            return self._db.transact(lambda connection: self._enqueue_in_doubt(connection, job))
        return self._db.transact(lambda connection: self._enqueue_step_by_step(connection, job))

    def _enqueue_in_doubt(self, connection: Connection, job: NewJob) -> Enqueued:
        """Enqueue a job whose first try may have succeeded: then it is there under its id, or finished already."""
        for entry in ("lock_any", "dead_letter"):
            if connection.all(self._book[entry], {"id": job.id, "tenant": job.tenant}):
                return Enqueued(job.id, created=True)
        return self._enqueue_step_by_step(connection, job)

    def _enqueue_one(self, connection: Connection, job: NewJob, told: Event | None = None) -> Enqueued:
        if only_key(job) and connection.all(*self._in_one_trip(job, told)):
            return Enqueued(job.id, created=True)
        standing = self._enqueue_step_by_step(connection, job)
        if told is not None and standing.created:
            self._events.record(connection, [told])
        return standing

    def _in_one_trip(self, job: NewJob, told: Event | None = None) -> tuple[Entry, dict[str, Any]]:
        """What writes a job that has no lasting key, or one and nothing else that is unique; then also what is told."""
        key = only_key(job)
        if key is None:
            return self._book["enqueue"], self._params(job)
        kind, key_task, name, period_us = key
        named = {"kind": kind, "key_task": key_task, "key": name, "period_us": period_us}
        event = {"event": told and told.name, "event_data": told and as_text(told.data)}
        return self._book["enqueue_keyed"], self._params(job) | named | event | {"args_digest": digest(job.args)}

    def _enqueue_step_by_step(self, connection: Connection, job: NewJob) -> Enqueued:
        """Take the keys of a job one by one, then write it; who holds one of them stands for it."""
        taken, holder = self._take_keys(connection, job)
        standing = holder or self._insert(connection, job)
        if not standing.created:
            for key in taken:  # a key must never stand for a job that was not made
                connection.all(self._book["drop_keys"], key)
        return standing

    def _insert(self, connection: Connection, job: NewJob) -> Enqueued:
        """Write one job; the active job that has its unique key stands for it."""
        for _ in range(TWIN_TRIES):
            if connection.all(self._book["enqueue"], self._params(job)):
                return Enqueued(job.id, created=True)
            twin = self._active_twin(connection, job)
            if twin is not None:
                return twin
        message = f"The unique key of a job of task {job.task!r} changed hands {TWIN_TRIES} times under this enqueue."
        raise Conflict(message, hint="Nothing was written. Try again.")

    def _take_keys(self, connection: Connection, job: NewJob) -> tuple[list[dict[str, Any]], Enqueued | None]:
        """Take the keys that outlive the job, up to one that is held: its holder stands for this request."""
        taken: list[dict[str, Any]] = []
        args_digest = digest(job.args)
        for kind, task, key, period_us in lasting_keys(job):
            named = {"tenant": job.tenant, "kind": kind, "task": task, "key": key}
            mine = {"job_id": job.id, "args_digest": args_digest, "period_us": period_us, "now": self._db.clock.now()}
            if connection.all(self._book["take_key"], named | mine):
                taken.append(named | {"job_id": job.id})
                continue
            held_by, held_digest = connection.all(self._book["held_key"], named)[0]
            if held_digest != args_digest:
                raise DuplicateMismatch(key, held_by)
            return taken, Enqueued(held_by, created=False)
        return taken, None

    def _active_twin(self, connection: Connection, job: NewJob) -> Enqueued | None:
        if job.unique is None:
            return None
        params = {"tenant": job.tenant, "task": job.task, "key": job.unique.key}
        row = first(connection.all(self._book["active_twin"], params))
        if row is None:
            return None
        twin_id, twin_args = row
        if twin_args != job.args:
            raise DuplicateMismatch(job.unique.key, twin_id)
        return Enqueued(twin_id, created=False)

    def _insert_many(self, connection: Connection, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """Write several jobs of which some may be duplicates; each of those is looked at by itself."""
        columns = as_columns([row_of(job) for job in jobs])
        common = {"now": self._db.clock.now(), "ring": self._rings(jobs)}
        made = {job_id for job_id, _ in connection.each(self._book["enqueue_many"], columns, common)}
        return [Enqueued(job.id, created=True) if job.id in made else self._insert(connection, job) for job in jobs]

    def _load(self, connection: Connection, jobs: Sequence[NewJob]) -> None:
        """Write jobs that cannot be duplicates."""
        ((now, _),) = connection.all(self._book["now"], {"now": self._db.clock.now(), "ring": self._rings(jobs)})
        connection.load(self._book["load"], (loaded(job, now) for job in jobs))

    def _params(self, job: NewJob) -> dict[str, Any]:
        params = row_of(job)
        params["now"] = self._db.clock.now()
        params["ring"] = self._bell.may_ring(job.delay_us, job.run_at)
        return params

    def _rings(self, jobs: Sequence[NewJob]) -> bool:
        return self._bell.may_ring(*min((job.delay_us, job.run_at or 0) for job in jobs))

    def _requeue_on(self, connection: Connection, job_id: str, how: Requeue, tenant: str | None) -> Enqueued:
        asked = {"id": job_id, "tenant": tenant}
        active = first(connection.all(self._book["lock_any"], asked))  # before history: a job only moves that way
        if active is not None:
            require(job_id, State(active[2]), "requeue")
        row = first(connection.all(self._book["dead_letter"], asked))
        if row is None:
            raise NotFound("job", job_id)
        letter = DeadLetter(*row)
        require(job_id, State(letter.state), "requeue")
        if letter.requeued_to is not None:
            raise AlreadyRequeued(job_id, letter.requeued_to)
        successor = letter.successor(how)
        self._enqueue_successor(connection, letter, successor)
        mark = {"id": job_id, "successor": successor["id"], "now": self._db.clock.now()}
        connection.all(self._book["mark_requeued"], mark)
        named = {
            "tenant": letter.tenant,
            "task": letter.task,
            "job_key": letter.job_key,
            "unique_key": letter.unique_key,
        }
        connection.all(self._book["pass_key_on"], named | {"id": job_id, "successor": successor["id"]})
        data = {"job_id": job_id, "successor": successor["id"], "reason": how.reason}
        told = Event(events.JOB_REQUEUED, letter.tenant, job_id, actor=how.actor, data=data)
        self._events.record(connection, [told])
        return Enqueued(successor["id"], created=True)

    def _enqueue_successor(self, connection: Connection, letter: DeadLetter, successor: dict[str, Any]) -> None:
        if not connection.all(self._book["enqueue"], successor | {"now": self._db.clock.now(), "ring": True}):
            params = {"tenant": letter.tenant, "task": letter.task, "key": letter.unique_key}
            twin = first(connection.all(self._book["active_twin"], params))
            name = twin[0] if twin else "another job"
            message = f"Job {letter.id} cannot be requeued while {name} is active under the same unique key."
            raise Conflict(message, hint="Wait for it to finish, or cancel it.")

    def _refuse_finished(self, connection: Connection, job_id: str, tenant: str | None, verb: str) -> None:
        row = first(connection.all(self._book["dead_letter"], {"id": job_id, "tenant": tenant}))
        if row is not None:
            require(job_id, State(DeadLetter(*row).state), verb)


def _require_id(job_id: str) -> None:
    """What cannot be an id names no job."""
    if not is_id(job_id):
        raise NotFound("job", job_id)
