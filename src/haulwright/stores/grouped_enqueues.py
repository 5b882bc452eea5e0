"""Single jobs that come from many requests at once, written together where none of them can be in another's way."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from haulwright.engine.job import Enqueued, NewJob
from haulwright.errors import DatabaseProblem
from haulwright.stores.books import book
from haulwright.stores.connection import Database, as_columns
from haulwright.stores.enqueue_problems import is_in_doubt, not_tried, unknown_enqueue
from haulwright.stores.events import rows_of
from haulwright.stores.job_rows import EnqueuedBy, queued_events, row_of
from haulwright.stores.jobs import Jobs
from haulwright.stores.payloads import is_large
from haulwright.stores.write_groups import WriteGroups


class EnqueueRequest(NamedTuple):
    """A job that somebody wants, and who that is."""

    job: NewJob
    by: EnqueuedBy


class GroupedEnqueues:
    """Enqueues by hand, one job each."""

    def __init__(self, database: Database, jobs: Jobs) -> None:
        self._db = database
        self._jobs = jobs
        self._book = book("haulwright.stores", database.dialect, "jobs")
        self._groups = WriteGroups(self._write, self._write_alone)

    def enqueue(self, job: NewJob, by: EnqueuedBy) -> Enqueued:
        """Write a job, with its first event, and return what stands for it. Other threads' may go with it."""
        request = EnqueueRequest(job, by)
        try:
            return self._groups.submit(request) if may_ride(job) else self._write_keyed(request)
        except DatabaseProblem as trouble:
            if not is_in_doubt(trouble):
                raise
        return self._jobs.enqueue_in_doubt([job], [by])[0]

    def enqueue_all(self, requests: Sequence[EnqueueRequest]) -> list[Enqueued | Exception]:
        """Write jobs that may ride, in one transaction if that can be; of each what stands for it, or why not."""
        try:
            return [*self._write(requests)]
        except DatabaseProblem as trouble:
            if not is_in_doubt(trouble):
                return [trouble] * len(requests)
            return self._each_alone(requests, trouble)
        except Exception:  # noqa: BLE001 - each finds out for itself what it is
            return self._each_alone(requests, None)

    def _each_alone(
        self, requests: Sequence[EnqueueRequest], doubt: DatabaseProblem | None
    ) -> list[Enqueued | Exception]:
        """One after the other, up to an outage: the others would wait as long for the same, each behind the last."""
        outcomes: list[Enqueued | Exception] = []
        for request in requests:
            outcome = self._tried_alone(request, in_doubt=doubt is not None)
            outcomes.append(outcome)
            if isinstance(outcome, DatabaseProblem):
                others = [other.job for other in requests[len(outcomes) :]]
                return outcomes + [unknown_enqueue([job], doubt) if doubt else not_tried(outcome) for job in others]
        return outcomes

    def _tried_alone(self, request: EnqueueRequest, *, in_doubt: bool) -> Enqueued | Exception:
        try:
            if in_doubt:
                return self._jobs.enqueue_in_doubt([request.job], [request.by])[0]
            return self.enqueue(*request)
        except Exception as error:  # noqa: BLE001 - handed to whoever asked
            return error

    def _write(self, requests: Sequence[EnqueueRequest]) -> list[Enqueued]:
        """Write jobs that may ride, which therefore find no key taken: all of it in one trip."""
        jobs, by = [request.job for request in requests], [request.by for request in requests]
        enqueued = [Enqueued(job.id, created=True) for job in jobs]
        event_rows = rows_of(queued_events(jobs, enqueued, by))
        rows = [
            row_of(job) | {"event": event["name"], "actor": event["actor"], "event_data": event["data"]}
            for job, event in zip(jobs, event_rows, strict=True)
        ]
        common = {"now": self._db.clock.now(), "notify": self._jobs.notifies(jobs)}
        # As one row, however many they are: a crowd gives way to others, and each of these is somebody who waits.
        self._db.run_single(self._book["enqueue_with_events"], common, as_columns(rows), rows=1)
        return enqueued

    def _write_keyed(self, request: EnqueueRequest) -> Enqueued:
        """Write a job that may find another in its place."""
        return self._db.transact(partial(self._jobs.enqueue_on, jobs=[request.job], by=[request.by]))[0]

    def _write_alone(self, request: EnqueueRequest, trouble: BaseException) -> Enqueued:
        """The same without its neighbours, unless the trouble is the database's, and so that of all of them."""
        if isinstance(trouble, DatabaseProblem):
            raise trouble
        return self._write([request])[0]


def may_ride(job: NewJob) -> bool:
    """Whether it waits for nobody: a key may be held by a transaction that is still open, and a large text is slow."""
    return job.unique is None and job.job_key is None and not is_large(job.args)
