"""What tasks log themselves, by Python's own `logging`: it reaches the worker's log with the job it belongs to."""

from __future__ import annotations

import logging
from typing import Any, Final

from haulwright.client.context import current

TALKATIVE: Final = ("httpx", "httpcore", "urllib3")
"""Libraries that tell of each request at INFO: not unless somebody asks for it."""


def log_tasks(handler: logging.Handler, *, level: int) -> None:
    """Have records of tasks written by this handler. An app that set up logging itself is left as it is."""
    root = logging.getLogger()
    if root.handlers:
        return
    quieten_talkative()
    handler.addFilter(_of_run)
    root.addHandler(handler)
    if root.level in {logging.NOTSET, logging.WARNING}:  # as Python leaves it
        root.setLevel(level)


def quieten_talkative() -> None:
    """Have talkative libraries tell of warnings alone, where nobody said otherwise."""
    for name in TALKATIVE:
        if logging.getLogger(name).level == logging.NOTSET:
            logging.getLogger(name).setLevel(logging.WARNING)


def facts_of_run(record: logging.LogRecord) -> dict[str, Any]:
    """What a record is about: the job of the run that made it, where one did, and what it says itself."""
    facts = getattr(record, "facts", {})
    if not isinstance(facts, dict):  # the word is anybody's
        facts = {"facts": facts}
    context = current.get()
    if context is None:
        return facts
    job = context.job
    return {
        "logger": record.name, "worker": context.worker, "job": job.id, "task": job.task, "tenant": job.tenant,
        "attempt": f"{job.attempts}/{job.max_attempts}", "correlation": job.correlation_id, **facts,
    }  # fmt: skip


def _of_run(record: logging.LogRecord) -> bool:
    """Name the job of a record that a run made, here or in a child; of others only warnings are kept."""
    facts = facts_of_run(record)
    if "job" not in facts:
        return record.levelno >= logging.WARNING
    record.facts = facts
    return True
