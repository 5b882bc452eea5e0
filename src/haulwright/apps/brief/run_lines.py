"""A line for the start of each scheduled run: the document asks for it. The line of its end is the worker's own."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from haulwright.runtime.observer import Observer

if TYPE_CHECKING:
    from haulwright.runtime.observed import JobRun

log = logging.getLogger("haulwright.worker")


class RunLines(Observer):
    """Starts of the jobs of schedules; `job_names` are these by the names of their tasks."""

    def __init__(self, job_names: Mapping[str, str]) -> None:
        self._job_names = job_names

    def started(self, run: JobRun, /) -> None:
        """One line."""
        job_name = self._job_names.get(run.task)
        if job_name is not None:
            facts = {"worker": run.worker, "job": run.job_id, "job_name": job_name, "attempt": run.attempt}
            log.info("run started", extra={"facts": facts})
