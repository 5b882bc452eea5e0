"""Prices on an app: its task, its gates, and the doors for people and programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from penstock.apps.application import Application
from penstock.apps.prices.collect import Collect
from penstock.apps.prices.intakes import Intake, Intakes
from penstock.apps.prices.jobs import ScrapeJobs
from penstock.apps.prices.points import Points
from penstock.apps.prices.sources import PriceSource, Sources
from penstock.apps.prices.valuations import Valuations
from penstock.engine.job import Enqueued
from penstock.engine.retry import PRICES
from penstock.errors import DuplicateMismatch, Refused
from penstock.settings import Settings

if TYPE_CHECKING:
    from penstock.apps.tables import Writing
    from penstock.client.app import Penstock
    from penstock.client.task import Call

QUEUE: Final = "prices"
FACTS: Final = ("intake_id", "source_id", "points", "changed", "quarantined")
JOBS_AT_ONCE: Final = 500


class Prices(Application):
    """What intakes are worth: intakes, sources, price points and valuations."""

    name: ClassVar[str] = "prices"

    def __init__(self, app: Penstock, *, private_hosts: str | None = None) -> None:
        super().__init__(app)
        settings = Settings.load()
        allowed = str(settings["prices_private_hosts"]) if private_hosts is None else private_hosts
        self.intakes = Intakes(self.tables)
        self.sources = Sources(app, self.tables, allowed)
        self.points = Points(self.tables)
        self.valuations = Valuations(self.tables)
        self.jobs = ScrapeJobs(self.tables)
        self.collect_task = app.task(
            name="prices.collect",
            queue=QUEUE,
            source=lambda args: str(args["source_id"]),
            unique=("intake_id", "source_id"),
            retry=PRICES,
            lease=float(settings["prices_lease_seconds"]),
            timeout="10 min",
            facts=FACTS,
        )(Collect(self).run)

    def collect(
        self,
        tenant: str,
        intake_id: str,
        *,
        sources: Iterable[str] | None = None,
        query_params: Mapping[str, str] | None = None,
    ) -> list[Enqueued]:
        """Enqueue one job for each source, of those named or of all that are enabled; one that is active stands."""
        intake, chosen = self.intakes.get(tenant, intake_id), self._chosen(tenant, sources)
        return self._enqueue([self._call(intake, source, query_params) for source in chosen])

    def collect_all(self, tenant: str, *, sources: Iterable[str] | None = None) -> int:
        """Enqueue the same for every intake of a tenant, and return how many new jobs that made; those active stand."""
        chosen, made = self._chosen(tenant, sources), 0
        calls: list[Call[Any]] = []
        for intake in self.intakes.all(tenant):
            calls += [self._call(intake, source, None) for source in chosen]
            if len(calls) >= JOBS_AT_ONCE:
                made += sum(one.created for one in self._enqueue_or_stand(calls))
                calls.clear()
        return made + sum(one.created for one in self._enqueue_or_stand(calls))

    def _chosen(self, tenant: str, names: Iterable[str] | None) -> list[PriceSource]:
        """The sources to collect from. One that was named and is disabled is refused, not passed over."""
        if names is None:
            chosen = [source for source in self.sources.all(tenant) if source.enabled]
        else:
            chosen = [self.sources.get(tenant, name) for name in names]
        for source in chosen:
            if not source.enabled:
                hint = f"Enable it with: penstock price source {source.name} --tenant {tenant} --on"
                raise Refused(f"The source {source.name} is disabled.", hint=hint)
        if not chosen:
            hint = f"Configure one with: penstock price source NAME --tenant {tenant} --rules FILE"
            raise Refused(f"There is no source that {tenant} could collect from.", hint=hint)
        return chosen

    def _call(self, intake: Intake, source: PriceSource, query_params: Mapping[str, str] | None) -> Call[Any]:
        bound = self.collect_task.using(tenant=intake.tenant)
        return bound.call(intake.intake_id, source.source_id, dict(query_params or {}))

    def _enqueue(self, calls: list[Call[Any]]) -> list[Enqueued]:
        return self.tables.transact(lambda writing: writing.enqueue(*calls)) if calls else []

    def _enqueue_or_stand(self, calls: list[Call[Any]]) -> list[Enqueued]:
        """Enqueue jobs; one that is active with another query stands too, and keeps nobody else waiting."""
        try:
            return self._enqueue(calls)
        except DuplicateMismatch:
            return self.tables.transact(lambda writing: [_stands(writing, call) for call in calls])


def _stands(writing: Writing, call: Call[Any]) -> Enqueued:
    try:
        (made,) = writing.enqueue(call)
    except DuplicateMismatch as active:  # only looked up: the transaction goes on
        return Enqueued(active.job_id, created=False)
    return made
