"""One job: where it stands and why, what happened to it, what it did, and what may be done with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from typing_extensions import TypedDict

from haulwright import events as names
from haulwright.dashboard.kit.call import PageCall
from haulwright.dashboard.kit.pages import PageRoutes
from haulwright.operations.views.events import EventView
from haulwright.operations.views.jobs import JobDetailView, JobView, job_detail_view, job_view

pages = PageRoutes("job")

SHOWN: Final = 200
"""Events and effects that the page shows at once; the API has the rest."""
_ENDS: Final = frozenset(
    {
        names.JOB_COMPLETED, names.JOB_FAILED, names.JOB_DEAD_LETTERED, names.JOB_SNOOZED, names.JOB_RELEASED,
        names.JOB_LEASE_EXPIRED, names.JOB_CANCELLED, names.JOB_SKIPPED,
    }
)  # fmt: skip
"""Events with which a run is over."""


class AttemptView(TypedDict):
    """One run of a job, put together from its events."""

    attempt: int | None
    fence: int | None
    worker: str | None
    started_at: str | None
    ended_at: str | None
    ending: str | None
    """The name of the event that ended it; None where it still runs."""
    error_class: str | None
    error_message: str | None
    frames: list[dict[str, object]]


@dataclass(frozen=True, slots=True)
class JobPageOfOne:
    """A job with all that is known of it."""

    job: JobDetailView
    attempts: list[AttemptView]
    parents: list[JobView]
    children: list[JobView]
    commands: dict[str, str]
    """How the same is asked for elsewhere."""


"""Named for what it shows: `JobPage` is a page of a list."""


@pages.get("/jobs/{job_id}", "job.html", "Job", verb="job.read")
def job(call: PageCall) -> JobPageOfOne:
    """One job, with its timeline, its effects and where it stands."""
    job_id, jobs = call.path["job_id"], call.operations.jobs
    row = jobs.get(job_id)
    events = jobs.timeline(row.id, limit=SHOWN)
    effects = call.operations.effects.of_job(row.id, limit=SHOWN)
    view = job_detail_view(row, events, effects, jobs.why(row.id))
    return JobPageOfOne(
        view,
        _attempts(view["events"]),
        _related(call, [row.requeued_from]),
        _related(call, [row.requeued_to]),
        commands_for(call, row.id),
    )


def _attempts(events: list[EventView]) -> list[AttemptView]:
    """The runs of a job, the last one first: the events under one fence belong together."""
    runs: dict[int, AttemptView] = {}
    for event in events:
        fence = event["fence"]
        if not fence or event["name"] not in {names.JOB_STARTED, *_ENDS}:
            continue
        run = runs.setdefault(fence, _new_attempt(event))
        if event["name"] == names.JOB_STARTED:
            run["started_at"] = event["at"]
            continue
        run["ended_at"], run["ending"] = event["at"], event["name"]
        data = event["data"]
        if data.get("error_message") is not None or data.get("error_class") is not None:
            run["error_class"], run["error_message"] = data.get("error_class"), data.get("error_message")
            run["frames"] = [frame for frame in data.get("error_frames") or [] if isinstance(frame, dict)]
    return list(reversed(runs.values()))


def _new_attempt(event: EventView) -> AttemptView:
    return {
        "attempt": event["attempt"], "fence": event["fence"], "worker": event["worker"], "started_at": None,
        "ended_at": None, "ending": None, "error_class": None, "error_message": None, "frames": [],
    }  # fmt: skip


def _related(call: PageCall, ids: list[str | None]) -> list[JobView]:
    """Those of some jobs that are still there."""
    rows = [call.operations.jobs.find(job_id) for job_id in ids if job_id is not None]
    return [job_view(row) for row in rows if row is not None]


def commands_for(call: PageCall, job_id: str) -> dict[str, str]:
    """How the same is asked for from a shell, over HTTP, and in a program."""
    return {
        "Command line": f"haulwright job show {job_id}",
        "curl": f'curl -H "Authorization: Bearer $TOKEN" "$HAULWRIGHT{call.api("jobs", job_id, "detail")}"',
        "Python": f'app.operations(principal).jobs.get("{job_id}")',
    }
