"""The JSON of what verbs on dead letters answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from typing_extensions import TypedDict

from haulwright.operations.dead_letters import Requeued, RequeueRefused
from haulwright.operations.times import iso
from haulwright.operations.views.columns import Column

if TYPE_CHECKING:
    from collections.abc import Iterable

    from haulwright.operations.dead_letters import DeadLetterIds
    from haulwright.stores.dead_letters import DeadGroup
    from haulwright.stores.listing import DeadCount
    from haulwright.stores.paging import Page


class DeadCountView(TypedDict):
    """How many dead letters of one tenant and error code wait for somebody."""

    tenant: str
    error_code: str | None
    count: int


class DeadCountPageView(TypedDict):
    """A page of counts, the most first."""

    counts: list[DeadCountView]
    next: str | None


class DeadGroupView(TypedDict):
    """Dead letters of one task that died of the same error, with the newest of them."""

    error_class: str | None
    error_code: str | None
    task: str
    count: int
    first_seen_at: str | None
    last_seen_at: str | None
    sample_job_id: str


class DeadGroupsView(TypedDict):
    """The newest dead letters by task and error, the most first."""

    groups: list[DeadGroupView]


class RequeuedView(TypedDict):
    """A new job, and the dead letter whose life it goes on with."""

    id: str
    requeued_from: str


class RefusedView(TypedDict):
    """A dead letter that stays as it is."""

    id: str
    code: str
    message: str
    hint: str


class RequeueView(TypedDict):
    """What became of each of several dead letters."""

    requeued: list[RequeuedView]
    refused: list[RefusedView]


class WouldRequeueView(TypedDict):
    """What a bulk requeue would take. `more` where there are more than it takes."""

    would_requeue: list[str]
    more: bool


def dead_counts_view(page: Page[DeadCount]) -> DeadCountPageView:
    """A page of counts."""
    counts: list[DeadCountView] = [
        {"tenant": row.tenant, "error_code": row.error_code, "count": row.count} for row in page.rows
    ]
    return {"counts": counts, "next": page.next}


def dead_groups_view(groups: Iterable[DeadGroup]) -> DeadGroupsView:
    """The newest dead letters by task and error."""
    return {"groups": [_group_view(group) for group in groups]}


def _group_view(group: DeadGroup) -> DeadGroupView:
    return {
        "error_class": group.error_class,
        "error_code": group.error_code,
        "task": group.task,
        "count": group.count,
        "first_seen_at": iso(group.first_seen_at),
        "last_seen_at": iso(group.last_seen_at),
        "sample_job_id": group.sample_job_id,
    }


def requeued_view(job_id: str, requeued_from: str) -> RequeuedView:
    """A dead letter that got another life."""
    return {"id": job_id, "requeued_from": requeued_from}


def requeue_view(outcomes: Iterable[Requeued | RequeueRefused]) -> RequeueView:
    """What became of each of several dead letters."""
    view: RequeueView = {"requeued": [], "refused": []}
    for outcome in outcomes:
        if isinstance(outcome, Requeued):
            view["requeued"].append({"id": outcome.id, "requeued_from": outcome.requeued_from})
        else:
            error = outcome.error
            view["refused"].append({"id": outcome.id, "code": error.code, "message": error.message, "hint": error.hint})
    return view


def would_requeue_view(selection: DeadLetterIds) -> WouldRequeueView:
    """What a bulk requeue would take."""
    return {"would_requeue": selection.ids, "more": selection.more}


DEAD_COUNT_COLUMNS: Final[tuple[Column[DeadCount], ...]] = (
    Column("tenant", lambda row: row.tenant),
    Column("error code", lambda row: row.error_code or "-"),
    Column("count", lambda row: row.count),
)
REQUEUED_COLUMNS: Final[tuple[Column[Requeued], ...]] = (
    Column("new job", lambda requeued: requeued.id),
    Column("dead letter", lambda requeued: requeued.requeued_from),
)
