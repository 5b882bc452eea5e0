"""Prices on an app: its task, its gates, and the doors for people and programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from haulwright.application import Application, verb
from haulwright.apps.prices import SPEC
from haulwright.apps.prices.collect import Collect
from haulwright.apps.prices.intakes import Intake, Intakes, NewIntake
from haulwright.apps.prices.jobs import ScrapeJobs
from haulwright.apps.prices.points import MOST_CURRENT, MOST_QUARANTINED, Point, Points
from haulwright.apps.prices.query import checked_query
from haulwright.apps.prices.settings import PriceSettings
from haulwright.apps.prices.sources import PriceSource, PriceSources
from haulwright.apps.prices.valuation import Valuation
from haulwright.apps.prices.valuations import MOST_VERSIONS, Valuations, Valued
from haulwright.apps.prices.views import PriceSourceView
from haulwright.engine.job import Enqueued
from haulwright.errors import DuplicateMismatch, Refused
from haulwright.operations.access import EVERYBODY
from haulwright.stores.paging import Page

if TYPE_CHECKING:
    from haulwright import Haulwright, Principal
    from haulwright.application import Writing
    from haulwright.client.task import Call

QUEUE: Final = "prices"
FACTS: Final = ("intake_id", "source_id", "points", "changed", "quarantined")
JOBS_AT_ONCE: Final = 500


class Prices(Application):
    """What intakes are worth. Who asks says for which tenant: what belongs to another does not exist."""

    spec = SPEC
    verbs: ClassVar = {"prices.read": EVERYBODY, "prices.change": EVERYBODY, "prices.collect": EVERYBODY}

    def __init__(self, app: Haulwright, *, private_hosts: str | None = None) -> None:
        super().__init__(app)
        settings = PriceSettings.load()
        allowed = settings.private_hosts if private_hosts is None else private_hosts
        self.intakes = Intakes(self.tables)
        self.sources = PriceSources(app, self.tables, allowed)
        self.points = Points(self.tables)
        self.valuations = Valuations(self.tables)
        self.jobs = ScrapeJobs(self.tables)
        self.collect_task = app.task(
            name="prices.collect",
            queue=QUEUE,
            source=lambda args: str(args["source_id"]),
            unique=("intake_id", "source_id"),
            retry=settings.retry,
            lease=settings.lease_seconds,
            timeout="10 min",
            event_fields=FACTS,
            audit=True,
        )(Collect(self.tables, self.intakes, self.sources).run)

    @verb("prices.change")
    def add_intake(self, principal: Principal, new: NewIntake) -> Intake:
        """Have something valued from now on. What cannot be looked for is refused before anything is written."""
        return self.intakes.add(principal.acting_tenant, new, actor=principal.actor)

    @verb("prices.change")
    def put_source(self, principal: Principal, name: str, rules: Mapping[str, Any]) -> PriceSource:
        """Configure a source, or give it other rules. What cannot be gone by is refused before anything is written."""
        return self.sources.put(principal.acting_tenant, name, rules, actor=principal.actor)

    @verb("prices.change")
    def enable_source(self, principal: Principal, name: str, *, enabled: bool) -> PriceSource:
        """Collect from a source, or leave it alone until it is enabled again; jobs of it wait meanwhile."""
        return self.sources.enable(principal.acting_tenant, name, enabled=enabled, actor=principal.actor)

    @verb("prices.collect")
    def collect(
        self,
        principal: Principal,
        intake_id: str,
        *,
        sources: Iterable[str] | None = None,
        query_params: Mapping[str, str] | None = None,
    ) -> list[Enqueued]:
        """Enqueue one job for each source, of those named or of all that are enabled; one that is active stands."""
        tenant = principal.acting_tenant
        query_params = checked_query(query_params or {})
        intake, price_sources = self.intakes.get(tenant, intake_id), self._sources_named(tenant, sources)
        return self._enqueue([self._call(intake, source, query_params) for source in price_sources])

    @verb("prices.collect")
    def collect_all(self, principal: Principal, *, sources: Iterable[str] | None = None) -> int:
        """Enqueue the same for every intake of a tenant, and return how many new jobs that made; those active stand."""
        tenant, created = principal.acting_tenant, 0
        price_sources = self._sources_named(tenant, sources)
        calls: list[Call[Any]] = []
        for intake in self.intakes.all(tenant):
            calls += [self._call(intake, source, None) for source in price_sources]
            if len(calls) >= JOBS_AT_ONCE:
                created += sum(job.created for job in self._enqueue_or_stand(calls))
                calls.clear()
        return created + sum(job.created for job in self._enqueue_or_stand(calls))

    @verb("prices.read")
    def list_intakes(self, principal: Principal, limit: int) -> list[tuple[Intake, Valued | None]]:
        """The intakes of a tenant, or of all, each with what it is worth."""
        return self.valuations.of_intakes(principal.tenant, limit)

    @verb("prices.read")
    def page_intakes(
        self, principal: Principal, *, after: str | None = None, limit: int = 50
    ) -> Page[tuple[Intake, Valued | None]]:
        """The same, a page at a time."""
        return self.valuations.page(principal.tenant, after=after, limit=limit)

    @verb("prices.read")
    def get_intake(self, principal: Principal, intake_id: str) -> Intake:
        """One intake. That of another tenant looks exactly like an absent one."""
        return self.intakes.get(principal.acting_tenant, intake_id)

    @verb("prices.read")
    def find_intake(self, principal: Principal, intake_id: str) -> Intake | None:
        """One intake, or None."""
        return self.intakes.find(principal.acting_tenant, intake_id)

    @verb("prices.read")
    def get_source(self, principal: Principal, name: str) -> PriceSource:
        """One source, by its name or its id."""
        return self.sources.get(principal.acting_tenant, name)

    @verb("prices.read")
    def list_sources(self, principal: Principal) -> list[PriceSourceView]:
        """How the sources of a tenant, or of all, stand, in the words of the document."""
        return self.sources.health(principal.tenant)

    @verb("prices.read")
    def list_points(self, principal: Principal, intake_id: str, limit: int = MOST_CURRENT) -> list[Point]:
        """The price points that count, the newest first."""
        return self.points.current(principal.acting_tenant, intake_id, limit)

    @verb("prices.read")
    def list_history(self, principal: Principal, intake_id: str, most: int | None = None) -> list[Point]:
        """All price points, the newest first; of more than `most`, so many of them."""
        return self.points.history(principal.acting_tenant, intake_id, most)

    @verb("prices.read")
    def page_history(
        self, principal: Principal, intake_id: str, *, after: str | None = None, limit: int = 50
    ) -> Page[Point]:
        """All price points of an intake, a page at a time."""
        intake = self.intakes.get(principal.acting_tenant, intake_id)
        return self.points.page(intake.tenant, intake.intake_id, after=after, limit=limit)

    @verb("prices.read")
    def list_quarantined(
        self, principal: Principal, intake_id: str, limit: int = MOST_QUARANTINED
    ) -> list[dict[str, Any]]:
        """Items of listings that could not be used, with their reasons."""
        return self.points.quarantined(principal.acting_tenant, intake_id, limit)

    @verb("prices.read")
    def find_valuation(self, principal: Principal, intake_id: str) -> Valued | None:
        """What an intake is worth, or None."""
        return self.valuations.find(principal.acting_tenant, intake_id)

    @verb("prices.read")
    def list_valuations(self, principal: Principal, intake_id: str, limit: int = MOST_VERSIONS) -> list[Valued]:
        """What it was worth, version by version."""
        return self.valuations.versions(principal.acting_tenant, intake_id, limit)

    @verb("prices.read")
    def value_anew(self, principal: Principal, intake_id: str) -> Valuation:
        """What its points give from scratch. Nothing is written."""
        return self.valuations.recompute(self.intakes.get(principal.acting_tenant, intake_id))

    @verb("prices.read")
    def list_jobs(self, principal: Principal, intake_id: str | None = None) -> list[dict[str, Any]]:
        """The newest collections, in the words of the document."""
        return self.jobs.latest(principal.acting_tenant, intake_id)

    @verb("prices.read")
    def get_job(self, principal: Principal, job_id: str) -> dict[str, Any]:
        """One collection, in the words of the document."""
        return self.jobs.get(principal.acting_tenant, job_id)

    def _sources_named(self, tenant: str, names: Iterable[str] | None) -> list[PriceSource]:
        """The sources to collect from. One that was named and is disabled is refused, not passed over."""
        if names is None:
            price_sources = [source for source in self.sources.all(tenant) if source.enabled]
        else:
            price_sources = [self.sources.get(tenant, name) for name in names]
        for source in price_sources:
            if not source.enabled:
                hint = f"Enable it with: haulwright price source {source.name} --tenant {tenant} --on"
                raise Refused(f"The source {source.name} is disabled.", hint=hint)
        if not price_sources:
            hint = f"Configure one with: haulwright price source NAME --tenant {tenant} --rules FILE"
            raise Refused(f"There is no source that {tenant} could collect from.", hint=hint)
        return price_sources

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
        (job,) = writing.enqueue(call)
    except DuplicateMismatch as active:  # only looked up: the transaction goes on
        return Enqueued(active.job_id, created=False)
    return job
