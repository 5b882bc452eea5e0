"""The pulse of an installation: what ended in the last while, minute by minute, and how long it ran and waited.

It costs the same however much there is: of very many only the newest are read, and what is shown begins with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from haulwright.clock import SECOND, Instant

if TYPE_CHECKING:
    from haulwright.stores.store import Store

STEP_SECONDS: Final = 60
STEPS: Final = 60
MOST_COUNTED: Final = 20_000
"""So many ended jobs are counted; of more the newest, and then the first minutes are missing."""
MOST_OF_TENANT: Final = 4_000
"""Of one tenant fewer: its jobs lie apart, each in a block of its own between those of others, and PostgreSQL, asked
for many of them, reads all that the tenant ever had."""
MOST_MEASURED: Final = 1_000
OUTCOMES: Final = ("succeeded", "dead", "cancelled", "skipped")


@dataclass(frozen=True, slots=True)
class Spans:
    """How long something took: half of them at most so long, and 95 of 100."""

    median_seconds: float
    p95_seconds: float


@dataclass(frozen=True, slots=True)
class Pulse:
    """What ended, stretch by stretch."""

    since: Instant
    step_seconds: int
    stretches: Sequence[Mapping[str, int]]
    """Counts by outcome, the oldest stretch first."""
    is_cut: bool
    """More ended than were counted: what is before the first of them is not known."""
    run: Spans | None
    """Of the newest that ran; None where none did."""
    wait: Spans | None


def pulse(store: Store, tenant: str | None) -> Pulse:
    """The pulse of one tenant, or of all."""
    step = STEP_SECONDS * SECOND
    since = (store.now() // step - STEPS + 1) * step  # whole minutes, so that a bar only grows
    most = MOST_COUNTED if tenant is None else min(MOST_COUNTED, MOST_OF_TENANT)
    counts = store.metrics.endings(since, step, tenant, most)
    stretches: list[dict[str, int]] = [{} for _ in range(STEPS)]
    for count in counts:
        if 0 <= count.stretch < STEPS:
            stretches[count.stretch][count.state] = count.jobs
    is_cut = sum(count.jobs for count in counts) >= most
    spans = store.metrics.spans(since, tenant, MOST_MEASURED)
    run, wait = _spans([ran for ran, _ in spans]), _spans([waited for _, waited in spans])
    return Pulse(since, STEP_SECONDS, stretches, is_cut, run, wait)


def _spans(lengths: list[int]) -> Spans | None:
    if not lengths:
        return None
    lengths.sort()
    last = len(lengths) - 1
    return Spans(lengths[round(last * 0.5)] / SECOND, lengths[round(last * 0.95)] / SECOND)
