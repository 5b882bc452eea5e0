"""How much a worker does that was told: so many jobs to their ends, or one, with the jobs that it waits for."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from haulwright.clock import SECOND
from haulwright.errors import HaulwrightError

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright
    from haulwright.engine.job import Lease
    from haulwright.runtime.execution import Run
    from haulwright.runtime.options import WorkerOptions
    from haulwright.stores.claim_cursor import ClaimCursor

WAIT_SECONDS = 60.0
"""How long a worker with one job stays where neither that job nor one that it waits for can go on."""


class JobUnfinished(HaulwrightError):
    """The one job of a worker has to wait for longer than the worker does. Any other goes on with it."""

    exit_code = 75

    def __init__(self, job_id: str) -> None:
        super().__init__(
            f"Job {job_id} is not finished: it waits, and nothing of it can run for {WAIT_SECONDS:g} s.",
            hint=f"It goes on when a worker runs. Ask why with: haulwright job why {job_id}",
        )
        self.job_id = job_id


class Quota:
    """How many jobs a worker may end, and how many it has: one that is put off or tried again has not ended."""

    def __init__(self, options: WorkerOptions) -> None:
        self._limit = 0 if options.once else options.limit
        self.ended = 0

    def left(self, capacity: int) -> int:
        """How many jobs it may hold, of those that it has room for."""
        return min(self._limit - self.ended, capacity) if self._limit else capacity

    def note(self, runs: Iterable[Run]) -> None:
        """Some runs were settled."""
        if self._limit:
            self.ended += sum(run.has_ended_job for run in runs)


class DueJobs:
    """The due jobs of the queues that a worker serves."""

    def __init__(self, app: Haulwright, worker_id: str, options: WorkerOptions) -> None:
        self._app = app
        self._store = app.store
        self._tasks = app.tasks
        self._worker_id = worker_id
        self._queues = options.queues

    def claim(self, room: int, cursor: ClaimCursor, most_bytes: int) -> list[Lease]:
        """Take as many as there is room for."""
        lengths = self._app.lease_lengths
        return self._store.leases.claim(
            self._worker_id, self._queues, room, cursor, most_bytes=most_bytes, lengths=lengths
        )


class SingleJob(DueJobs):
    """The one job that a worker runs to its end, and those that it waits for. Nobody else's are claimed."""

    def __init__(self, app: Haulwright, worker_id: str, options: WorkerOptions) -> None:
        super().__init__(app, worker_id, options)
        self.id: str | None = None
        """The first job that was due; None until it is claimed."""
        self._active_at = time.monotonic()
        self._is_finished = False
        self._next_due_seconds = 0.0

    def claim(self, room: int, cursor: ClaimCursor, most_bytes: int) -> list[Lease]:
        """Take the job, or later it again and what it waits for, as far as they are due."""
        leases = super().claim(1, cursor, most_bytes) if self.id is None else self._claim_family(room, cursor)
        # A job whose task is unknown here is given back: another one is the first, and nothing has gone on.
        ours = [lease for lease in leases if lease.task in self._tasks]
        if ours:
            self.id = self.id or ours[0].id
            self._active_at = time.monotonic()
        return leases

    def is_over(self, held: Sequence[Run]) -> bool:
        """Whether there is nothing to wait for: there is no job, it has ended, or `unfinished` says why not."""
        if held:
            self._active_at = time.monotonic()
        return self.id is None or self._is_finished or (not held and self._waits_too_long)

    @property
    def unfinished(self) -> JobUnfinished | None:
        """Why the job has not ended, where it has not."""
        return None if self.id is None or self._is_finished else JobUnfinished(self.id)

    @property
    def _waits_too_long(self) -> bool:
        return time.monotonic() - self._active_at + self._next_due_seconds > WAIT_SECONDS

    def _claim_family(self, room: int, cursor: ClaimCursor) -> list[Lease]:
        family = self._store.joins.family(self.id or "")
        self._is_finished = not any(member.id == self.id for member in family)
        waiting = [member for member in family if member.is_queued]
        cursor.next_due = min((member.run_at for member in waiting), default=None)
        now = self._store.now()
        self._next_due_seconds = 0.0 if cursor.next_due is None else max(0.0, (cursor.next_due - now) / SECOND)
        if self._is_finished or self._next_due_seconds > 0 or not waiting:
            return []
        ids = [member.id for member in waiting if member.run_at <= now]
        return self._store.leases.claim_some(self._worker_id, ids, self._queues, room)
