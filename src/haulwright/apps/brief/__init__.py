"""Brief: feeds in, each article once, events of several reports, and the brief of the day."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haulwright import ApplicationSpec
from haulwright.discovery import lazy_names

if TYPE_CHECKING:
    from haulwright import Haulwright
    from haulwright.apps.brief.application import Brief

__all__ = ["SPEC", "Brief", "install"]

SPEC = ApplicationSpec(
    name="brief",
    package=__name__,
    summary="Brief: feeds in, each article once, events, and the brief of the day.",
    command="brief",
    commands=f"{__name__}.cli",
    routes=f"{__name__}.routes",
    pages=f"{__name__}.dashboard",
    settings=f"{__name__}.settings",
    demo=f"{__name__}.demo",
    extra="apps",
    events=(
        "brief.published",
        "brief.withdrawn",
        "feed.added",
        "feed.changed",
        "feed.failed",
        "feed.removed",
        "retention.cleaned",
    ),
)
__getattr__ = lazy_names(__name__, {"Brief": "application"})


def install(app: Haulwright) -> Brief:
    """Put the brief on an app: its tasks and its schedules. Nothing is opened yet."""
    from haulwright.apps.brief.application import Brief  # noqa: PLC0415 - the spec above must stay light

    return Brief.on(app)
