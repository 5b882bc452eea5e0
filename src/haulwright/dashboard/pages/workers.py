"""Workers: who works here, who fell silent, who stopped, and what each has in hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from typing_extensions import TypedDict

from haulwright.clock import SECOND
from haulwright.dashboard.kit.call import PageCall
from haulwright.dashboard.kit.navigation import Nav
from haulwright.dashboard.kit.pages import PageRoutes
from haulwright.dashboard.kit.queries import jobs_query
from haulwright.dashboard.kit.turns import PAGED, Turns
from haulwright.operations.jobs import LIVE_SECONDS
from haulwright.operations.views.workers import WorkerView, worker_view

if TYPE_CHECKING:
    from haulwright.operations.workers import WorkerStatus

pages = PageRoutes("workers")

Standing = Literal["live", "silent", "stopped"]


class WorkerLine(TypedDict):
    """A worker, whether it is alive, and the filter that finds what it holds."""

    worker: WorkerView
    standing: Standing
    q: str


@dataclass(frozen=True, slots=True)
class WorkersPage:
    """The workers, the last started first."""

    workers: list[WorkerLine]
    everyone: bool
    turns: Turns


@pages.get(
    "/workers", "workers.html", "Workers", verb="worker.read", nav=Nav("Workers", key="w"), query=("all", *PAGED)
)
def workers(call: PageCall) -> WorkersPage:
    """The workers that were seen lately; with `all` also those that fell silent or stopped."""
    everyone = call.query.get("all") == "1"
    turns = call.turns(str(everyone))
    page = call.operations.workers.page(everyone=everyone, after=turns.after, limit=turns.limit)
    return WorkersPage([_line(call, worker) for worker in page.rows], everyone, turns.then(page.next))


def _line(call: PageCall, worker: WorkerStatus) -> WorkerLine:
    row = worker.row
    is_live = call.now - row.seen_at < LIVE_SECONDS * SECOND
    standing: Standing = "stopped" if row.stopped_at is not None else "live" if is_live else "silent"
    return {"worker": worker_view(worker), "standing": standing, "q": jobs_query(state="running", worker=row.id)}
