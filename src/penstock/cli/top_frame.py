"""What `penstock top` shows at one moment: read from the database alone, and told as JSON or as tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.cli.output import Table
from penstock.cli.times import iso, utc_seconds
from penstock.cli.top_pace import LAG_US
from penstock.clock import SECOND, Instant
from penstock.stores.queues import Ended, QueueCounts, Trouble

if TYPE_CHECKING:
    from penstock.cli.output import Out
    from penstock.stores.store import Store
    from penstock.stores.workers import WorkerRow

FIRST_WINDOW_SECONDS = 10.0
"""The stretch over which the first look reckons the throughput; the next ones take what was since the look before."""
TROUBLES = 8
MESSAGE_CHARS = 80
QUEUE_HEADERS = ("queue", "due", "later", "running", "oldest due", "done/s", "failed/s", "workers", "paused")
WORKER_HEADERS = ("worker", "host", "pid", "queues", "running", "seen")
TROUBLE_HEADERS = ("when", "what", "task", "queue", "job", "attempt", "error")


@dataclass(frozen=True, slots=True)
class Frame:
    """One look."""

    at: Instant
    seconds: float
    """The stretch of time that `ended` is about."""
    queues: list[QueueCounts]
    ended: dict[str, Ended]
    workers: list[WorkerRow]
    held: dict[str, int]
    """Jobs in hand by the worker's id."""
    troubles: list[Trouble]

    def per_second(self, queue: str | None = None) -> tuple[float, float]:
        """Jobs done and jobs that died, each a second, in one queue or in all that are shown."""
        found = [one for name, one in self.ended.items() if queue in {None, name}]
        return sum(one.done for one in found) / self.seconds, sum(one.dead for one in found) / self.seconds


class Watch:
    """Looks again and again; a look costs a count of what waits and a short range of the history."""

    def __init__(self, store: Store, queue: str | None) -> None:
        self._store = store
        self._queue = queue
        self._until: Instant | None = None

    def look(self) -> Frame:
        """What there is now, and what happened since the look before."""
        store, now = self._store, self._store.now()
        until = now - LAG_US
        since = until - round(FIRST_WINDOW_SECONDS * SECOND) if self._until is None else self._until
        self._until = until
        workers = [one for one in store.workers.list() if self._queue is None or self._queue in one.queues]
        ended = {name: one for name, one in store.queues.ended(since, until).items() if self._is_asked(name)}
        return Frame(
            at=now,
            seconds=max((until - since) / SECOND, 0.001),
            queues=self._queues(workers, ended),
            ended=ended,
            workers=workers,
            held=store.queues.held(),
            troubles=store.queues.troubles(self._queue, limit=TROUBLES),
        )

    def _queues(self, workers: list[WorkerRow], ended: dict[str, Ended]) -> list[QueueCounts]:
        """What waits and runs, with the queues that are empty now but served or just emptied."""
        known = {one.name: one for one in self._store.queues.counts()}
        names = {*known, *ended, *(name for worker in workers for name in worker.queues)}
        return [known.get(name) or QueueCounts(name, 0, 0, 0, None) for name in sorted(names) if self._is_asked(name)]

    def _is_asked(self, queue: str) -> bool:
        return self._queue in {None, queue}


def document(frame: Frame) -> dict[str, Any]:
    """A frame for programs."""
    serving = _serving(frame)
    return {
        "at": iso(frame.at),
        "throughput": {**_rates(frame), "seconds": round(frame.seconds, 3)},
        "queues": [
            {
                "name": one.name,
                "due": one.due,
                "parked": one.parked,
                "running": one.running,
                "oldest_due_at": iso(one.oldest),
                **_rates(frame, one.name),
                "workers": serving[one.name],
                "paused_at": iso(one.paused_at),
            }
            for one in frame.queues
        ],
        "workers": [
            {
                "id": one.id,
                "name": one.name,
                "host": one.host,
                "pid": one.pid,
                "queues": one.queues,
                "running": frame.held.get(one.id, 0),
                "started_at": iso(one.started_at),
                "seen_at": iso(one.seen_at),
            }
            for one in frame.workers
        ],
        "failures": [
            {
                "at": iso(one.at),
                "event": one.event,
                "job_id": one.job_id,
                "tenant": one.tenant,
                "task": one.task,
                "queue": one.queue,
                "attempt": one.attempt,
                "message": one.message,
            }
            for one in frame.troubles
        ],
    }


def headline(frame: Frame) -> str:
    """The whole in a line."""
    done, dead = frame.per_second()
    due, running = sum(one.due for one in frame.queues), sum(one.running for one in frame.queues)
    told = f"workers {len(frame.workers)}  due {due}  running {running}  done {done:.1f}/s  failed {dead:.1f}/s"
    return f"{utc_seconds(frame.at)}  {told}"


def tables(frame: Frame, out: Out) -> list[Table]:
    """A frame for people: queues, workers, the last failures."""
    serving = _serving(frame)
    queues = [
        (one.name, one.due, one.parked, one.running, out.when(one.oldest, frame.at),
         *(f"{rate:.1f}" for rate in frame.per_second(one.name)), serving[one.name], out.when(one.paused_at, frame.at))
        for one in frame.queues
    ]  # fmt: skip
    workers = [
        (one.name, one.host, one.pid, ",".join(one.queues), frame.held.get(one.id, 0), out.when(one.seen_at, frame.at))
        for one in frame.workers
    ]
    troubles = [
        (out.when(one.at, frame.at), one.event.removeprefix("job."), one.task or "", one.queue or "", one.job_id,
         one.attempt or "", " ".join((one.message or "").split())[:MESSAGE_CHARS])
        for one in frame.troubles
    ]  # fmt: skip
    return [
        Table(QUEUE_HEADERS, queues, "No queues.", spare=("workers",)),
        Table(WORKER_HEADERS, workers, "No live workers.", spare=("host", "queues")),
        Table(TROUBLE_HEADERS, troubles, "No failures lately.", spare=("queue", "job", "attempt")),
    ]


def _rates(frame: Frame, queue: str | None = None) -> dict[str, float]:
    done, dead = frame.per_second(queue)
    return {"done_per_second": round(done, 3), "failed_per_second": round(dead, 3)}


def _serving(frame: Frame) -> Counter[str]:
    return Counter(queue for worker in frame.workers for queue in worker.queues)
