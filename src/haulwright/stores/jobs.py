"""Jobs from the outside: enqueue, cancel, requeue, prune. A running worker's part is in `leases`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from haulwright import events
from haulwright.clock import SECOND
from haulwright.engine.ids import is_id
from haulwright.engine.job import Enqueued, LeaseKey, NewJob
from haulwright.engine.keys import digest
from haulwright.engine.settlement import Finish
from haulwright.engine.transitions import State, require
from haulwright.errors import (
    AlreadyRequeued,
    Conflict,
    DatabaseUnavailable,
    DuplicateMismatch,
    IllegalTransition,
    NotFound,
)
from haulwright.events import Event
from haulwright.stores.batches import batches, size_of_text
from haulwright.stores.books import Entry, book
from haulwright.stores.connection import Connection, Database, as_columns, first
from haulwright.stores.effects import Effects
from haulwright.stores.enqueue_problems import hint_after_chunks, unknown_enqueue
from haulwright.stores.error_kinds import ErrorKind
from haulwright.stores.events import Events, as_text
from haulwright.stores.job_rows import DeadLetter, EnqueuedBy, Requeue, loaded, plain_row_of, queued_events, row_of
from haulwright.stores.payloads import Payloads, is_large
from haulwright.stores.routing import Route, Way, route
from haulwright.stores.settlements import Settlements
from haulwright.stores.spared import NO_JOBS, Spared

CHUNKS_AT_ONCE = 2
TWIN_TRIES = 5
"""How often an enqueue is tried again whose twin finished between the conflict and the look at it."""


class Jobs:
    """The jobs of a database."""

    def __init__(self, database: Database, record: Events, settlements: Settlements, effects: Effects) -> None:
        self._db = database
        self._events = record
        self._settlements = settlements
        self._effects = effects
        self._payloads = Payloads(database)
        self._book = book("haulwright.stores", database.dialect, "jobs")

    def enqueue(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """Write jobs and return what stands for each, in order. Each chunk is on disk whole, or not at all."""
        if len(jobs) == 1:
            return [self._enqueue_single(jobs[0], route(jobs))]
        written: list[int] = []
        try:
            return self._enqueue_chunks(list(batches(jobs, self._db.load_batch_size, _size_of)), written)
        except DatabaseUnavailable as trouble:
            if written:
                trouble.hint = hint_after_chunks(trouble, sum(written), len(jobs))
            raise

    def _enqueue_chunks(self, chunks: Sequence[Sequence[NewJob]], written: list[int]) -> list[Enqueued]:
        """Write chunks, and note the size of each that is on disk."""

        def write(chunk: Sequence[NewJob]) -> list[Enqueued]:
            enqueued = self._enqueue_chunk(chunk)
            written.append(len(chunk))
            return enqueued

        if len(chunks) == 1 or self._db.writers == 1:
            return [enqueued for chunk in chunks for enqueued in write(chunk)]
        # While the server writes one chunk, the next is made ready. After a failure no further one begins.
        with ThreadPoolExecutor(CHUNKS_AT_ONCE) as threads:
            return [enqueued for chunk in threads.map(write, chunks) for enqueued in chunk]

    def _enqueue_chunk(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        try:
            return self._db.transact(partial(self.enqueue_on, jobs=jobs), rows=len(jobs))
        except DatabaseUnavailable as trouble:
            if not trouble.outcome_unknown:
                raise
        return self.enqueue_in_doubt(jobs)

    def enqueue_on(
        self, connection: Connection, jobs: Sequence[NewJob], by: Sequence[EnqueuedBy] = ()
    ) -> list[Enqueued]:
        """Write jobs inside a transaction of the caller, with their first events where their task is audited.

        `by` says of each who enqueued it, where somebody did so by hand.
        """
        if not jobs:
            return []
        chosen = route(jobs)
        if chosen.way is Way.BULK_LOAD and not by:
            self._load(connection, jobs)
            return [Enqueued(job.id, True) for job in jobs]  # noqa: FBT003 - by place, which is faster, and there are many
        if chosen.way is Way.BULK_LOAD or chosen.way is Way.INSERT_MANY:
            enqueued = self._insert_many(connection, jobs)
        else:
            enqueued = [self._enqueue_one(connection, job, own) for job, own in chosen.each(jobs)]
        self._events.record(connection, queued_events(jobs, enqueued, by))
        return enqueued

    def enqueue_with_event(self, connection: Connection, job: NewJob, name: str, data: dict[str, Any]) -> Enqueued:
        """Write one job inside a transaction of the caller, and an event about it where it was made."""
        enqueued = self._enqueue_one(connection, job, route([job]), Event(name, job.tenant, job.id, data=data))
        self._events.record(connection, queued_events([job], [enqueued]))
        return enqueued

    def cancel(self, job_id: str, *, tenant: str | None, reason: str, actor: str) -> State:
        """Cancel a job: at once where it waits, by a signal to its run where it runs."""
        _require_id(job_id)

        def work(connection: Connection) -> State:
            row = first(connection.run(self._book["lock_any"], {"id": job_id, "tenant": tenant}))
            if row is None:
                self._refuse_finished(connection, job_id, tenant, "cancel")
                raise NotFound("job", job_id)
            _, fence, state, owner, _ = row
            require(job_id, state, "cancel")
            if state == State.QUEUED:
                end = LeaseKey(job_id, fence, None), Finish(State.CANCELLED, reason)
                self._settlements.finish(connection, [end], was=State.QUEUED)
                name, after = events.JOB_CANCELLED, State.CANCELLED
            else:
                params = {"id": job_id, "fence": fence, "reason": reason, "now": self._db.clock.now()}
                connection.run(self._book["ask_to_cancel"], params)
                name, after = events.JOB_CANCEL_REQUESTED, State.RUNNING
            data = {"job_id": job_id, "reason": reason}
            self._events.record(connection, [Event(name, owner, job_id, fence=fence, actor=actor, data=data)])
            return after

        return self._db.transact(work)

    def retry(self, job_id: str, *, tenant: str | None, reason: str, actor: str) -> bool:
        """Make a waiting job due at once, whatever it waited for; False where it is due already."""
        _require_id(job_id)

        def work(connection: Connection) -> bool:
            row = first(connection.run(self._book["lock_any"], {"id": job_id, "tenant": tenant}))
            if row is None:
                self._refuse_finished(connection, job_id, tenant, "retry")
                raise NotFound("job", job_id)
            _, fence, state, owner, _ = row
            if state != State.QUEUED:
                raise IllegalTransition(job_id, state, "retry")
            params = {"id": job_id, "fence": fence, "now": self._db.clock.now()}
            hastened = first(connection.run(self._book["retry"], params))
            if hastened is None:
                return False
            data = {"job_id": job_id, "retry_count": hastened[0], "delay_seconds": 0, "reason": reason}
            event = Event(events.JOB_RETRY, owner, job_id, fence=fence, actor=actor, data=data)
            self._events.record(connection, [event])
            return True

        return self._db.transact(work)

    def requeue(self, job_id: str, how: Requeue, *, tenant: str | None) -> Enqueued:
        """Give a dead letter another life as a new job, linked to it. It can be done only once."""
        _require_id(job_id)
        return self._db.transact(lambda connection: self._requeue_on(connection, job_id, how, tenant))

    def prune(self, state: State, age_seconds: float, limit: int = 500, spared: Spared = NO_JOBS) -> int:
        """Remove finished jobs of one state older than an age, with what only they needed. One event tells of it."""
        age_us, now = round(age_seconds * SECOND), self._db.clock.now()
        params = {"state": str(state), "age_us": age_us, "limit": limit, "now": now, **spared.params}

        def work(connection: Connection) -> int:
            rows = connection.run(self._book["prune"], params)
            # A requeued letter leaves its effects and stages to its successor, which has the same job key.
            self._effects.prune(connection, [(tenant, key) for tenant, key, successor, _ in rows if successor is None])
            self._payloads.prune(connection, [job_id for _, _, _, job_id in rows if job_id is not None])
            counts: dict[str, int] = {}
            for tenant, *_ in rows:
                counts[tenant] = counts.get(tenant, 0) + 1
            record = [
                Event(events.JOBS_PRUNED, tenant, data={"state": str(state), "count": n, "age_seconds": age_seconds})
                for tenant, n in sorted(counts.items())
            ]
            self._events.record(connection, record)
            return len(rows)

        return self._db.transact(work, rows=limit)

    def prune_keys(self, limit: int = 500) -> int:
        """Remove keys that were unique for a time, when that is over, whatever became of their jobs."""
        params = {"limit": limit, "now": self._db.clock.now()}
        return len(self._db.transact(lambda connection: connection.run(self._book["prune_keys"], params), rows=limit))

    def _enqueue_single(self, job: NewJob, chosen: Route) -> Enqueued:
        """One job, which is how most are enqueued: in one trip where its keys allow it."""
        try:
            if job.audited:
                return self._db.transact(partial(self.enqueue_on, jobs=[job]))[0]
            in_one_trip = chosen.way is not Way.STEP_BY_STEP and not is_large(job.args)
            if in_one_trip and self._db.run_single(*self._in_one_trip(job, chosen)):
                return Enqueued(job.id, created=True)
            return self._db.transact(lambda connection: self._enqueue_step_by_step(connection, job, chosen))
        except DatabaseUnavailable as trouble:
            if not trouble.outcome_unknown:
                raise
        return self.enqueue_in_doubt([job])[0]

    def enqueue_in_doubt(self, jobs: Sequence[NewJob], by: Sequence[EnqueuedBy] = ()) -> list[Enqueued]:
        """Enqueue jobs whose first try may have succeeded; who cannot find out says that it is not known."""
        for is_last in (False, True):
            try:
                return self._db.transact(partial(self._enqueue_missing, jobs=jobs, by=by), rows=len(jobs))
            except DatabaseUnavailable as trouble:
                raise unknown_enqueue(jobs, trouble) from trouble
            except Exception as error:
                # The first try was still under way when we looked, and came before us: look again.
                if is_last or self._db.kind_of_error(error) is not ErrorKind.DATA:
                    raise
        raise AssertionError  # the last try returns or raises

    def _enqueue_missing(
        self, connection: Connection, jobs: Sequence[NewJob], by: Sequence[EnqueuedBy]
    ) -> list[Enqueued]:
        """Enqueue those that are not there, under their ids, or finished already."""
        there = {job.id for job in jobs if self._is_there(connection, job)}
        missing = [job for job in jobs if job.id not in there]
        own = [one for job, one in zip(jobs, by, strict=True) if job.id not in there] if by else ()
        others = iter(self.enqueue_on(connection, missing, own))
        return [Enqueued(job.id, created=True) if job.id in there else next(others) for job in jobs]

    def _is_there(self, connection: Connection, job: NewJob) -> bool:
        for entry in ("lock_any", "dead_letter"):
            if connection.run(self._book[entry], {"id": job.id, "tenant": job.tenant}):
                return True
        return False

    def _enqueue_one(self, connection: Connection, job: NewJob, chosen: Route, event: Event | None = None) -> Enqueued:
        if chosen.way is Way.KEYED and connection.run(*self._in_one_trip(job, chosen, event)):
            self._payloads.put(connection, [job])
            return Enqueued(job.id, created=True)
        enqueued = self._enqueue_step_by_step(connection, job, chosen)
        if event is not None and enqueued.created:
            self._events.record(connection, [event])
        return enqueued

    def _in_one_trip(self, job: NewJob, chosen: Route, event: Event | None = None) -> tuple[Entry, dict[str, Any]]:
        """What writes a single job, with its one lasting key and an event about it where it has such."""
        if chosen.way is Way.PLAIN:
            return self._book["enqueue_plain"], self._params(job, plain_row_of)
        if chosen.way is Way.SINGLE:
            return self._book["enqueue"], self._params(job)
        ((key,),) = chosen.keys
        named = {"kind": key.kind, "key_task": key.task, "key": key.key, "period_us": key.period_us}
        record = {"event": event and event.name, "event_data": event and as_text(event.data)}
        return self._book["enqueue_keyed"], self._params(job) | named | record | {"args_digest": digest(job.args)}

    def _enqueue_step_by_step(self, connection: Connection, job: NewJob, chosen: Route) -> Enqueued:
        """Take the keys of a job one by one, then write it; who holds one of them stands for it."""
        taken, holder = self._take_keys(connection, job, chosen)
        enqueued = holder or self._insert(connection, job)
        if not enqueued.created:
            for key in taken:  # a key must never stand for a job that was not made
                connection.run(self._book["drop_keys"], key)
        return enqueued

    def _insert(self, connection: Connection, job: NewJob) -> Enqueued:
        """Write one job; the active job that has its unique key stands for it."""
        for _ in range(TWIN_TRIES):
            if connection.run(self._book["enqueue"], self._params(job)):
                self._payloads.put(connection, [job])
                return Enqueued(job.id, created=True)
            twin = self._active_twin(connection, job)
            if twin is not None:
                return twin
        message = f"The unique key of a job of task {job.task!r} changed hands {TWIN_TRIES} times under this enqueue."
        raise Conflict(message, hint="Nothing of this transaction was written. Try again.")

    def _take_keys(
        self, connection: Connection, job: NewJob, chosen: Route
    ) -> tuple[list[dict[str, Any]], Enqueued | None]:
        """Take the keys that outlive the job, up to one that is held: its holder stands for this request."""
        taken: list[dict[str, Any]] = []
        args_digest = digest(job.args)
        (keys,) = chosen.keys
        for kind, task, key, period_us in keys:
            named = {"tenant": job.tenant, "kind": kind, "task": task, "key": key}
            mine = {"job_id": job.id, "args_digest": args_digest, "period_us": period_us, "now": self._db.clock.now()}
            if connection.run(self._book["take_key"], named | mine):
                taken.append(named | {"job_id": job.id})
                continue
            held_by, held_digest = connection.run(self._book["held_key"], named)[0]
            if held_digest != args_digest:
                raise DuplicateMismatch(key, held_by)
            return taken, Enqueued(held_by, created=False)
        return taken, None

    def _active_twin(self, connection: Connection, job: NewJob) -> Enqueued | None:
        if job.unique is None:
            return None
        params = {"tenant": job.tenant, "task": job.task, "key": job.unique.key}
        row = first(connection.run(self._book["active_twin"], params))
        if row is None:
            return None
        twin_id, twin_args = row
        if twin_args != job.args:
            raise DuplicateMismatch(job.unique.key, twin_id)
        return Enqueued(twin_id, created=False)

    def _insert_many(self, connection: Connection, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """Write several jobs of which some may be duplicates; each of those is looked at by itself."""
        common = {"now": self._db.clock.now(), "notify": self.notifies(jobs)}
        written: set[str] = set()
        for columns in (as_columns([row_of(job) for job in batch]) for batch in batches(jobs, len(jobs), _size_of)):
            written |= {job_id for job_id, _ in connection.run_batch(self._book["enqueue_many"], columns, common)}
        self._payloads.put(connection, (job for job in jobs if job.id in written))
        return [Enqueued(job.id, created=True) if job.id in written else self._insert(connection, job) for job in jobs]

    def _load(self, connection: Connection, jobs: Sequence[NewJob]) -> None:
        """Write jobs that cannot be duplicates."""
        params = {"now": self._db.clock.now(), "notify": self.notifies(jobs)}
        ((now, _),) = connection.run(self._book["begin_load"], params)
        connection.bulk_insert(self._book["load"], loaded(jobs, now))
        self._payloads.put(connection, jobs)

    def _params(self, job: NewJob, row: Callable[[NewJob], dict[str, Any]] = row_of) -> dict[str, Any]:
        params = row(job)
        params["now"] = self._db.clock.now()
        params["notify"] = self._db.throttle.may_notify(job.delay_us, job.run_at)
        return params

    def notifies(self, jobs: Sequence[NewJob]) -> bool:
        """Whether workers are to be told of these jobs."""
        return self._db.throttle.may_notify(*min((job.delay_us, job.run_at or 0) for job in jobs))

    def _requeue_on(self, connection: Connection, job_id: str, how: Requeue, tenant: str | None) -> Enqueued:
        named = {"id": job_id, "tenant": tenant}
        active = first(connection.run(self._book["lock_any"], named))  # before history: a job only moves that way
        if active is not None:
            require(job_id, active[2], "requeue")
        row = first(connection.run(self._book["dead_letter"], named))
        if row is None:
            raise NotFound("job", job_id)
        letter = DeadLetter(*row)
        require(job_id, letter.state, "requeue")
        if letter.requeued_to is not None:
            raise AlreadyRequeued(job_id, letter.requeued_to)
        self._require_own_key(connection, letter)
        successor = letter.successor(how)
        self._enqueue_successor(connection, letter, successor)
        if letter.payload_bytes is not None:
            self._payloads.copy(connection, letter.id, successor["id"], letter.payload_bytes)
        mark = {"id": job_id, "successor": successor["id"], "now": self._db.clock.now()}
        connection.run(self._book["mark_requeued"], mark)
        keys = {
            "tenant": letter.tenant,
            "task": letter.task,
            "job_key": letter.job_key,
            "unique_key": letter.unique_key,
        }
        connection.run(self._book["pass_key_on"], keys | {"id": job_id, "successor": successor["id"]})
        data = {"job_id": job_id, "successor": successor["id"], "reason": how.reason}
        event = Event(events.JOB_REQUEUED, letter.tenant, job_id, actor=how.actor, data=data)
        self._events.record(connection, [event, *letter.queued(successor["id"], how)])
        return Enqueued(successor["id"], created=True)

    def _enqueue_successor(self, connection: Connection, letter: DeadLetter, successor: dict[str, Any]) -> None:
        if not connection.run(self._book["enqueue"], successor | {"now": self._db.clock.now(), "notify": True}):
            params = {"tenant": letter.tenant, "task": letter.task, "key": letter.unique_key}
            twin = first(connection.run(self._book["active_twin"], params))
            name = twin[0] if twin else "another job"
            message = f"Job {letter.id} cannot be requeued while {name} is active under the same unique key."
            raise Conflict(message, hint="Wait for it to finish, or cancel it.")

    def _require_own_key(self, connection: Connection, letter: DeadLetter) -> None:
        """Refuse a second job beside the one that a unique key stands for, be that one waiting or finished."""
        if letter.unique_scope not in {"forever", "period"}:
            return
        params = {"tenant": letter.tenant, "task": letter.task, "key": letter.unique_key, "now": self._db.clock.now()}
        holder = first(connection.run(self._book["unique_holder"], params))
        if holder is not None and holder[0] != letter.id:
            message = f"Job {letter.id} cannot be requeued while job {holder[0]} holds the same unique key."
            raise Conflict(message, hint=f"See it with: haulwright job show {holder[0]}")

    def _refuse_finished(self, connection: Connection, job_id: str, tenant: str | None, verb: str) -> None:
        row = first(connection.run(self._book["dead_letter"], {"id": job_id, "tenant": tenant}))
        if row is not None:
            require(job_id, DeadLetter(*row).state, verb)


def _size_of(job: NewJob) -> int:
    """About how many bytes the database is sent."""
    return size_of_text(job.args)


def _require_id(job_id: str) -> None:
    """What cannot be an id names no job."""
    if not is_id(job_id):
        raise NotFound("job", job_id)
