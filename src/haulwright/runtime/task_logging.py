"""What tasks log themselves, by Python's own `logging`: it reaches the worker's log with the job it belongs to."""

from __future__ import annotations

import logging
from typing import Final

from haulwright.client.context import current

TALKATIVE: Final = ("httpx", "httpcore", "urllib3")
"""Libraries that tell of each request at INFO: not unless somebody asks for it."""


def log_tasks(handler: logging.Handler, *, level: int) -> None:
    """Have records of tasks written by this handler. An app that set up logging itself is left as it is."""
    root = logging.getLogger()
    if root.handlers:
        return
    for name in TALKATIVE:
        if logging.getLogger(name).level == logging.NOTSET:
            logging.getLogger(name).setLevel(logging.WARNING)
    handler.addFilter(_of_run)
    root.addHandler(handler)
    if root.level in {logging.NOTSET, logging.WARNING}:  # as Python leaves it
        root.setLevel(level)


def _of_run(record: logging.LogRecord) -> bool:
    """Name the job of a record that a run made; of others only warnings are kept."""
    context = current.get()
    if context is None:
        return record.levelno >= logging.WARNING
    job = context.job
    record.facts = {
        "logger": record.name, "worker": context.worker, "job": job.id, "task": job.task, "tenant": job.tenant,
        "attempt": f"{job.attempts}/{job.max_attempts}", "correlation": job.correlation_id,
        **getattr(record, "facts", {}),
    }  # fmt: skip
    return True
