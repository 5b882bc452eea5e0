"""The overview: queues, workers, throughput and the last failures at one moment, from the database alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from haulwright.clock import SECOND, Instant
from haulwright.engine.names import check_name
from haulwright.operations.access import VERBS, allowed
from haulwright.operations.concerns import Concern, concerns
from haulwright.operations.onlooker import Onlooker, current_store
from haulwright.operations.progress import LAG_US, QueueTally
from haulwright.operations.pulse import Pulse, pulse
from haulwright.operations.queues import QueueStatus, queue_page, queue_statuses
from haulwright.operations.workers import WorkerStatus, worker_statuses

if TYPE_CHECKING:
    from haulwright.operations.principal import Principal
    from haulwright.stores.events import RecoveryCount
    from haulwright.stores.queues import EndedCounts, Trouble
    from haulwright.stores.store import Store
    from haulwright.stores.workers import WorkerRow

FIRST_WINDOW_SECONDS = 10.0
"""The stretch over which the first look reckons the throughput; the next ones take what was since the look before."""
TROUBLES = 8
RECOVERIES_SECONDS = 3600.0
"""How far back recoveries are counted, where nobody says."""
FRAME_QUEUES = 100
"""How many queues a look counts and shows: those that are busy or served first, then others by name."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One look."""

    at: Instant
    seconds: float
    """The stretch of time that `ended` is about."""
    queues: list[QueueStatus]
    ended: Mapping[str, EndedCounts]
    workers: list[WorkerStatus]
    """Empty for those who may not see workers."""
    troubles: list[Trouble]
    more_queues: bool = False
    """There are more queues than it shows."""

    def per_second(self, queue: str | None = None) -> tuple[float, float]:
        """Jobs done and jobs that died, each a second, in one queue or in all that are shown."""
        counts = [ended for name, ended in self.ended.items() if queue in {None, name}]
        return sum(ended.done for ended in counts) / self.seconds, sum(ended.dead for ended in counts) / self.seconds


class FrameWatch:
    """Looks again and again; a look costs a count of what waits and a short range of the history."""

    def __init__(self, store: Store, principal: Principal, queue: str | None) -> None:
        self._store = store
        self._queue = queue
        self._tenant = principal.tenant
        self._sees_workers = principal.kind in VERBS["worker.read"]
        self._until: Instant | None = None

    def look(self) -> Frame:
        """What there is now, and what happened since the look before."""
        store, now = self._store, self._store.now()
        until = now - LAG_US
        since = until - round(FIRST_WINDOW_SECONDS * SECOND) if self._until is None else self._until
        self._until = until
        workers = [row for row in store.workers.list() if self._queue is None or self._queue in row.queues]
        ended = {
            name: count for name, count in store.queues.ended(since, until, self._tenant).items() if self._shows(name)
        }
        queues, more_queues = self._queues(workers, ended)
        return Frame(
            at=now,
            seconds=max((until - since) / SECOND, 0.001),
            queues=queues,
            ended=ended,
            workers=worker_statuses(store, workers, self._tenant) if self._sees_workers else [],
            troubles=store.queues.troubles(self._queue, tenant=self._tenant, limit=TROUBLES),
            more_queues=more_queues,
        )

    def _queues(self, workers: list[WorkerRow], ended: Collection[str]) -> tuple[list[QueueStatus], bool]:
        """What waits and runs, with the queues that are empty now but just emptied or, for staff, served."""
        served = {name for row in workers for name in row.queues} if self._sees_workers else set()
        busy = sorted(name for name in {*ended, *served} if self._shows(name))
        if self._queue is not None:
            (status,) = queue_statuses(self._store, self._tenant, [self._queue])
            return [status] if busy or _has_something(status) else [], False
        page = queue_page(self._store, self._tenant, limit=FRAME_QUEUES)
        statuses = {status.name: status for status in page.rows}
        names = list(dict.fromkeys([*busy, *statuses]))
        shown = sorted(names[:FRAME_QUEUES])
        missing = [name for name in shown if name not in statuses]
        statuses |= {status.name: status for status in queue_statuses(self._store, self._tenant, missing)}
        return [statuses[name] for name in shown], page.next is not None or len(names) > FRAME_QUEUES

    def _shows(self, queue: str) -> bool:
        return self._queue in {None, queue}


def _has_something(queue: QueueStatus) -> bool:
    return bool(queue.due or queue.parked or queue.running or queue.paused_at is not None)


class Overview(Onlooker):
    """Look at everything at once. A look makes no database, and migrates none."""

    @allowed("overview.read")
    def frame(self, queue: str | None = None) -> Frame:
        """One look at everything, or at one queue, its workers and its failures."""
        with self.watch(queue) as watch:
            return watch.look()

    @allowed("overview.read")
    @contextmanager
    def watch(self, queue: str | None = None) -> Iterator[FrameWatch]:
        """The same again and again, each frame with what happened since the one before."""
        name = None if queue is None else check_name("queue", queue)
        with current_store(self._app) as store:
            yield FrameWatch(store, self._principal, name)

    @allowed("overview.read")
    def concerns(self, frame: Frame) -> list[Concern]:
        """What needs somebody now, as far as this principal may see it; what stands still first."""
        with current_store(self._app) as store:
            return concerns(store, self._principal, frame.queues)

    @allowed("overview.read")
    def pulse(self) -> Pulse:
        """What ended in the last hour, minute by minute and by outcome, and how long it ran and waited."""
        with current_store(self._app) as store:
            return pulse(store, self._tenant)

    @allowed("overview.read")
    def recoveries(self, within_seconds: float = RECOVERIES_SECONDS) -> list[RecoveryCount]:
        """How many jobs were taken back from workers that died or fell silent lately, by how that was found out."""
        with current_store(self._app) as store:
            return store.events.recoveries(store.now() - round(within_seconds * SECOND), self._tenant)

    @allowed("overview.read")
    @contextmanager
    def tally(self, queues: Collection[str]) -> Iterator[QueueTally]:
        """How far some queues have come since now, look by look."""
        with current_store(self._app) as store:
            yield QueueTally(store, queues, self._tenant)
