"""Bulk actions: which there are, how far one has come, and what one would take before it begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from haulwright.dashboard.kit.call import PageCall
from haulwright.dashboard.kit.forms import Form
from haulwright.dashboard.kit.navigation import Nav
from haulwright.dashboard.kit.pages import ActionDone, PageRoutes
from haulwright.dashboard.kit.turns import PAGED, Turns
from haulwright.operations.bulk_order import ACT_VERBS, ACTS, require_act
from haulwright.operations.filters import LONGEST_FILTER_CHARS
from haulwright.operations.views.bulk import (
    BulkActionView,
    BulkPreviewView,
    bulk_action_view,
    bulk_page_view,
    bulk_preview_view,
)
from haulwright.operations.views.jobs import JobWhyView, job_why_view

pages = PageRoutes("bulk")

WORDS: Final = {"requeue": "Requeue dead letters", "cancel": "Cancel jobs", "retry": "Run jobs now"}


@dataclass(frozen=True, slots=True)
class BulkListPage:
    """Bulk actions, the newest first."""

    actions: list[BulkActionView]
    turns: Turns
    acts: dict[str, str]
    """What may be begun, in words."""


@dataclass(frozen=True, slots=True)
class NewBulkPage:
    """What an action would take, for somebody to confirm."""

    preview: BulkPreviewView
    words: str
    verb: str
    """The right to the act itself."""


@dataclass(frozen=True, slots=True)
class BulkActionPage:
    """One action, and how far it has come."""

    action: BulkActionView
    words: str
    why: JobWhyView


@pages.get("/bulk", "bulk.html", "Bulk actions", verb="bulk.read", nav=Nav("Bulk actions", key="b"), query=PAGED)
def bulk(call: PageCall) -> BulkListPage:
    """Bulk actions, the newest first."""
    turns = call.turns()
    view = bulk_page_view(call.operations.bulk.page(after=turns.after, limit=turns.limit))
    acts: dict[str, str] = {act: WORDS[act] for act in ACTS if call.can("bulk.start") and call.can(ACT_VERBS[act])}
    return BulkListPage(view["actions"], turns.then(view["next"]), acts)


@pages.get("/bulk/new", "bulk_new.html", "New bulk action", verb="bulk.preview", query=("act", "q"))
def new(call: PageCall) -> NewBulkPage:
    """What an act would be done to: how many jobs, and the newest of them."""
    act = require_act(call.query.get("act", ""))
    preview = call.operations.bulk.preview(act, call.query.get("q", ""))
    return NewBulkPage(bulk_preview_view(preview), WORDS[act], ACT_VERBS[act])


@pages.post("/bulk/new", verb="bulk.start")
def start(call: PageCall, form: Form) -> ActionDone:
    """Begin an action."""
    operations = call.because(form.text("reason"))
    where = form.text("q", most=LONGEST_FILTER_CHARS)
    action = operations.bulk.start(form.text("act"), where, fresh=form.has("fresh"))
    return ActionDone("The action waits for a worker.", to=call.link("bulk", action.job.id))


@pages.get("/bulk/{job_id}", "bulk_action.html", "Bulk action", verb="bulk.read")
def show(call: PageCall) -> BulkActionPage:
    """One action, with its counts and what was left as it is."""
    view = bulk_action_view(call.operations.bulk.get(call.path["job_id"]))
    why = job_why_view(view["id"], call.operations.jobs.why(view["id"]))
    return BulkActionPage(view, WORDS.get(view["act"], view["act"]), why)


@pages.post("/bulk/{job_id}/stop", verb="bulk.stop")
def stop(call: PageCall, form: Form) -> ActionDone:
    """Have no further page of jobs begin."""
    job_id = call.path["job_id"]
    call.operations.bulk.stop(job_id, form.text("reason") or "stopped on request")
    return ActionDone("The action is stopped: no further jobs are acted on.", to=call.link("bulk", job_id))
