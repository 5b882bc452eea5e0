"""The jobs of prices as the document shows them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from haulwright.engine.ids import is_id
from haulwright.errors import NotFound

if TYPE_CHECKING:
    from haulwright.application import Tables

COLUMNS: Final = (
    "id", "tenant", "intake_id", "source_id", "query_params", "status", "attempts", "retry_count", "locked_by",
    "locked_at", "heartbeat_at", "next_retry_at", "error_message", "error_code", "created_at", "completed_at", "result",
)  # fmt: skip
MOMENTS: Final = ("locked_at", "heartbeat_at", "next_retry_at", "created_at", "completed_at")
LATEST: Final = 20


class ScrapeJobs:
    """The rows of the view `scrape_jobs`. Every read names its tenant."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def latest(self, tenant: str, intake_id: str | None = None, limit: int = LATEST) -> list[dict[str, Any]]:
        """The newest jobs of a tenant, of one intake or of all."""
        return self._read(tenant=tenant, intake_id=intake_id, id=None, limit=limit)

    def get(self, tenant: str, job_id: str) -> dict[str, Any]:
        """One job. That of another tenant looks exactly like an absent one."""
        jobs = self._read(tenant=tenant, intake_id=None, id=job_id, limit=1) if is_id(job_id) else []
        if not jobs:
            raise NotFound("collection", job_id)
        return jobs[0]

    def _read(self, **params: Any) -> list[dict[str, Any]]:
        return [_job(row) for row in self._tables.read("jobs.list", **params)]


def _job(row: tuple[Any, ...]) -> dict[str, Any]:
    job = dict(zip(COLUMNS, row, strict=True))
    for moment in MOMENTS:
        job[moment] = None if job[moment] is None else str(job[moment])
    query = job["query_params"]
    query_params = json.loads(query) if isinstance(query, str) else query  # SQLite has text where PostgreSQL has JSON
    return job | {"query_params": query_params or {}, "result": json.loads(job["result"]) if job["result"] else None}
