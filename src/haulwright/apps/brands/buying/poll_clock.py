"""How long a run has taken: by the clock of its vendor where that is heard, else by the waits of ours. Pure.

Our own wall clock decides nothing by itself: one that is set forward would end healthy runs, one that is set back would
let others go on for ever. A wait counts for what it was meant to be, and a little more where the worker came late.
"""

from __future__ import annotations

from typing import Final

from haulwright.apps.brands.rows import PaidRun
from haulwright.clock import SECOND, Instant
from haulwright.sources.apify import ActorRun

LATE_US: Final = 30 * SECOND
"""By how much a wait may be longer than it was meant to be; more than that is a clock that was set."""


def elapsed_us(run: PaidRun, now: Instant, actor_run: ActorRun | None) -> int:
    """How long a run has taken by now; `actor_run` is how it was seen, None where nobody answered."""
    if actor_run is not None and actor_run.age_seconds is not None:
        return round(actor_run.age_seconds * SECOND)
    waited_us = now - (run.polled_at or run.started_at or run.requested_at)
    return run.elapsed_us + min(max(waited_us, 0), run.wait_us + LATE_US)
