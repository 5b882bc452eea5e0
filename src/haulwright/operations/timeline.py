"""The timeline of a job: the events that were written, and those that its row tells."""

from __future__ import annotations

from typing import Any

from haulwright import events
from haulwright.clock import SECOND, Instant
from haulwright.engine.job import Job
from haulwright.engine.payload import read_json
from haulwright.engine.transitions import State
from haulwright.events import Event


def timeline(job: Job, stored: list[Event], *, first: bool = True, last: bool = True) -> list[Event]:
    """The events of a job in the order in which they happened; of a page, what only the first or the last one has."""
    queued = [_queued(job)] if first and not any(event.name == events.JOB_QUEUED for event in stored) else []
    derived = _derived(job) if last and not job.audited else []
    return _starts_first([*queued, *stored, *derived])


def _queued(job: Job) -> Event:
    """The first event of every job, with the facts that were known then: those of its arguments."""
    arguments = read_json(job.args, dict) or {}
    event_fields = {name: arguments[name] for name in _event_fields(job) if name in arguments}
    data = {"job_id": job.id, "tenant_id": job.tenant, **event_fields}
    return Event(events.JOB_QUEUED, job.tenant, job.id, at=job.created_at, data=data)


def _derived(job: Job) -> list[Event]:
    """What no event was written for: the run that goes on, or the only one of a job that succeeded at once."""
    alone = job.state is State.SUCCEEDED and job.fence == 1
    if not alone and job.state is not State.RUNNING:
        return []
    begun = _of_run(job, events.JOB_STARTED, job.leased_at, attempt=job.attempts, worker=_holder(job))
    if not alone:
        return [begun]
    seconds = ((job.finished_at or 0) - (job.leased_at or 0)) / SECOND
    return [begun, _of_run(job, events.JOB_COMPLETED, job.finished_at, duration_seconds=seconds)]


def _of_run(job: Job, name: str, at: Instant | None, **data: Any) -> Event:
    event_data = {"job_id": job.id, **data, **_event_fields(job)}
    return Event(name, job.tenant, job.id, job.attempts, job.fence, _holder(job), at=at, data=event_data)


def _starts_first(unordered: list[Event]) -> list[Event]:
    """The start of a run is written with its end: put it before everything else that happened under its fence."""
    ordered: list[Event] = []
    for event in unordered:
        place = len(ordered)
        if event.name == events.JOB_STARTED:
            place = next((i for i, earlier in enumerate(ordered) if earlier.fence == event.fence), place)
        ordered.insert(place, event)
    return ordered


def _event_fields(job: Job) -> dict[str, Any]:
    return read_json(job.event_fields, dict) or {}


def _holder(job: Job) -> str | None:
    return job.lease_owner or job.worker_id
