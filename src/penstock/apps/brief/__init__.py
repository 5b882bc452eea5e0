"""Brief: feeds in, each article once, events of several reports, and the brief of the day."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.apps.brief.application import Brief
    from penstock.client.app import Penstock

__all__ = ["install"]


def install(app: Penstock) -> Brief:
    """Put the brief on an app: its tasks and its schedules. Nothing is opened yet."""
    from penstock.apps.brief.application import Brief  # noqa: PLC0415 - clustering a file needs no engine

    return Brief.on(app)
