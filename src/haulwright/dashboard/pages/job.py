"""One job: where it stands and why, what happened to it, what it did, and what may be done with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from typing_extensions import TypedDict

from haulwright import events as names
from haulwright.dashboard.kit.call import PageCall
from haulwright.dashboard.kit.forms import Form
from haulwright.dashboard.kit.pages import ActionDone, PageRoutes
from haulwright.engine.transitions import State
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
    waited_by: list[JobView]
    """They go on when this one has ended."""
    waits_for: list[JobView]
    predecessor: JobView | None
    """The dead letter that it goes on from."""
    successor: JobView | None
    commands: dict[str, str]
    """How the same is asked for elsewhere."""
    is_runnable: bool
    """The app has its task, so there is a form that can be filled in as it was."""


"""Named for what it shows: `JobPage` is a page of a list."""


@pages.get("/jobs/{job_id}", "job.html", "Job", verb="job.read")
def job(call: PageCall) -> JobPageOfOne:
    """One job, with its timeline, its effects and where it stands."""
    job_id, jobs = call.path["job_id"], call.operations.jobs
    row = jobs.get(job_id)
    events = jobs.timeline(row.id, limit=SHOWN)
    effects = call.operations.effects.of_job(row.id, limit=SHOWN)
    view = job_detail_view(row, events, effects, jobs.why(row.id))
    relatives = jobs.relatives(row.id)
    return JobPageOfOne(
        view,
        _attempts(view["events"]),
        [job_view(parent) for parent in relatives.waited_by],
        [job_view(child) for child in relatives.waits_for],
        None if relatives.predecessor is None else job_view(relatives.predecessor),
        None if relatives.successor is None else job_view(relatives.successor),
        commands_for(call, row.id),
        is_runnable=any(task.name == row.task for task in call.operations.tasks.list()),
    )


@pages.post("/jobs/{job_id}/cancel", verb="job.cancel")
def cancel(call: PageCall, form: Form) -> ActionDone:
    """Cancel a job: at once where it waits, by a signal where it runs."""
    job_id = call.path["job_id"]
    reason = form.text("reason") or call.principal.reason or "cancelled on request"
    state = call.because(reason).jobs.cancel(job_id, reason)
    text = "It is cancelled." if state is State.CANCELLED else "It was asked to stop, and does so at its next step."
    return ActionDone(text, to=call.link("jobs", job_id))


@pages.post("/jobs/{job_id}/retry", verb="job.retry")
def retry(call: PageCall, form: Form) -> ActionDone:
    """Run a job again now; a dead one gets another life."""
    outcome = call.because(form.text("reason")).jobs.retry(call.path["job_id"])
    if outcome.requeued_from is not None:
        return ActionDone(
            f"It has another life: this is the job that goes on from {outcome.requeued_from}.",
            to=call.link("jobs", outcome.id),
        )
    return ActionDone("It is due now." if outcome.changed else "It was due already.", to=call.link("jobs", outcome.id))


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


def commands_for(call: PageCall, job_id: str) -> dict[str, str]:
    """How the same is asked for from a shell, over HTTP, and in a program."""
    return {
        "Command line": f"haulwright job show {job_id}",
        "curl": f'curl -H "Authorization: Bearer $TOKEN" "$HAULWRIGHT{call.api("jobs", job_id, "detail")}"',
        "Python": f'app.operations(principal).jobs.get("{job_id}")',
    }
