"""The loop of the document as a process of its own: it dispatches a sync, and runs cycles until nothing is left of it.

The two texts are the document's, word for word but for its imports. `db_session` is an app, as `compat` has it.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import sys
import time
from typing import Any

from haulwright import Haulwright
from haulwright.apps import syncs
from haulwright.apps.syncs.compat import JobDispatcher, run_worker_cycle

DISPATCH = """
dispatcher = JobDispatcher(db_session, tenant_id)

# Create new job
job = dispatcher.dispatch(
    connector_id="conn-123",
    external_account_id="shop-456",
    correlation_id="req-789",
)

# Get queued jobs
queued = dispatcher.get_queued_jobs()
"""
CYCLE = """
# Run one cycle of job processing
result = await run_worker_cycle(db_session)
# Returns: {"queued_processed": N, "retry_processed": M}
"""
CYCLES = 600
"""More than the patience of a test."""
PAUSE_SECONDS = 0.1
"""The document leaves the pause between two cycles to a cron line of five minutes."""


def run(text: str, names: dict[str, Any]) -> None:
    """Run code as it stands, `await` outside of functions included."""
    result = eval(compile(text, "document", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)  # noqa: S307 - as written above
    if inspect.iscoroutine(result):
        asyncio.run(result)


def main(words: list[str]) -> None:
    """`dispatch` begins a sync; `cycle` runs cycles until there is none that is not finished."""
    app = Haulwright()
    syncs.install(app)
    names = {
        "db_session": app,
        "tenant_id": "acme",
        "JobDispatcher": JobDispatcher,
        "run_worker_cycle": run_worker_cycle,
    }
    if "dispatch" in words:
        run(DISPATCH, names)
        assert [job.job_id for job in names["queued"]] == [names["job"].job_id]
    for _ in range(CYCLES if "cycle" in words else 0):
        run(CYCLE, names)
        statuses = app.store.database.read(lambda connection: connection.execute("select status from ingestion_jobs"))
        if all(status in {"success", "dead_letter"} for (status,) in statuses):
            break
        time.sleep(PAUSE_SECONDS)
    app.close()


if __name__ == "__main__":
    main(sys.argv[1:])
