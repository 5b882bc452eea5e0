"""The JSON of each thing. Keys are stable: programs rely on them and on their order."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from penstock.cli.times import iso
from penstock.client.handle import error_of

if TYPE_CHECKING:
    from penstock.engine.job import Job
    from penstock.engine.schedule import ScheduleSpec
    from penstock.engine.why import Why
    from penstock.events import Event
    from penstock.stores.effects import EffectRow
    from penstock.stores.listing import Page
    from penstock.stores.schedule_rows import ScheduleRow
    from penstock.stores.slots import Slot
    from penstock.stores.workers import WorkerRow


def job(row: Job) -> dict[str, Any]:
    """A job."""
    return {
        "id": row.id,
        "tenant": row.tenant,
        "task": row.task,
        "queue": row.queue,
        "state": str(row.state),
        "reason": row.reason,
        "priority": row.priority,
        "args": _parsed(row.args),
        "attempts": row.attempts,
        "max_attempts": row.max_attempts,
        "deferrals": row.deferrals,
        "losses": row.losses,
        "fence": row.fence,
        "job_key": row.job_key,
        "source": row.source,
        "waiting_on": row.waiting_on,
        "unique_key": row.unique_key,
        "correlation_id": row.correlation_id,
        "tags": _parsed(row.tags),
        "requeued_from": row.requeued_from,
        "stage": row.stage,
        "progress": _parsed(row.progress),
        "run_at": iso(row.run_at),
        "deadline_at": iso(row.deadline_at),
        "lease_owner": row.lease_owner or row.worker_id,
        "leased_at": iso(row.leased_at),
        "heartbeat_at": iso(row.heartbeat_at),
        "lease_expires_at": iso(row.lease_expires_at),
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "started_at": iso(row.started_at),
        "finished_at": iso(row.finished_at),
        "error": error_of(row),
        "result": _parsed(row.result),
    }


def jobs(page: Page) -> dict[str, Any]:
    """A page of jobs, and where the next one starts."""
    return {"jobs": [job(row) for row in page.jobs], "next": page.next}


def why(told: Why) -> dict[str, str]:
    """Where a job stands."""
    return {"code": told.code, "sentence": told.sentence, "next_step": told.next_step}


def event(told: Event) -> dict[str, Any]:
    """An event. `seq` is null for one that was read from the row of its job."""
    return {
        "name": told.name,
        "at": iso(told.at),
        "tenant": told.tenant,
        "job_id": told.job_id,
        "attempt": told.attempt,
        "fence": told.fence,
        "worker": told.worker,
        "actor": told.actor,
        "data": told.data,
        "seq": told.seq,
    }


def effect(row: EffectRow) -> dict[str, Any]:
    """An effect. The result is null where it is stored as a blob or was too large to keep."""
    return {
        "key": row.key,
        "name": row.name,
        "kind": row.kind,
        "state": row.state,
        "fence": row.fence,
        "tries": row.tries,
        "started_at": iso(row.started_at),
        "settled_at": iso(row.settled_at),
        "stored": row.stored,
        "result": _parsed(row.result),
    }


def schedule(spec: ScheduleSpec, row: ScheduleRow | None) -> dict[str, Any]:
    """A schedule. What only the database knows is null for one that no worker has declared yet."""
    return {
        "name": spec.name,
        "tenant": spec.tenant,
        "task": spec.task,
        "cron": spec.cron,
        "tz": spec.tz,
        "coalesce": spec.coalesce,
        "misfire_grace_seconds": spec.misfire_grace_seconds,
        "overlap": spec.overlap,
        "max_runtime_seconds": spec.max_runtime_seconds,
        "attempts": spec.attempts,
        "args": _parsed(spec.args),
        "declared": row is not None,
        "revision": row.revision if row else None,
        "paused_at": iso(row.paused_at) if row else None,
        "paused_by": row.paused_by if row else None,
        "opened_until": iso(row.opened_until) if row else None,
        "next_at": iso(row.next_at) if row else None,
    }


def slot(row: Slot) -> dict[str, Any]:
    """A slot and what became of it."""
    return {
        "schedule": row.schedule,
        "scheduled_for": iso(row.scheduled_for),
        "disposition": row.disposition,
        "job_id": row.job_id,
        "merged_into": iso(row.merged_into),
        "revision": row.revision,
        "actor": row.actor,
        "opened_at": iso(row.opened_at) if row.opened_at else None,
    }


def worker(row: WorkerRow) -> dict[str, Any]:
    """A worker."""
    return {
        "id": row.id,
        "name": row.name,
        "host": row.host,
        "pid": row.pid,
        "version": row.version,
        "queues": row.queues,
        "tasks": row.tasks,
        "refused": row.refused,
        "started_at": iso(row.started_at),
        "seen_at": iso(row.seen_at),
        "stopped_at": iso(row.stopped_at),
    }


def _parsed(text: str | None) -> Any:
    return None if text is None else json.loads(text)
