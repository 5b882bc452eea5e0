"""What a test enqueued: found by task and arguments, and listed where an assertion fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from haulwright.client.task import Task
from haulwright.engine.job import Job
from haulwright.errors import InvalidValue
from haulwright.stores.listing import JobFilter
from haulwright.stores.paging import PAGE_LIMIT
from haulwright.stores.store import Store

SHOWN = 20


def enqueued(store: Store, task: str | None = None) -> list[Job]:
    """Every job, the oldest first, whatever became of it."""
    jobs: list[Job] = []
    after: str | None = None
    while True:
        page = store.listing.page(JobFilter(task=task), after=after, limit=PAGE_LIMIT)
        jobs += page.jobs
        after = page.next
        if after is None:
            return jobs[::-1]


def matching(store: Store, task: Task[..., Any], args: Mapping[str, Any]) -> list[Job]:
    """The jobs of a task with these arguments among others; refuses an argument that the task does not have."""
    for name in args:
        if name not in task.signature.names:
            names = ", ".join(task.signature.names)
            raise InvalidValue("argument", name, f"is none of the task {task.name!r}", hint=f"It has: {names}.")
    return [job for job in enqueued(store, task.name) if _has(task.signature.load(job.args), args)]


def _has(args: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    return all(name in args and args[name] == value for name, value in expected.items())


def listed(store: Store) -> str:
    """What was enqueued instead, in lines for people."""
    jobs = enqueued(store)
    if not jobs:
        return "Nothing was enqueued."
    lines = [f"  {job.task} {job.args} ({job.state})" for job in jobs[-SHOWN:]]
    left = f"\n  and {len(jobs) - SHOWN} earlier ones" if len(jobs) > SHOWN else ""
    return "Enqueued were:\n" + "\n".join(lines) + left
