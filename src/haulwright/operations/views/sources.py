"""The JSON of a source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from typing_extensions import TypedDict

from haulwright.clock import SECOND
from haulwright.engine.durations import spell
from haulwright.engine.source import FOREVER
from haulwright.operations.times import iso
from haulwright.operations.views.columns import Column

if TYPE_CHECKING:
    from haulwright.operations.sources import SourceStatus
    from haulwright.stores.paging import Page
    from haulwright.stores.sources.limits import Traffic


class TrafficView(TypedDict, total=False):
    """What went through a source in the last hour; empty where nothing did."""

    requests: int
    failed: int
    throttled: int
    sent_bytes: int
    received_bytes: int
    busy_seconds: float


class SourceView(TypedDict):
    """A source: what it allows, how it stands, and what went through it."""

    name: str
    enabled: bool
    gate: str | None
    paused_until: str | None
    paused_by: str | None
    reason: str | None
    rate_limit_per_minute: float | None
    burst: int
    min_interval_seconds: float
    concurrency: int | None
    permits_out: int
    budget_per_day: int | None
    spent_today: int
    breaker: str
    breaker_failures: int | None
    breaker_cool_down_seconds: float
    cache_seconds: float | None
    failure_streak: int
    last_success_at: str | None
    last_failure_at: str | None
    overridden: dict[str, Any]
    overridden_by: str | None
    unreadable: str | None
    last_hour: TrafficView


class SourcesView(TypedDict):
    """A page of sources, and where the next one starts."""

    sources: list[SourceView]
    next: str | None


class SourcePausedView(TypedDict):
    """A source that was paused, and for how long; null is until it is resumed."""

    name: str
    paused: bool
    seconds: float | None


def source_view(source: SourceStatus) -> SourceView:
    """A source."""
    row = source.row
    limits, closing = row.figures, row.closing
    until = None if closing is None or closing.until >= FOREVER else closing.until
    is_paused = closing is not None and closing.gate == "paused"
    return {
        "name": row.key,
        "enabled": bool(limits.enabled),
        "gate": None if closing is None else closing.gate,
        "paused_until": iso(until),
        "paused_by": row.paused_by if is_paused else None,
        "reason": row.paused_reason if is_paused else None,
        "rate_limit_per_minute": limits.per_minute,
        "burst": limits.burst,
        "min_interval_seconds": limits.min_interval_us / SECOND,
        "concurrency": limits.concurrency,
        "permits_out": row.standing.held,
        "budget_per_day": limits.budget,
        "spent_today": row.standing.spent_on(row.standing.asked_at),
        "breaker": row.standing.breaker,
        "breaker_failures": limits.breaker_failures,
        "breaker_cool_down_seconds": limits.breaker_cool_down_us / SECOND,
        "cache_seconds": None if limits.cache_ttl_us is None else limits.cache_ttl_us / SECOND,
        "failure_streak": row.failure_streak,
        "last_success_at": iso(row.last_success_at),
        "last_failure_at": iso(row.last_failure_at),
        "overridden": row.overridden,
        "overridden_by": row.overridden_by,
        "unreadable": row.unreadable,
        "last_hour": _traffic_view(source.traffic),
    }


def sources_view(page: Page[SourceStatus]) -> SourcesView:
    """A page of sources."""
    return {"sources": [source_view(source) for source in page.rows], "next": page.next}


def source_paused_view(name: str, seconds: float | None) -> SourcePausedView:
    """A source that was paused."""
    return {"name": name, "paused": True, "seconds": seconds}


def _traffic_view(traffic: Traffic | None) -> TrafficView:
    if traffic is None:
        return {}
    return {
        "requests": traffic.requests,
        "failed": traffic.failed,
        "throttled": traffic.throttled,
        "sent_bytes": traffic.sent_bytes,
        "received_bytes": traffic.received_bytes,
        "busy_seconds": round(traffic.busy_seconds, 3),
    }


def _gate(source: SourceStatus) -> str:
    closing = source.row.closing
    if source.row.unreadable:
        return f"cannot be read by this version: {source.row.unreadable}"
    return "ok" if closing is None else f"{closing.gate} {closing.words(source.row.standing.asked_at)}"


def _rate(source: SourceStatus) -> str:
    per_minute, every = source.row.figures.per_minute, source.row.figures.min_interval_us
    return f"{per_minute:g}/min" if per_minute else f"every {spell(every / SECOND)}" if every else ""


def _permits(source: SourceStatus) -> str:
    limit = source.row.figures.concurrency
    return "" if limit is None else f"{source.row.standing.held} of {limit}"


SOURCE_COLUMNS: Final[tuple[Column[SourceStatus], ...]] = (
    Column("source", lambda source: source.row.key),
    Column("gate", _gate),
    Column("rate", _rate),
    Column("permits", _permits, optional=1),
    Column("streak", lambda source: source.row.failure_streak, optional=3),
    Column("last success", lambda source: source.row.last_success_at, moment=True, optional=2),
    Column("requests/h", lambda source: source.traffic.requests if source.traffic else 0),
    Column("failed/h", lambda source: source.traffic.failed if source.traffic else 0),
)
