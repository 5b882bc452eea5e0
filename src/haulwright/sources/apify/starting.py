"""A paid run in the two pieces that an effect is made of: start it, and after an interruption find it again.

    order = Order(apify, "apify~instagram-post-scraper", {"username": ["acme"]}, since=first_tried_at)
    marker = ctx.key_for("start", key="start")
    run = await ctx.aeffect("start", order.astart, marker, key="start", recover=order.arecover)

The effect writes its intent before anything is sent. Whatever happens then (a lost reply, a 500 after the run began,
kill -9), the next run of the job asks `arecover` first, and adopts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from haulwright.sources.apify.client import LAG_SECONDS, STARTED_ANYWAY, Apify
from haulwright.sources.apify.runs import ActorRun, RunOptions


@dataclass(frozen=True, slots=True)
class Order:
    """One run that is wanted."""

    apify: Apify
    actor: str
    input: Mapping[str, Any]
    since: datetime
    """Before the first try: older runs are not looked at."""
    options: RunOptions = field(default_factory=RunOptions)
    marked: bool = True
    """Whether the marker may go along in the input. Without it a run is known by its input alone, so that two orders
    with the same input, begun within the same minute, may share one run."""
    patience_seconds: float = LAG_SECONDS

    async def astart(self, marker: str) -> ActorRun:
        """Start the run, once."""
        sent = marker if self.marked else None
        return await self.apify.astart(self.actor, self.input, marker=sent, options=self.options)

    async def arecover(self, key: str) -> ActorRun | None:
        """The run that an interrupted start with this marker began, or None."""
        return await self.apify.afind(
            self.actor,
            since=self.since,
            marker=key if self.marked else None,
            input=self.input,
            patience_seconds=self.patience_seconds,
        )

    async def astart_or_adopt(self, marker: str) -> ActorRun:
        """Start the run, and where the answer is lost look for it at once. For callers without a ledger."""
        try:
            return await self.astart(marker)
        except STARTED_ANYWAY:
            run = await self.arecover(marker)
            if run is None:
                raise
            return run
