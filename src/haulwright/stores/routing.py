"""Which way jobs are written, decided once: by how many they are, and by what about them must be unique."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum, auto
from typing import NamedTuple

from haulwright.engine.job import NewJob


class LastingKey(NamedTuple):
    """A key that outlives its job."""

    kind: str
    task: str
    key: str
    period_us: int | None
    """For how long; None for good."""


class Way(Enum):
    """How the database is told of jobs."""

    PLAIN = auto()
    """One job without anything that most jobs do without: one short statement."""
    SINGLE = auto()
    """One job without a lasting key: one statement."""
    KEYED = auto()
    """One job that has one lasting key and nothing else that is unique: one statement takes the key and writes it."""
    STEP_BY_STEP = auto()
    """One job with more than that: its keys, then itself, in a transaction."""
    BULK_LOAD = auto()
    """Many jobs of which none can be a duplicate, nor has an event of its own."""
    INSERT_MANY = auto()
    """Many jobs of which some may find their unique key taken by an active one."""
    ONE_BY_ONE = auto()
    """Many jobs with lasting keys among them: each by its own way."""


class Route(NamedTuple):
    """The way of some jobs, and the lasting keys of each where it needs them."""

    way: Way
    keys: Sequence[Sequence[LastingKey]] = ()

    def each(self, jobs: Sequence[NewJob]) -> Iterator[tuple[NewJob, Route]]:
        """Each job with its own way."""
        for job, keys in zip(jobs, self.keys, strict=True):
            yield job, Route(_way_of(job, keys), [keys])


_PLAIN = Route(Way.PLAIN, ((),))
_WITHOUT_KEYS = Route(Way.SINGLE, ((),))


def route(jobs: Sequence[NewJob]) -> Route:
    """The way of these jobs."""
    if len(jobs) == 1:
        (job,) = jobs
        if job.job_key is None and job.unique is None:  # most jobs
            return _PLAIN if _is_plain(job) else _WITHOUT_KEYS
        keys = _lasting_keys(job)
        return Route(_way_of(job, keys), [keys])
    if all(job.job_key is None and job.unique is None and not job.audited for job in jobs):
        return Route(Way.BULK_LOAD)
    each = [_lasting_keys(job) for job in jobs]
    return Route(Way.ONE_BY_ONE, each) if any(each) else Route(Way.INSERT_MANY)


def has_lasting_key(job: NewJob) -> bool:
    """Whether a second enqueue of the same would find the first, even if that is finished."""
    return bool(_lasting_keys(job))


def _is_plain(job: NewJob) -> bool:
    """Whether a job without a key has nothing else either that the short statement leaves out."""
    return (
        job.run_at is None
        and job.timeout_us is None
        and job.concurrency_key is None
        and job.concurrency_limit is None
        and job.source is None
        and job.correlation_id is None
        and job.event_fields is None
        and job.headers is None
        and not job.audited
    )


def _way_of(job: NewJob, keys: Sequence[LastingKey]) -> Way:
    if not keys:
        return Way.SINGLE
    has_both = job.job_key is not None and job.unique is not None
    return Way.STEP_BY_STEP if has_both else Way.KEYED


def _lasting_keys(job: NewJob) -> list[LastingKey]:
    keys: list[LastingKey] = []
    if job.job_key is not None:
        keys.append(LastingKey("job_key", "", job.job_key, None))
    if job.unique is not None and job.unique.scope in {"forever", "period"}:
        keys.append(LastingKey("unique", job.task, job.unique.key, job.unique.period_us))
    return keys
