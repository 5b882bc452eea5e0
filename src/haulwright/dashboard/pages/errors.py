"""Errors: what the newest dead letters died of, and another life for those of one error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from typing_extensions import TypedDict

from haulwright.dashboard.kit.call import PageCall
from haulwright.dashboard.kit.forms import Form
from haulwright.dashboard.kit.navigation import Nav
from haulwright.dashboard.kit.pages import ActionDone, PageRoutes
from haulwright.dashboard.kit.queries import jobs_query
from haulwright.errors import Refused
from haulwright.operations.dead_letters import RequeueRefused
from haulwright.operations.filters import require_filter
from haulwright.operations.times import iso
from haulwright.operations.views.dead_letters import DeadGroupView, dead_groups_view
from haulwright.operations.views.jobs import JobView, job_view

pages = PageRoutes("errors")

GROUPS: Final = 50
MOST_AT_ONCE: Final = 500
"""Dead letters that one form requeues: it is answered when all of them are through."""
SHOWN: Final = 20
"""Of those that would be requeued, so many are shown."""
_BATCH: Final = 200
_MOST_SCANNED: Final = 5_000
"""Dead letters that are read for one group. Those without a class or a code cannot be asked for by a filter."""
_GROUP: Final = ("task", "error_class", "error_code", "before")
"""What a group is found by: a word that is missing in the address is missing in the rows."""


class ErrorGroup(TypedDict):
    """Dead letters of one task and error, what the newest of them said, and the filter that finds their jobs."""

    group: DeadGroupView
    message: str | None
    q: str


@dataclass(frozen=True, slots=True)
class ErrorsPage:
    """The newest dead letters by task and error, the most first."""

    groups: list[ErrorGroup]
    more: bool
    """There are more groups than these."""


@dataclass(frozen=True, slots=True)
class RequeuePreview:
    """What another life for a group would take."""

    task: str
    error_class: str | None
    error_code: str | None
    before: str
    """Only what was dead by then: what dies after the look at this page is not meant."""
    count: int
    more: bool
    """There are more than one form takes."""
    jobs: list[JobView]
    q: str


@pages.get("/errors", "errors.html", "Errors", verb="dead.read", nav=Nav("Errors", key="e"))
def errors(call: PageCall) -> ErrorsPage:
    """The newest 1,000 dead letters that nobody requeued, by task and error."""
    view = dead_groups_view(call.operations.dead_letters.groups(limit=GROUPS))
    messages = _messages(call, [group["sample_job_id"] for group in view["groups"]])
    groups: list[ErrorGroup] = [
        {"group": group, "message": messages.get(group["sample_job_id"]), "q": _query(call, group)}
        for group in view["groups"]
    ]
    return ErrorsPage(groups, more=len(groups) == GROUPS)


def _messages(call: PageCall, ids: list[str]) -> dict[str, str | None]:
    """What these jobs said when they died, in one question."""
    if not ids:
        return {}
    jobs = call.operations.jobs.page(require_filter(f"id:{','.join(ids)}"), limit=len(ids)).jobs
    return {job.id: job.error_message for job in jobs}


def _query(call: PageCall, group: DeadGroupView) -> str:
    return jobs_query(
        state="dead", requeued="false", task=group["task"], error_class=group["error_class"],
        error_code=group["error_code"], tenant=call.tenant,
    )  # fmt: skip


@pages.get("/errors/requeue", "requeue.html", "Requeue", verb="dead.read", query=_GROUP)
def preview(call: PageCall) -> RequeuePreview:
    """What another life for the dead letters of one error would take. Nothing is changed."""
    words = {name: call.query.get(name) for name in _GROUP}
    words["before"] = words["before"] or str(iso(call.now))
    jobs, more = _letters(call, words)
    query = jobs_query(state="dead", requeued="false", **_fields(words))
    return RequeuePreview(
        str(words["task"]), words["error_class"], words["error_code"], str(words["before"]), len(jobs), more,
        jobs[:SHOWN], query,
    )  # fmt: skip


@pages.post("/errors/requeue", verb="dead.requeue")
def requeue(call: PageCall, form: Form) -> ActionDone:
    """Give the dead letters of one error another life, each on its own."""
    words = {name: form.text(name, most=2000) if form.has(name) else None for name in _GROUP}
    reason = form.text("reason")
    if not reason and not call.principal.reason:
        raise Refused("Several dead letters are requeued with a reason.", hint="Say why, in the field beside it.")
    jobs, more = _letters(call, words)
    outcomes = [*call.because(reason).dead_letters.requeue_many(job["id"] for job in jobs)]
    refused = [outcome for outcome in outcomes if isinstance(outcome, RequeueRefused)]
    text = f"{_counted(len(outcomes) - len(refused), 'dead letter')} of {words['task']} got another life."
    if refused:
        text += f" {len(refused)} stayed as they are, the first because: {refused[0].error.message}"
    if more:
        text += " There are more of this error: requeue again."
    return ActionDone(text, to=call.url("/errors"))


@pages.post("/errors/jobs/{job_id}/requeue", verb="dead.requeue")
def requeue_one(call: PageCall, form: Form) -> ActionDone:
    """Give one dead letter another life."""
    new = call.because(form.text("reason")).dead_letters.requeue(call.path["job_id"])
    return ActionDone(f"The dead letter goes on as job {new.id}.", to=call.link("jobs", new.id))


def _letters(call: PageCall, words: dict[str, str | None]) -> tuple[list[JobView], bool]:
    """Exactly the dead letters of a group, the newest first, as many as one form takes; and whether there are more."""
    if not words["task"] or not words["before"]:
        raise Refused("Dead letters of one task are requeued together.", hint="Choose a group on the page Errors.")
    query, letters = require_filter(jobs_query(**_fields(words))), call.operations.dead_letters
    matches: list[JobView] = []
    scanned, after = 0, None
    while scanned < _MOST_SCANNED:
        page = letters.page(query, after=after, limit=_BATCH)
        for job in page.jobs:
            if (job.error_class, job.error_code) == (words["error_class"], words["error_code"]):
                if len(matches) == MOST_AT_ONCE:
                    return matches, True
                matches.append(job_view(job))
        scanned, after = scanned + len(page.jobs), page.next
        if after is None:
            return matches, False
    return matches, True


def _fields(words: dict[str, str | None]) -> dict[str, str | None]:
    """A group in the words of the filter language."""
    return {
        "task": words["task"],
        "error_class": words["error_class"],
        "error_code": words["error_code"],
        "finished_before": words["before"],
    }


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
