"""The watch: every few minutes it looks whether documents should be reconciled, so that one worker does it for all.

A worker that starts asks for that by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from haulwright import Context, Tx
from haulwright.clock import SECOND, Instant

if TYPE_CHECKING:
    from haulwright import Task
    from haulwright.application import Tables

BURST_US: Final = 600 * SECOND
BURST_LOSSES: Final = 5
"""So many leases lost in so short a time are no accident."""


class FolderWatch:
    """The task `documents.watch`."""

    def __init__(self, tables: Tables, reconcile_task: Task[[], Any], reconcile_seconds: float) -> None:
        self._tables = tables
        self._reconcile_task = reconcile_task
        self._often_us = round(reconcile_seconds * SECOND)

    def run(self, ctx: Context) -> list[str]:
        """Ask for a reconciler where there is a reason, and return the reasons."""
        window = {"window_us": 2 * self._often_us, "burst_us": BURST_US}
        ((last, losses),) = self._tables.read("upkeep.pulse", **window)
        reasons = reasons_for(last, losses, ctx.store.now() - self._often_us)
        if reasons:
            ctx.commit("ask", self._ask)
        return reasons

    def _ask(self, tx: Tx) -> None:
        self._tables.on(tx).enqueue(self._reconcile_task.call())


def reasons_for(last: Instant | None, losses: int, since: Instant) -> list[str]:
    """Why documents should be reconciled: many leases were lost, or nobody did it since that moment."""
    reasons = {
        "leases lost": losses >= BURST_LOSSES,
        "time passed": last is None or last <= since,
    }
    return [reason for reason, holds in reasons.items() if holds]
