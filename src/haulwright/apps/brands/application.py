"""The application: brands and their sources, kept and compiled for one tenant each."""

from __future__ import annotations

import builtins
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from haulwright import Concurrency, State
from haulwright.application import Application, verb
from haulwright.apps.brands import SPEC
from haulwright.apps.brands.buying.account import ApifyAccount
from haulwright.apps.brands.buying.connection_state import read_state
from haulwright.apps.brands.buying.freshness import Freshness
from haulwright.apps.brands.buying.purchase import RunPurchase
from haulwright.apps.brands.compile_request import CompileRequest, record_request
from haulwright.apps.brands.compile_status import status_of
from haulwright.apps.brands.evidence.item import EvidenceItem
from haulwright.apps.brands.jobs import ABORT, COMPILE, QUEUE, REFRESH, SEEK, TIDY, BrandJobs
from haulwright.apps.brands.model.account import ModelAccount
from haulwright.apps.brands.platforms.capabilities import SWITCHED_OFF
from haulwright.apps.brands.platforms.registry import Registry
from haulwright.apps.brands.records import UPDATED
from haulwright.apps.brands.removal import BRAND, SOURCE, Removal
from haulwright.apps.brands.repository import BrandRepository
from haulwright.apps.brands.retry import COMPILE_RETRY
from haulwright.apps.brands.rows import (
    Brand,
    BrandConnection,
    CompileRun,
    CompileStatus,
    Decision,
    PlannedSource,
    SnapshotComparison,
    parse_id,
)
from haulwright.apps.brands.settings import BrandSettings
from haulwright.apps.brands.snapshot.diff import diff
from haulwright.apps.brands.tasks.abort import AbortTask
from haulwright.apps.brands.tasks.compile import CompileTask
from haulwright.apps.brands.tasks.refresh import RefreshTask
from haulwright.apps.brands.tasks.seek import SeekTask
from haulwright.apps.brands.tasks.tidy import PruneResult, TidyTask
from haulwright.engine.ids import new_id
from haulwright.engine.names import check_name
from haulwright.engine.payload import check
from haulwright.errors import Conflict, NotFound, Refused
from haulwright.events import Event
from haulwright.operations.access import EVERYBODY, INSTALLATION
from haulwright.operations.principal import Role
from haulwright.settings import Settings
from haulwright.stores.paging import Page, check_page

if TYPE_CHECKING:
    from haulwright import Haulwright, Principal, Task
    from haulwright.application import Writing

ANSWERS_LIMIT_BYTES: Final = 256 * 1024


OWNERS: Final = frozenset[Role]({"tenant", "admin"})
"""Who may delete what cannot be had again."""


class Brands(Application):
    """Brands on an app. Who asks says for which tenant: what belongs to another one does not exist."""

    spec = SPEC
    verbs: ClassVar = {
        "brands.read": EVERYBODY,
        "brands.change": EVERYBODY,
        "brands.compile": EVERYBODY,
        "brands.remove": OWNERS,
        "brands.prune": INSTALLATION,
    }

    def __init__(
        self, app: Haulwright, *, registry: Registry | None = None, figures: BrandSettings | None = None
    ) -> None:
        super().__init__(app)
        settings = Settings.load()
        self.registry = registry or Registry.load(settings)
        self.figures = figures or BrandSettings.load(settings)
        self.retry = replace(COMPILE_RETRY, attempts=self.figures.attempts)
        self.repository = BrandRepository(self.tables)
        self.jobs = BrandJobs(app)
        self.account = ApifyAccount(app, settings, self.figures.request_seconds)
        self._tidy = TidyTask(self.tables, self.figures, self.jobs)
        self._declare_tasks(ModelAccount(app, settings))
        app.schedule("brands", settings["brands_cron"], self.tidy_task)

    def _declare_tasks(self, model: ModelAccount) -> None:
        """Each task with its options, given what it uses."""
        tables, repository, registry, figures = self.tables, self.repository, self.registry, self.figures
        purchase = RunPurchase(tables, figures, self.account, self.jobs)
        declare = partial(self.task, queue=QUEUE)
        self.compile_task: Task[[str], Any] = declare(
            name=COMPILE, retry=self.retry, lease=figures.lease_seconds,
            timeout=figures.lease_seconds, deadline="1 day", event_fields=("compile_run_id",),
        )(CompileTask(tables, repository, registry, figures, model, self.jobs).compile)  # fmt: skip
        self.refresh_task: Task[..., Any] = declare(
            name=REFRESH, retry=self.retry, concurrency=Concurrency(1, by="connection_id"),
            timeout="5 min", deadline="6 h", event_fields=("connection_id", "compile_run_id", "outcome"),
        )(RefreshTask(tables, repository, registry, figures, purchase).refresh)  # fmt: skip
        declare(name=ABORT, retry=COMPILE_RETRY, deadline="1 h")(AbortTask(self.account).abort)
        declare(name=SEEK, retry=COMPILE_RETRY, deadline="6 h")(SeekTask(tables, figures, self.account, self.jobs).seek)
        self.tidy_task = declare(name=TIDY, retry=3, timeout="10 min")(self._tidy.tidy)

    @verb("brands.change")
    def add(self, principal: Principal, name: str, answers: Mapping[str, Any] | None = None) -> Brand:
        """Make a brand with its onboarding answers."""
        text = check(dict(answers or {}), root="answers", limit_bytes=ANSWERS_LIMIT_BYTES)
        row = {"tenant": principal.acting_tenant, "id": new_id(), "name": check_name("name", name), "answers": text}
        return Brand.of(self.tables.write("brands.add", **row)[0])

    @verb("brands.change")
    def update(
        self,
        principal: Principal,
        brand_id: str,
        *,
        name: str | None = None,
        answers: Mapping[str, Any] | None = None,
    ) -> Brand:
        """Change the name of a brand, or some of its answers: an answer that is None goes, others stay as they are.

        The next compile works with them; snapshots that are there stay as they are.
        """
        tenant, brand_id = principal.acting_tenant, parse_id("brand", brand_id)

        def work(writing: Writing) -> Brand:
            rows = writing.run("brands.hold", tenant=tenant, id=brand_id)
            if not rows:
                raise NotFound("brand", brand_id)
            brand = Brand.of(writing.run("brands.get", tenant=tenant, id=brand_id)[0])
            merged = {key: value for key, value in {**brand.answers, **(answers or {})}.items() if value is not None}
            text = check(merged, root="answers", limit_bytes=ANSWERS_LIMIT_BYTES)
            new_name = brand.name if name is None else check_name("name", name)
            data = {"brand_id": brand_id, "name": new_name, "questions": sorted(answers or {})}
            writing.record(Event(UPDATED, tenant, actor=principal.actor, data=data))
            return Brand.of(writing.run("brands.update", tenant=tenant, id=brand_id, name=new_name, answers=text)[0])

        return self.tables.transact(work)

    @verb("brands.read")
    def get(self, principal: Principal, brand_id: str) -> Brand:
        """One brand."""
        return self.repository.brand(principal.acting_tenant, brand_id)

    @verb("brands.read")
    def list(self, principal: Principal) -> builtins.list[Brand]:
        """The brands of a tenant, the oldest first."""
        return self.repository.brands(principal.acting_tenant)

    @verb("brands.read")
    def page(self, principal: Principal, *, after: str | None = None, limit: int = 50) -> Page[Brand]:
        """The same, a page at a time."""
        return self.repository.page(principal.acting_tenant, after=after, limit=limit)

    @verb("brands.change")
    def connect(  # noqa: PLR0913, PLR0917 - what a connection consists of, each with a name
        self,
        principal: Principal,
        brand_id: str,
        platform: str,
        capability: str,
        identifier: str,
        settings: Mapping[str, Any] | None = None,
        enabled: bool = True,  # noqa: FBT001, FBT002 - as above
    ) -> BrandConnection:
        """Connect a source to a brand; what cannot be read from is refused. Saying it again changes its settings."""
        options = dict(settings or {})
        checked = self.registry.checked(platform, capability, identifier, options)
        brand = self.repository.brand(principal.acting_tenant, brand_id)
        source = {"platform": platform, "capability": capability, "identifier": checked}
        row = {**source, "settings": json.dumps(options), "enabled": enabled}
        rows = self.tables.write("connections.connect", tenant=brand.tenant, id=new_id(), brand_id=brand.id, **row)
        if not rows:
            raise Conflict(f"The source {platform}.{capability} {checked} is being removed.", hint="Try again soon.")
        return BrandConnection.of(rows[0])

    @verb("brands.read")
    def connections(self, principal: Principal, brand_id: str) -> builtins.list[BrandConnection]:
        """The sources of a brand."""
        return self.repository.connections(principal.acting_tenant, brand_id)

    @verb("brands.read")
    def connection(self, principal: Principal, connection_id: str) -> BrandConnection:
        """One source."""
        return self.repository.connection(principal.acting_tenant, connection_id)

    @verb("brands.compile")
    def compile(  # noqa: PLR0913 - what may be asked for, each with a name
        self,
        principal: Principal,
        brand_id: str,
        *,
        force_refresh: bool = False,
        prompt_version: str = "v1",
        model: str | None = None,
        request_id: str | None = None,
        run_id: str | None = None,
        connection: Any = None,
    ) -> CompileRun:
        """Ask for a compile: its row and its job in one transaction, once a request. A worker does the rest.

        `run_id` is the id that it is to have. Of the same request, the compile that was made before is returned. With a
        `connection` of the caller's driver both are part of the transaction that is open there.
        """
        tenant, brand_id = principal.acting_tenant, parse_id("brand", brand_id)
        request = CompileRequest(tenant, brand_id, force_refresh, prompt_version, model, request_id)
        self.account.require_token()
        run = self.tables.transact(
            lambda writing: record_request(writing, self.jobs, request, run_id), connection=connection
        )
        return run if connection is not None else self._with_status(run)

    @verb("brands.read")
    def plan(self, principal: Principal, brand_id: str, *, force_refresh: bool = False) -> builtins.list[PlannedSource]:
        """What a compile would buy, reuse or skip now, and why. Nothing is written."""
        connections = self.repository.connections(principal.acting_tenant, brand_id)
        return [self._plan(each, force_refresh=force_refresh) for each in connections if each.enabled]

    @verb("brands.read")
    def status(self, principal: Principal, some_id: str) -> CompileStatus:
        """How a compile stands, by its own id; or the newest one of a brand, by the brand's."""
        tenant = principal.acting_tenant
        run = self.repository.compile_run(tenant, some_id) or self.repository.newest_compile_run(tenant, some_id)
        sources = tuple(self.repository.compile_sources(run))
        return CompileStatus(self._with_status(run), sources, self._snapshot_number(run))

    @verb("brands.read")
    def snapshot(self, principal: Principal, brand_id: str, number: int | None = None) -> dict[str, Any]:
        """A snapshot of a brand by its number, or the newest; it says its number itself."""
        return self.repository.snapshot(principal.acting_tenant, brand_id, number)

    @verb("brands.read")
    def compare(
        self, principal: Principal, brand_id: str, old: int | None = None, new: int | None = None
    ) -> SnapshotComparison:
        """What changed between two snapshots: the last two, or the old one and the new one or the newest, by number."""
        tenant = principal.acting_tenant
        later = self.repository.snapshot(tenant, brand_id, new)
        if old is None and later["number"] == 1:
            hint = f"Compile it again: haulwright brand compile {brand_id}"
            raise Refused("The brand has one snapshot, and nothing to compare it with.", hint=hint)
        earlier = self.repository.snapshot(tenant, brand_id, old or later["number"] - 1)
        return SnapshotComparison(earlier["number"], later["number"], diff(earlier, later))

    @verb("brands.remove")
    def remove(self, principal: Principal, brand_id: str) -> int:
        """Take a brand out: its work is cancelled, its rows are deleted in batches, its events stay."""
        key = (principal.acting_tenant, parse_id("brand", brand_id))
        return Removal(self.tables, self.jobs, BRAND, *key).run(principal.actor)

    @verb("brands.remove")
    def disconnect(self, principal: Principal, connection_id: str) -> int:
        """Take a source out: its work is cancelled, what was found through it is deleted; snapshots and events stay."""
        key = (principal.acting_tenant, parse_id("connection", connection_id))
        return Removal(self.tables, self.jobs, SOURCE, *key).run(principal.actor)

    @verb("brands.prune")
    def prune(self, principal: Principal, *, dry_run: bool = False) -> PruneResult:
        """Remove the raw items of runs that ended long ago, of all tenants, or only say how many those are."""
        return self._tidy.prune(dry_run=dry_run, actor=principal.actor)

    @verb("brands.read")
    def compile_run(self, principal: Principal, compile_run_id: str) -> CompileRun:
        """One compile."""
        return self._compile_run(principal.acting_tenant, compile_run_id)

    @verb("brands.read")
    def evidence(self, principal: Principal, brand_id: str, connections: Iterable[str]) -> builtins.list[EvidenceItem]:
        """The newest items of these sources of a brand."""
        return self.repository.evidence(principal.acting_tenant, brand_id, connections, self.figures.evidence_items)

    @verb("brands.read")
    def list_evidence(
        self, principal: Principal, brand_id: str, *, connection_id: str | None = None, limit: int = 50
    ) -> builtins.list[EvidenceItem]:
        """The newest items of every source of a brand, or of one, at most so many of each."""
        connections = [each.id for each in self.repository.connections(principal.acting_tenant, brand_id)]
        if connection_id is not None:
            if (parsed := parse_id("connection", connection_id)) not in connections:
                raise NotFound("connection", connection_id)
            connections = [parsed]
        return self.repository.evidence(principal.acting_tenant, brand_id, connections, check_page(limit))

    @verb("brands.read")
    def freshness(self, principal: Principal, connection_id: str, *, force_refresh: bool) -> Freshness:
        """Whether a source would be bought now, and why."""
        return self._freshness(
            self.repository.connection(principal.acting_tenant, connection_id), force_refresh=force_refresh
        )

    def _compile_run(self, tenant: str, compile_run_id: str) -> CompileRun:
        run = self.repository.compile_run(tenant, compile_run_id)
        if run is None:
            raise NotFound("compile", compile_run_id)
        return self._with_status(run)

    def _freshness(self, connection: BrandConnection, *, force_refresh: bool) -> Freshness:
        state = read_state(self.tables, connection, is_forced=force_refresh)
        return state.freshness(self.figures.fresh_seconds)

    def _with_status(self, run: CompileRun) -> CompileRun:
        """A compile with the status of its job, which outlives none of it: a pruned job was over."""
        job = self.app.store.listing.find(run.job_id or "", run.tenant)
        if job is not None and job.state is State.SUCCEEDED:
            return run.with_status("succeeded")
        if job is not None:
            status = status_of(job.state, job.waiting_on)
            return run.with_status(status, job.error_message or job.reason, job.error_class)
        return run.with_status("succeeded" if run.finished_at and not run.error else "failed")

    def _snapshot_number(self, run: CompileRun) -> int | None:
        """The number of the snapshot that a compile made: the result of its job."""
        job = self.app.store.listing.find(run.job_id or "", run.tenant)
        result = json.loads(job.result) if job is not None and job.result else {}
        number: int | None = result.get("snapshot")
        return number

    def _plan(self, connection: BrandConnection, *, force_refresh: bool) -> PlannedSource:
        capability = self.registry.find(connection.platform, connection.capability)
        if capability is None:
            return PlannedSource(connection.source, "skip", f"No actor spec for {connection.source}", None, 0)
        cap = capability.cap_of(connection.settings)
        if not capability.enabled:
            return PlannedSource(connection.source, "skip", SWITCHED_OFF, None, cap)
        freshness = self._freshness(connection, force_refresh=force_refresh)
        decision: Decision = "buy" if freshness.should_refresh else "reuse"
        return PlannedSource(connection.source, decision, freshness.reason, freshness.run_age_hours, cap)
