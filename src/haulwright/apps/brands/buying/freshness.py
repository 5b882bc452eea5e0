"""Freshness: whether what a source said last is young enough to be used again. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from haulwright.apps.brands.rows import PaidRun
from haulwright.clock import Instant

NOTHING_YET = "No successful run exists for this source"


@dataclass(frozen=True, slots=True)
class Freshness:
    """What to do about a source, and why."""

    should_refresh: bool
    reason: str
    cached_run: PaidRun | None = None
    run_age_hours: float | None = None


def freshness(
    newest: PaidRun | None, now: Instant, fresh_seconds: float, forced_at: Instant | None = None
) -> Freshness:
    """Decide by the newest run whose items are here. Forced, only one that began since then is good enough.

    So a forced refresh buys once, however often its job is repeated, and two that are asked for together share a run.
    """
    if newest is None:
        return Freshness(True, NOTHING_YET)  # noqa: FBT003 - the fact that is asked for
    age, limit = newest.age_hours(now), fresh_seconds / 3600
    age_text = f"{age:.1f}h old, TTL={limit:g}h"
    if forced_at is not None and (newest.started_at or newest.requested_at) < forced_at:
        return Freshness(True, f"A refresh was forced (the cached run is {age_text})", newest, age)  # noqa: FBT003 - as above
    if age > limit:
        return Freshness(True, f"Cached run is stale ({age_text})", newest, age)  # noqa: FBT003 - as above
    return Freshness(False, f"Cached run is fresh ({age_text})", newest, age)  # noqa: FBT003 - as above
