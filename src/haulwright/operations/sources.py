"""Sources as staff sees them: what they allow, how they stand, and the words that change them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from haulwright.engine.source import breaker_limits, budget_limit, interval_limits, rate_limits, source_limits
from haulwright.errors import Refused
from haulwright.operations.access import Noun, allowed
from haulwright.stores.paging import Page

if TYPE_CHECKING:
    from haulwright.stores.sources.limits import SourceRow, Traffic

TRAFFIC_MINUTES = 60


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """A source, and what went through it in the last hour."""

    row: SourceRow
    traffic: Traffic | None
    """None where nothing did."""


class SourceChange(TypedDict, total=False):
    """What a person may change about a source, in words. What is left out stays as it is."""

    rate: str
    burst: int
    """How many may pass at once after a quiet time; goes with a rate."""
    min_interval: str
    """At least this between two requests, and so no burst."""
    concurrency: int
    budget: str
    breaker: str
    """Such as `5 failures / 5 min`, or `none`."""
    enabled: bool


class SourceOperations(Noun):
    """Look at sources; pause, resume and change them for the whole fleet."""

    @allowed("source.read")
    def page(self, *, after: str | None = None, limit: int = 50) -> Page[SourceStatus]:
        """The sources by name, with the traffic of the last hour."""
        rows = self._store.sources.page(after=after, limit=limit)
        traffic = self._store.sources.traffic(TRAFFIC_MINUTES, [row.key for row in rows.rows])
        return Page([SourceStatus(row, traffic.get(row.key)) for row in rows.rows], rows.next)

    @allowed("source.read")
    def get(self, name: str) -> SourceStatus:
        """One source."""
        row = self._store.sources.get(name)
        return SourceStatus(row, self._store.sources.traffic(TRAFFIC_MINUTES, [name]).get(name))

    @allowed("source.pause")
    def pause(self, name: str, *, seconds: float | None = None) -> None:
        """Let no request through, for a time or until it is resumed."""
        actor, reason = self._principal.actor, self._principal.reason
        self._store.sources.pause(name, actor=actor, reason=reason, seconds=seconds)

    @allowed("source.resume")
    def resume(self, name: str) -> bool:
        """Open what a person, the breaker, a refused credential or the server closed; False where nothing was."""
        return self._store.sources.resume(name, actor=self._principal.actor, reason=self._principal.reason)

    @allowed("source.override")
    def override(self, name: str, **change: Unpack[SourceChange]) -> SourceStatus:
        """Change what a source allows. It holds over what the code says, until it is reset."""
        if not change:
            raise Refused("Nothing is said that should change.", hint="Name a figure, such as a rate of 30/min.")
        actor, reason = self._principal.actor, self._principal.reason
        self._store.sources.override(name, _limits(change), actor=actor, reason=reason)
        return self.get(name)

    @allowed("source.override")
    def reset(self, name: str) -> SourceStatus:
        """Take back what was changed: the code decides again."""
        self._store.sources.override(name, None, actor=self._principal.actor, reason=self._principal.reason)
        return self.get(name)


def _limits(change: SourceChange) -> dict[str, Any]:
    """The figures that these words stand for; what makes no sense is refused before anything is read."""
    limits: dict[str, Any] = {
        **rate_limits(change.get("rate"), change.get("burst")),
        **interval_limits(change.get("min_interval")),
    }
    if "breaker" in change:
        limits |= breaker_limits(None if change["breaker"] == "none" else change["breaker"])
    if "budget" in change:
        budget = change["budget"]
        limits["budget"] = budget_limit(int(budget) if budget.isdigit() else budget)
    if "concurrency" in change:
        limits["concurrency"] = source_limits(concurrency=change["concurrency"]).concurrency
    if "min_interval" in change:
        limits["burst"] = 1
    if "enabled" in change:
        limits["enabled"] = change["enabled"]
    return limits
