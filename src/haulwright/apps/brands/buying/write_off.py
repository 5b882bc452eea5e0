"""The end of a paid run that nobody goes on with: written off here, and stopped at Apify."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from haulwright.apps.brands.records import RUN_ENDED, record_run_event

if TYPE_CHECKING:
    from haulwright.application import Writing
    from haulwright.apps.brands.jobs import BrandJobs
    from haulwright.apps.brands.rows import PaidRun

LEFT_BEHIND: Final = "It was left behind, and could not be gone on with."


def write_off(writing: Writing, run: PaidRun, error: str) -> None:
    """Write down that nobody will go on with a run; one that is over stays as it is."""
    failure = {"error": error, "error_class": "LeftBehind"}
    key = {"tenant": run.tenant, "id": run.id}
    if writing.run("runs.failed", **key, status=None, quarantined=run.quarantined, **failure):
        record_run_event(writing, RUN_ENDED, run, status=run.status, **failure)


def stop_run(writing: Writing, jobs: BrandJobs, run: PaidRun) -> None:
    """Have a run that nobody wants any more aborted, so that it costs no more; one that may exist is looked for."""
    if run.actor_run_id is not None:
        writing.enqueue(jobs.abort(run.tenant, run.actor_run_id))
    elif run.marked:
        writing.enqueue(jobs.seek(run))
