"""Syncs: the Airbyte connections of many tenants, each at its cadence, one sync of each at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haulwright import ApplicationSpec
from haulwright.discovery import lazy_names

if TYPE_CHECKING:
    from haulwright import Haulwright
    from haulwright.apps.syncs.application import Syncs
    from haulwright.apps.syncs.errors import ActiveJobExists, TooSoon

__all__ = ["SPEC", "ActiveJobExists", "Syncs", "TooSoon", "install"]

SPEC = ApplicationSpec(
    name="syncs",
    package=__name__,
    summary="Syncs: the Airbyte connections of many tenants, each at its cadence.",
    command="sync",
    commands=f"{__name__}.cli",
    routes=f"{__name__}.routes",
    pages=f"{__name__}.dashboard",
    settings=f"{__name__}.settings",
    demo=f"{__name__}.demo",
    extra="apps",
    events=(
        "connection.added",
        "connection.changed",
        "connection.removed",
        "job.remote_started",
        "plan.changed",
    ),
)
__getattr__ = lazy_names(__name__, {"Syncs": "application", "ActiveJobExists": "errors", "TooSoon": "errors"})


def install(app: Haulwright) -> Syncs:
    """Put syncs on an app: its tasks, its schedule and its source. Nothing is opened yet."""
    from haulwright.apps.syncs.application import Syncs  # noqa: PLC0415 - the spec above must stay light

    return Syncs.on(app)
