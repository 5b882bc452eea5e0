"""What operators ask about syncs: read from the views, which they may as well ask in SQL."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, cast

from haulwright.apps.syncs.views import SyncJobView, SyncStatsView
from haulwright.engine.ids import is_id
from haulwright.errors import NotFound

if TYPE_CHECKING:
    from haulwright.application import Tables

MOST_ROWS: Final = 100

_COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "states": ("status", "jobs"),
    "by_connector": (
        "tenant_id", "connector_id", "succeeded", "dead", "success_rate", "mean_duration_seconds", "records_synced",
    ),
    "dead_letters": ("tenant_id", "error_code", "jobs", "oldest_at"),
    "retries": ("error_code", "retries", "jobs", "rate"),
    "queued": ("minute", "queued"),
    "stuck": ("job_id", "tenant_id", "connector_id", "run_id", "started_at"),
    "jobs": (
        "job_id", "tenant_id", "connector_id", "external_account_id", "status", "retry_count", "run_id",
        "correlation_id", "error_message", "error_code", "next_retry_at", "records_synced", "duration_seconds",
    ),
}  # fmt: skip
"""What each question is answered with."""
_OF_TENANT: Final = ("states", "by_connector", "dead_letters", "stuck")
_OF_ALL: Final = ("retries", "queued")


class Stats:
    """Counts, rates and lists of syncs."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def all(self, tenant: str | None = None) -> SyncStatsView:
        """Every question at once; what is not told apart by tenant is left out for one of them."""
        answers = {name: self._ask(name, tenant=tenant) for name in _OF_TENANT}
        of_all = {name: self._ask(name) for name in _OF_ALL} if tenant is None else {}
        return cast("SyncStatsView", answers | of_all)

    def jobs(
        self, tenant: str, *, connector_id: str | None = None, status: str | None = None, limit: int = MOST_ROWS
    ) -> list[SyncJobView]:
        """The newest syncs of a tenant in the words of the document."""
        return self._jobs(tenant=tenant, connector_id=connector_id, status=status, id=None, limit=limit)

    def job(self, tenant: str, job_id: str) -> SyncJobView:
        """One sync. That of another tenant looks exactly like an absent one."""
        params = {"tenant": tenant, "connector_id": None, "status": None, "id": job_id, "limit": 1}
        jobs = self._jobs(**params) if is_id(job_id) else []
        if not jobs:
            raise NotFound("sync", job_id)
        return jobs[0]

    def _jobs(self, **params: Any) -> list[SyncJobView]:
        jobs = [dict(zip(_COLUMNS["jobs"], row, strict=True)) for row in self._tables.read("stats.jobs", **params)]
        return [cast("SyncJobView", job | {"next_retry_at": _moment(job["next_retry_at"])}) for job in jobs]

    def _ask(self, name: str, **params: Any) -> list[dict[str, Any]]:
        limit = {} if name == "states" else {"limit": MOST_ROWS}
        rows = self._tables.read(f"stats.{name}", **params, **limit)
        return [dict(zip(_COLUMNS[name], map(_plain, row), strict=True)) for row in rows]


def _moment(value: Any) -> str | None:
    """A moment as ISO 8601 in UTC; SQLite has text, in UTC too."""
    if value is None:
        return None
    at = value if isinstance(value, datetime) else datetime.fromisoformat(str(value)).replace(tzinfo=UTC)
    return at.astimezone(UTC).isoformat(timespec="seconds")


def _plain(value: Any) -> Any:
    """A value as JSON has it; PostgreSQL's moments become text."""
    return value if value is None or isinstance(value, str | int | float) else str(value)
