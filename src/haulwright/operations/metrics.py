"""Figures for a monitor: everything of the installation at one moment, and what happened in the minutes before it.

From the database alone, so that every server tells the same and none forgets. Labels are bounded: of each the most, and
`other` for the rest. None of them is a job, a key or what somebody wrote into arguments.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from haulwright.clock import SECOND, Instant
from haulwright.engine.source import gate_of
from haulwright.operations.access import Noun, allowed
from haulwright.stores.metrics import BOUNDS_SECONDS, RunCount
from haulwright.stores.store import Store

WINDOW_SECONDS: Final = 300
MOST_LABELS: Final = 100
OTHER: Final = "other"
OUTCOMES: Final = ("succeeded", "dead", "cancelled", "skipped")

Labels = tuple[tuple[str, str], ...]
MetricType = Literal["gauge", "gaugehistogram"]


@dataclass(frozen=True, slots=True)
class MetricSample:
    """One figure."""

    suffix: str
    """What is added to the name of its family, such as `_bucket`."""
    labels: Labels
    value: float


@dataclass(frozen=True, slots=True)
class MetricFamily:
    """Figures of one name."""

    name: str
    type: MetricType
    help: str
    samples: tuple[MetricSample, ...]


class MetricOperations(Noun):
    """Look at the figures of the whole installation."""

    @allowed("metrics.read")
    def read(self) -> list[MetricFamily]:
        """All figures now. They are about every tenant, whoever asks."""
        store = self._store
        since = store.now() - WINDOW_SECONDS * SECOND
        window = _gauge("window_seconds", "The time that counts are about.", None, {"": WINDOW_SECONDS})
        seeds, runs = _seeds(store, since), _runs(store, since)
        return [window, *seeds, *_queues(store), *runs, *_workers(store, since), *_sources(store)]


def _seeds(store: Store, since: Instant) -> list[MetricFamily]:
    """The figures that the teams' documents ask for."""
    counts = store.metrics
    jobs: defaultdict[str, Counter[str]] = defaultdict(Counter)
    rows: Counter[str] = Counter()
    for connector in counts.connectors(since):
        jobs[connector.state][connector.connector] += connector.jobs
        rows[connector.connector] += connector.rows
    done, dead = jobs["succeeded"], jobs["dead"]
    ended = _top({name: done[name] + dead[name] for name in {*done, *dead} if name})
    rates = {name: done[name] / (done[name] + dead[name]) for name in ended if name != OTHER}
    minutes = WINDOW_SECONDS / 60
    queued = {queue: jobs / minutes for queue, jobs in counts.queued(since).items()}
    retries = {kind or "unknown": jobs for kind, jobs in counts.retries(since).items()}
    recoveries = {row.detected_by or "unknown": row.jobs for row in store.events.recoveries(since)}
    startup = recoveries.get("worker_startup_recovery", 0)
    return [
        _gauge("queued_per_minute", "Jobs enqueued a minute.", "queue", queued),
        _gauge("connector_success_ratio", "Jobs that succeeded of those that succeeded or died.", "connector", rates),
        _gauge(
            "rows_processed", "Rows that ended jobs report.", "connector", {k or "none": v for k, v in rows.items()}
        ),
        _gauge("dead_letters", "Dead letters that wait for somebody, 100000 at most.", "tenant", counts.dead()),
        _gauge("retries", "Failed runs that are tried again.", "error", retries),
        _gauge("startup_recoveries", "Jobs taken back when a worker started.", None, {"": startup}),
        _gauge("lease_losses", "Leases that were taken back.", "detected_by", recoveries),
    ]


def _queues(store: Store) -> list[MetricFamily]:
    """What waits and runs."""
    page = store.queues.page(limit=MOST_LABELS)
    now = store.now()
    depth: list[MetricSample] = []
    oldest: dict[str, float] = {}
    for queue in page.rows:
        for state, jobs in (("due", queue.due), ("later", queue.parked), ("running", queue.running)):
            depth.append(MetricSample("", (("queue", queue.name), ("state", state)), jobs))
        oldest[queue.name] = 0.0 if queue.oldest is None else max(now - queue.oldest, 0) / SECOND
    paused = {queue.name: 1 for queue in page.rows if queue.paused_at is not None}
    more = float(page.next is not None)
    return [
        _family("queue_jobs", "Jobs by queue and state; of more than 100 queues the first by name.", depth),
        _gauge("oldest_due_seconds", "For how long the oldest due job has been due.", "queue", oldest),
        _gauge("queue_paused", "Queues that are paused.", "queue", paused),
        _gauge("more_queues", "Whether there are queues that are not shown.", None, {"": more}),
    ]


def _runs(store: Store, since: Instant) -> list[MetricFamily]:
    """What ended, and how long it ran and waited."""
    runs, waits = store.metrics.runs(since), store.metrics.waits(since)
    ran = [run for run in runs if run.bucket is not None]
    return [
        _family("jobs_ended", "Jobs that ended, by queue and outcome.", _outcomes(runs)),
        _gauge("run_mean_seconds", "How long the last run of an ended job took on average.", "task", _means(ran)),
        _histogram(
            "run_seconds",
            "How long the last run of an ended job took.",
            [(run.queue, run.bucket or 0, run.jobs, run.run_us) for run in ran],
        ),
        _histogram("wait_seconds", "How long an ended job had been due when it was last claimed.", waits),
    ]


def _workers(store: Store, since: Instant) -> list[MetricFamily]:
    workers = store.workers.list()
    live = [worker for worker in workers if worker.stopped_at is None]
    refused = sum(worker.refused for worker in workers if worker.seen_at > since)
    return [
        _gauge("workers", "Workers that were seen in the last minutes.", None, {"": len(live)}),
        _gauge("refused_writes", "Late writes of these workers that were refused.", None, {"": refused}),
    ]


def _sources(store: Store) -> list[MetricFamily]:
    """Who waits for other people's servers, and what went to them."""
    waits: Counter[str] = Counter()
    for waiting_on, jobs in store.metrics.waiting().items():
        gate = gate_of(waiting_on)
        if gate is not None:
            waits[_source_name(gate[0])] += jobs
    requests: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    throttled: Counter[str] = Counter()
    for key, traffic in store.sources.traffic(minutes=WINDOW_SECONDS // 60).items():
        source = _source_name(key)
        requests[source] += traffic.requests
        failed[source] += traffic.failed
        throttled[source] += traffic.throttled
    return [
        _gauge("gate_waits", "Jobs that wait for a source, 100000 at most.", "source", waits),
        _gauge("source_requests", "Requests to a source.", "source", requests),
        _gauge("source_failures", "Requests to a source that failed.", "source", failed),
        _gauge("source_throttled", "Requests that a source asked us not to send.", "source", throttled),
    ]


def _outcomes(runs: Sequence[RunCount]) -> list[MetricSample]:
    shown = _top(_sums((run.queue, run.jobs) for run in runs))
    counts: Counter[tuple[str, str]] = Counter()
    for run in runs:
        counts[run.queue if run.queue in shown else OTHER, run.state] += run.jobs
    return [
        MetricSample("", (("queue", queue), ("outcome", outcome)), counts[queue, outcome])
        for queue in sorted(shown)
        for outcome in OUTCOMES
    ]


def _means(runs: Sequence[RunCount]) -> dict[str, float]:
    jobs = _sums((run.task, run.jobs) for run in runs)
    spent = _sums((run.task, run.run_us) for run in runs)
    shown = [task for task in _top(jobs) if task in jobs]
    return {task: spent[task] / jobs[task] / SECOND for task in shown}


def _histogram(name: str, words: str, counts: Iterable[tuple[str, int, int, int]]) -> MetricFamily:
    rows = list(counts)
    shown = _top(_sums((queue, jobs) for queue, _, jobs, _ in rows))
    buckets: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(BOUNDS_SECONDS) + 1))
    spent: Counter[str] = Counter()
    for queue, bucket, jobs, spent_us in rows:
        label = queue if queue in shown else OTHER
        buckets[label][bucket] += jobs
        spent[label] += spent_us
    samples = []
    for queue in sorted(buckets):
        total = 0
        for bound, jobs in zip((*map(float, BOUNDS_SECONDS), float("inf")), buckets[queue], strict=True):
            total += jobs
            le = "+Inf" if bound == float("inf") else f"{bound}"
            samples.append(MetricSample("_bucket", (("queue", queue), ("le", le)), total))
        samples.append(MetricSample("_gcount", (("queue", queue),), total))
        samples.append(MetricSample("_gsum", (("queue", queue),), spent[queue] / SECOND))
    return MetricFamily(f"haulwright_{name}", "gaugehistogram", words, tuple(samples))


def _gauge(name: str, words: str, label: str | None, values: Mapping[str, float]) -> MetricFamily:
    if label is None:
        return _family(name, words, [MetricSample("", (), value) for value in values.values()])
    shown = _top(values)
    return _family(name, words, [MetricSample("", ((label, word),), shown[word]) for word in sorted(shown)])


def _family(name: str, words: str, samples: Sequence[MetricSample]) -> MetricFamily:
    return MetricFamily(f"haulwright_{name}", "gauge", words, tuple(samples))


def _top(values: Mapping[str, float]) -> dict[str, float]:
    """The greatest of some figures, and the sum of all others."""
    if len(values) <= MOST_LABELS:
        return dict(values)
    order = sorted(values, key=lambda word: (-values[word], word))
    shown = {word: values[word] for word in order[:MOST_LABELS] if word != OTHER}
    shown[OTHER] = sum(values[word] for word in values if word not in shown)
    return shown


def _sums(pairs: Iterable[tuple[str, int]]) -> Counter[str]:
    sums: Counter[str] = Counter()
    for word, number in pairs:
        sums[word] += number
    return sums


def _source_name(key: str) -> str:
    """A source without the account: there may be one for every customer."""
    return key.partition("@")[0]
