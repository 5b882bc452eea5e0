"""The JSON of a frame: everything at one moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from typing_extensions import TypedDict

from haulwright.operations.pulse import OUTCOMES
from haulwright.operations.times import iso
from haulwright.operations.views.columns import Column
from haulwright.operations.views.queues import QueueView, count_words, queue_view
from haulwright.operations.views.workers import WorkerView, worker_view

if TYPE_CHECKING:
    from haulwright.operations.concerns import Concern
    from haulwright.operations.overview import Frame
    from haulwright.operations.pulse import Pulse, Spans
    from haulwright.operations.queues import QueueStatus
    from haulwright.operations.workers import WorkerStatus
    from haulwright.stores.queues import Trouble

MESSAGE_CHARS = 80
TAIL_CHARS: Final = 12
"""So much of the end of an id is shown: every command finds a job by it."""


class ThroughputView(TypedDict):
    """How much ended a second, in a stretch of so many seconds."""

    done_per_second: float
    failed_per_second: float
    seconds: float


class QueueRateView(QueueView):
    """A queue, and how much of it ended a second."""

    done_per_second: float
    failed_per_second: float


class TroubleView(TypedDict):
    """A run that failed, a lease that ran out, or a job that died."""

    at: str | None
    event: str
    job_id: str
    tenant: str
    task: str | None
    queue: str | None
    attempt: int | None
    message: str | None


class FrameView(TypedDict):
    """One look at everything."""

    at: str | None
    throughput: ThroughputView
    queues: list[QueueRateView]
    more_queues: bool
    workers: list[WorkerView]
    failures: list[TroubleView]


class ConcernView(TypedDict):
    """One thing that needs somebody."""

    kind: str
    is_problem: bool
    name: str
    tenant: str | None
    sentence: str
    since: str | None


class SpansView(TypedDict):
    """How long something took: half of them at most so long, and 95 of 100."""

    median_seconds: float
    p95_seconds: float


class PulseView(TypedDict):
    """What ended, minute by minute: for each outcome a list of counts, the oldest first."""

    since: str | None
    step_seconds: int
    ended: dict[str, list[int]]
    is_cut: bool
    run: SpansView | None
    wait: SpansView | None


def pulse_view(pulse: Pulse) -> PulseView:
    """What ended, minute by minute."""
    return {
        "since": iso(pulse.since),
        "step_seconds": pulse.step_seconds,
        "ended": {outcome: [counts.get(outcome, 0) for counts in pulse.stretches] for outcome in OUTCOMES},
        "is_cut": pulse.is_cut,
        "run": _spans_view(pulse.run),
        "wait": _spans_view(pulse.wait),
    }


def _spans_view(spans: Spans | None) -> SpansView | None:
    if spans is None:
        return None
    return {"median_seconds": round(spans.median_seconds, 3), "p95_seconds": round(spans.p95_seconds, 3)}


def concern_view(concern: Concern) -> ConcernView:
    """One thing that needs somebody."""
    return {
        "kind": concern.kind,
        "is_problem": concern.is_problem,
        "name": concern.name,
        "tenant": concern.tenant,
        "sentence": concern.sentence,
        "since": iso(concern.since),
    }


def frame_view(frame: Frame) -> FrameView:
    """One look at everything."""
    done, dead = frame.per_second()
    return {
        "at": iso(frame.at),
        "throughput": {
            "done_per_second": round(done, 3),
            "failed_per_second": round(dead, 3),
            "seconds": round(frame.seconds, 3),
        },
        "queues": [_queue_rate_view(frame, queue) for queue in frame.queues],
        "more_queues": frame.more_queues,
        "workers": [worker_view(worker) for worker in frame.workers],
        "failures": [_trouble_view(trouble) for trouble in frame.troubles],
    }


def _queue_rate_view(frame: Frame, queue: QueueStatus) -> QueueRateView:
    done, dead = frame.per_second(queue.name)
    return {**queue_view(queue), "done_per_second": round(done, 3), "failed_per_second": round(dead, 3)}


def _trouble_view(trouble: Trouble) -> TroubleView:
    return {
        "at": iso(trouble.at),
        "event": trouble.event,
        "job_id": trouble.job_id,
        "tenant": trouble.tenant,
        "task": trouble.task,
        "queue": trouble.queue,
        "attempt": trouble.attempt,
        "message": trouble.message,
    }


def frame_words(frame: Frame) -> str:
    """The whole in a line, for people."""
    done, dead = frame.per_second()
    due, running = sum(queue.due for queue in frame.queues), sum(queue.running for queue in frame.queues)
    more = "+" if frame.more_queues or any(queue.more_due for queue in frame.queues) else ""
    return f"workers {len(frame.workers)}  due {due}{more}  running {running}  done {done:.1f}/s  dead {dead:.1f}/s"


def frame_queue_columns(frame: Frame) -> tuple[Column[QueueStatus], ...]:
    """The columns of the queues of a frame, with what ended a second in it."""
    return (
        Column("queue", lambda queue: queue.name),
        Column("due", lambda queue: count_words(queue.due, more=queue.more_due)),
        Column("later", lambda queue: count_words(queue.parked, more=queue.more_parked)),
        Column("running", lambda queue: queue.running),
        Column("oldest due", lambda queue: queue.oldest_due_at, moment=True),
        Column("done/s", lambda queue: f"{frame.per_second(queue.name)[0]:.1f}"),
        Column("failed/s", lambda queue: f"{frame.per_second(queue.name)[1]:.1f}"),
        Column("workers", lambda queue: queue.workers, optional=1),
        Column("paused", lambda queue: queue.paused_at, moment=True),
    )


FRAME_WORKER_COLUMNS: Final[tuple[Column[WorkerStatus], ...]] = (
    Column("worker", lambda worker: worker.row.name),
    Column("host", lambda worker: worker.row.host, optional=1),
    Column("pid", lambda worker: worker.row.pid),
    Column("queues", lambda worker: ",".join(worker.row.queues), optional=2),
    Column("held", lambda worker: worker.running),
    Column("seen", lambda worker: worker.row.seen_at, moment=True),
)
TROUBLE_COLUMNS: Final[tuple[Column[Trouble], ...]] = (
    Column("when", lambda trouble: trouble.at, moment=True),
    Column("what", lambda trouble: trouble.event.removeprefix("job.")),
    Column("task", lambda trouble: trouble.task or ""),
    Column("queue", lambda trouble: trouble.queue or "", optional=1),
    Column("job", lambda trouble: (trouble.job_id or "")[-TAIL_CHARS:], optional=2),
    Column("attempt", lambda trouble: trouble.attempt or "", optional=3),
    Column("error", lambda trouble: " ".join((trouble.message or "").split())[:MESSAGE_CHARS]),
)
