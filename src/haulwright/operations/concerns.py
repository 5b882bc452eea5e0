"""What needs somebody now: each with a sentence, since when, and what it is about, so that a door can lead there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from haulwright.clock import SECOND, Instant
from haulwright.engine.durations import spell
from haulwright.engine.why import CLOSED
from haulwright.operations.access import VERBS
from haulwright.operations.effects import IN_DOUBT_SECONDS
from haulwright.stores.listing import JobFilter

if TYPE_CHECKING:
    from haulwright.operations.principal import Principal
    from haulwright.operations.queues import QueueStatus
    from haulwright.stores.store import Store

LATE_SECONDS: Final = 300.0
"""A job that is due for longer says that there are not enough workers."""
SHOWN: Final = 10
"""Of each kind so many are named."""
COUNTED: Final = 100
"""So many are counted where each would have to be read."""

ConcernKind = Literal["unserved", "late", "paused", "dead", "lease", "effect", "source"]


@dataclass(frozen=True, slots=True)
class Concern:
    """One thing that needs somebody."""

    kind: ConcernKind
    name: str
    """The queue, the source, or the code of an error; empty where it is about all."""
    sentence: str
    is_problem: bool = False
    """It stands still; else it should be known."""
    since: Instant | None = None
    tenant: str | None = None


def concerns(store: Store, principal: Principal, queues: Sequence[QueueStatus]) -> list[Concern]:
    """Everything of this kind that a principal may see, what stands still first."""
    can = {verb for verb in ("dead.read", "job.read", "effect.read", "source.read") if principal.kind in VERBS[verb]}
    every = [
        *_of_queues(queues, store.now()),
        *(_of_leases(store, principal) if "job.read" in can else ()),
        *(_of_effects(store, principal) if "effect.read" in can else ()),
        *(_of_sources(store) if "source.read" in can else ()),
        *(_of_dead_letters(store, principal) if "dead.read" in can else ()),
    ]
    return sorted(every, key=lambda concern: not concern.is_problem)


def _of_queues(queues: Sequence[QueueStatus], now: Instant) -> Iterator[Concern]:
    for queue in queues:
        due, oldest = _count(queue.due, "due job", more=queue.more_due), queue.oldest_due_at
        if queue.paused_at is not None:
            by = f" by {queue.paused_by}" if queue.paused_by else ""
            yield Concern("paused", queue.name, f"is paused{by}, with {due}", since=queue.paused_at)
        elif queue.due and not queue.workers:
            yield Concern("unserved", queue.name, f"has {due} and no live worker", is_problem=True, since=oldest)
        elif oldest is not None and (now - oldest) / SECOND > LATE_SECONDS:
            late = spell((now - oldest) // SECOND)
            yield Concern("late", queue.name, f"has {due}, the oldest for {late}", since=oldest)


def _of_leases(store: Store, principal: Principal) -> Iterator[Concern]:
    page = store.listing.stuck(JobFilter(tenant=principal.tenant), before=store.now(), limit=COUNTED)
    if page.jobs:
        sentence = f"{_count(len(page.jobs), 'lease', more=page.next is not None)} ran out under a silent worker"
        yield Concern("lease", "", sentence, is_problem=True, since=page.jobs[0].lease_expires_at)


def _of_effects(store: Store, principal: Principal) -> Iterator[Concern]:
    effects = store.effects.open(principal.tenant, IN_DOUBT_SECONDS, limit=COUNTED + 1)
    if effects:
        count = _count(min(len(effects), COUNTED), "effect", more=len(effects) > COUNTED)
        since = min(effect.started_at for effect in effects)
        yield Concern("effect", "", f"Nobody knows whether {count} happened", is_problem=True, since=since)


def _of_sources(store: Store) -> Iterator[Concern]:
    for row in store.sources.page(limit=COUNTED).rows:
        closing = row.closing
        if closing is not None and closing.gate != "budget":  # a day's budget that is spent is as it should be
            sentence = f"{CLOSED[closing.gate]} {closing.words(row.standing.asked_at)}"
            yield Concern("source", row.key, sentence, is_problem=closing.gate in {"breaker", "credential"})


def _of_dead_letters(store: Store, principal: Principal) -> Iterator[Concern]:
    for row in store.listing.dead_counts(principal.tenant, limit=SHOWN).rows:
        sentence = f"{_count(row.count, 'dead letter')} of {row.tenant}: {row.error_code or 'no error code'}"
        yield Concern("dead", row.error_code or "", sentence, tenant=row.tenant)


def _count(count: int, noun: str, *, more: bool = False) -> str:
    return f"{count:,}{'+' if more else ''} {noun}{'' if count == 1 and not more else 's'}"
