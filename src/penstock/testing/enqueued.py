"""What a test enqueued: found by task and arguments, and listed where an assertion fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.client.task import Task
from penstock.engine.job import Job
from penstock.errors import InvalidValue
from penstock.stores.listing import PAGE_LIMIT, JobFilter
from penstock.stores.store import Store

SHOWN = 20


def enqueued(store: Store, task: str | None = None) -> list[Job]:
    """Every job, the oldest first, whatever became of it."""
    found: list[Job] = []
    after: str | None = None
    while True:
        page = store.listing.page(JobFilter(task=task), after=after, limit=PAGE_LIMIT)
        found += page.jobs
        after = page.next
        if after is None:
            return found[::-1]


def matching(store: Store, task: Task[..., Any], args: Mapping[str, Any]) -> list[Job]:
    """The jobs of a task with these arguments among others; refuses an argument that the task does not have."""
    for name in args:
        if name not in task.signature.names:
            known = ", ".join(task.signature.names)
            raise InvalidValue("argument", name, f"is none of the task {task.name!r}", hint=f"It has: {known}.")
    return [job for job in enqueued(store, task.name) if _has(task.signature.load(job.args), args)]


def _has(given: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(name in given and given[name] == value for name, value in wanted.items())


def listed(store: Store) -> str:
    """What was enqueued instead, in lines for people."""
    jobs = enqueued(store)
    if not jobs:
        return "Nothing was enqueued."
    lines = [f"  {job.task} {job.args} ({job.state})" for job in jobs[-SHOWN:]]
    left = f"\n  and {len(jobs) - SHOWN} earlier ones" if len(jobs) > SHOWN else ""
    return "Enqueued were:\n" + "\n".join(lines) + left
