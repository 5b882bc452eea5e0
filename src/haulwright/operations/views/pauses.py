"""The JSON of a pause or a resume, the same for everything that can be paused."""

from __future__ import annotations

from typing_extensions import TypedDict


class PauseView(TypedDict):
    """Whether a queue, a schedule or a source is paused now, and whether that is new."""

    name: str
    paused: bool
    changed: bool


def pause_view(name: str, *, paused: bool, changed: bool) -> PauseView:
    """The answer to a pause or a resume."""
    return {"name": name, "paused": paused, "changed": changed}
