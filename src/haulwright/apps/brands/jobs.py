"""The jobs of brands, as calls to be enqueued: whoever wants one knows its task by name alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from haulwright import Haulwright
    from haulwright.apps.brands.rows import PaidRun
    from haulwright.client.task import Call

QUEUE: Final = "brands"
COMPILE: Final = "brands.compile"
REFRESH: Final = "brands.refresh"
SEEK: Final = "brands.seek"
ABORT: Final = "brands.abort"
TIDY: Final = "brands.tidy"


class BrandJobs:
    """Calls of the tasks that an app has under these names."""

    def __init__(self, app: Haulwright) -> None:
        self._tasks = app.tasks

    def compile(self, tenant: str, compile_run_id: str, job_key: str) -> Call[Any]:
        """Compile a brand."""
        task = self._tasks[COMPILE].using(tenant=tenant, job_key=job_key, correlation_id=compile_run_id)
        return task.call(compile_run_id)

    def refresh(self, tenant: str, connection_id: str, compile_run_id: str | None = None) -> Call[Any]:
        """Bring one source in, for a compile or for nobody."""
        task = self._tasks[REFRESH].using(tenant=tenant, correlation_id=compile_run_id)
        return task.call(connection_id) if compile_run_id is None else task.call(connection_id, compile_run_id)

    def refresh_by_hand(self, tenant: str, connection_id: str, timeout_s: float, interval_s: float) -> Call[Any]:
        """The same for a caller that runs it at once; where the caller dies before, a worker does a minute later."""
        limits = {"poll_timeout_seconds": float(timeout_s), "poll_interval_seconds": float(interval_s)}
        return self._tasks[REFRESH].using(tenant=tenant, delay="1 min").call(connection_id, **limits)

    def seek(self, run: PaidRun) -> Call[Any]:
        """Look for a run whose start nobody recorded."""
        return self._tasks[SEEK].using(tenant=run.tenant).call(run)

    def abort(self, tenant: str, actor_run_id: str) -> Call[Any]:
        """Stop a run at Apify."""
        return self._tasks[ABORT].using(tenant=tenant).call(actor_run_id)
