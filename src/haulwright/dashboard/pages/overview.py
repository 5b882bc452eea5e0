"""The first page: is all well, and where to look where it is not."""

from __future__ import annotations

from dataclasses import dataclass

from haulwright.dashboard.kit.call import PageCall
from haulwright.dashboard.kit.navigation import Nav
from haulwright.dashboard.kit.pages import PageRoutes
from haulwright.operations.views.overview import (
    ConcernView,
    FrameView,
    PulseView,
    concern_view,
    frame_view,
    pulse_view,
)

pages = PageRoutes("overview")


@dataclass(frozen=True, slots=True)
class OverviewPage:
    """Everything at one moment."""

    frame: FrameView
    concerns: list[ConcernView]
    pulse: PulseView
    due: int
    more_due: bool
    """More are due than were counted."""
    running: int
    later: int
    oldest_due_at: str | None


@pages.get("/overview", "overview.html", "Overview", verb="overview.read", nav=Nav("Overview", key="o"))
def overview(call: PageCall) -> OverviewPage:
    """Everything at one moment, and what needs somebody."""
    frame = call.operations.overview.frame()
    view = frame_view(frame)
    queues = view["queues"]
    return OverviewPage(
        view,
        [concern_view(concern) for concern in call.operations.overview.concerns(frame)],
        pulse_view(call.operations.overview.pulse()),
        due=sum(queue["due"] for queue in queues),
        more_due=any(queue["more_due"] for queue in queues),
        running=sum(queue["running"] for queue in queues),
        later=sum(queue["parked"] for queue in queues),
        oldest_due_at=min((queue["oldest_due_at"] for queue in queues if queue["oldest_due_at"]), default=None),
    )
