"""A logger for a run, whose lines name its job."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from haulwright.engine.job import Lease


class JobLogger(logging.LoggerAdapter[logging.Logger]):
    """The logger of a job's task. Its records have `job`, `task`, `tenant` and `attempt` for handlers of anybody's."""

    def __init__(self, job: Lease) -> None:
        extra = {"job": job.id, "task": job.task, "tenant": job.tenant, "attempt": job.attempts}
        super().__init__(logging.getLogger(job.task), extra)

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        """Put the job beside what the caller has to add, which Python's own adapter would drop before 3.13."""
        return msg, {**kwargs, "extra": {**(self.extra or {}), **(kwargs.get("extra") or {})}}
