"""The JSON of bulk actions: what one would take, and how far one has come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from typing_extensions import TypedDict

from haulwright.operations.bulk_run import whose
from haulwright.operations.times import iso
from haulwright.operations.views.columns import Column
from haulwright.operations.views.dead_letters import RefusedView
from haulwright.operations.views.jobs import JobView, job_view

if TYPE_CHECKING:
    from haulwright.operations.bulk import BulkAction, BulkPreview
    from haulwright.stores.paging import Page


class BulkPreviewView(TypedDict):
    """What a bulk action would take. `more` where there are more than were counted."""

    act: str
    where: str
    count: int
    more: bool
    sample: list[JobView]
    problem: str | None
    """Why no worker would run it as things stand."""


class BulkActionView(TypedDict):
    """A bulk action: one act on the jobs of a filter, as a durable job."""

    id: str
    act: str
    where: str
    up_to: str | None
    """Jobs that came after this moment are none of its business."""
    tenant: str | None
    """Whose jobs it takes; null is those of all tenants."""
    fresh: bool
    correlation_id: str | None
    actor: str
    reason: str
    state: str
    done: int
    of: int | None
    """How many jobs it found; null before it ran."""
    refused: int
    refusals: list[RefusedView]
    """The first of those that were left as they are."""
    more: bool
    """There were more jobs than one action takes."""
    created_at: str | None
    started_at: str | None
    finished_at: str | None


class BulkPageView(TypedDict):
    """A page of bulk actions, and where the next one starts."""

    actions: list[BulkActionView]
    next: str | None


def bulk_preview_view(preview: BulkPreview) -> BulkPreviewView:
    """What a bulk action would take."""
    return {
        "act": preview.order.act,
        "where": preview.order.where,
        "count": preview.count,
        "more": preview.more,
        "sample": [job_view(job) for job in preview.sample],
        "problem": preview.problem,
    }


def bulk_action_view(action: BulkAction) -> BulkActionView:
    """A bulk action."""
    job, order, progress = action.job, action.order, action.progress
    refusals: list[RefusedView] = [
        {"id": refusal.id, "code": refusal.code, "message": refusal.message, "hint": ""}
        for refusal in progress.refusals
    ]
    return {
        "id": job.id,
        "act": order.act,
        "where": order.where,
        "up_to": iso(order.up_to),
        "tenant": whose(job.tenant),
        "fresh": order.fresh,
        "correlation_id": order.correlation_id,
        "actor": action.actor,
        "reason": action.reason,
        "state": str(job.state),
        "done": progress.done,
        "of": progress.of,
        "refused": progress.refused,
        "refusals": refusals,
        "more": progress.more,
        "created_at": iso(job.created_at),
        "started_at": iso(job.started_at),
        "finished_at": iso(job.finished_at),
    }


def bulk_page_view(page: Page[BulkAction]) -> BulkPageView:
    """A page of bulk actions."""
    return {"actions": [bulk_action_view(action) for action in page.rows], "next": page.next}


def far(action: BulkAction) -> str:
    """How far it has come, in a few words."""
    progress = action.progress
    of = "" if progress.of is None else f" of {progress.of}"
    refused = f", {progress.refused} refused" if progress.refused else ""
    return f"{progress.done}{of}{refused}"


BULK_COLUMNS: Final[tuple[Column[BulkAction], ...]] = (
    Column("id", lambda action: action.job.id),
    Column("state", lambda action: str(action.job.state)),
    Column("act", lambda action: action.order.act),
    Column("where", lambda action: action.order.where),
    Column("done", far),
    Column("by", lambda action: action.actor, optional=1),
    Column("started", lambda action: action.job.created_at, moment=True, optional=2),
    Column("reason", lambda action: action.reason, optional=3),
)
