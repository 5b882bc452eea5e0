"""The application: brands and their sources, kept and compiled for one tenant each."""

from __future__ import annotations

import builtins
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from penstock.apps.application import Application
from penstock.apps.brands.account import Account
from penstock.apps.brands.asking import CompileAsk, ask
from penstock.apps.brands.compilers import Compiler
from penstock.apps.brands.compiling import MOST_CONNECTIONS, Compiling
from penstock.apps.brands.evidence import EvidenceItem
from penstock.apps.brands.figures import Figures
from penstock.apps.brands.freshness import Freshness
from penstock.apps.brands.model_account import SOURCE as MODEL_SOURCE
from penstock.apps.brands.model_account import model_compiler
from penstock.apps.brands.refreshing import SWITCHED_OFF, Refreshing
from penstock.apps.brands.registry import Registry
from penstock.apps.brands.removing import remove
from penstock.apps.brands.rows import (
    Brand,
    CompileRun,
    CompileSource,
    CompileStatus,
    Connection,
    Decision,
    PaidRun,
    Planned,
    evidence_of,
    known_id,
)
from penstock.apps.brands.seeking import Seeking
from penstock.apps.brands.states import status_of
from penstock.apps.brands.upkeep import Upkeep
from penstock.client.task import Task
from penstock.engine.ids import new_id
from penstock.engine.payload import check
from penstock.engine.retry import BRANDS
from penstock.engine.task import Concurrency, check_name
from penstock.engine.transitions import State
from penstock.errors import NotFound, RunError
from penstock.settings import Settings
from penstock.sources.http.last_out import LastOut

if TYPE_CHECKING:
    from penstock.client.app import Penstock
    from penstock.stores.connection import Row

QUEUE: Final = "brands"
ANSWERS_LIMIT_BYTES: Final = 256 * 1024
MOST_BRANDS: Final = 10_000
"""That a list shows."""


class Brands(Application):
    """Brands on an app. Every call names the tenant: what belongs to another one does not exist."""

    name = "brands"

    def __init__(self, app: Penstock, *, registry: Registry | None = None, figures: Figures | None = None) -> None:
        super().__init__(app)
        settings = Settings.load()
        self.registry = registry or Registry.load(settings)
        self.figures = figures or Figures.load(settings)
        self.retry = replace(BRANDS, attempts=self.figures.attempts)
        self.account = Account(app, settings, self.figures.request_seconds)
        self._through_model = model_compiler(app, settings)
        if self._through_model is not None:
            self._model_doors = LastOut(app.sources[MODEL_SOURCE].http)
        self._refreshing = Refreshing(self)
        self.compile_task: Task[[str], Any] = app.task(
            name="brands.compile", queue=QUEUE, retry=self.retry, lease=self.figures.lease_seconds,
            timeout=self.figures.lease_seconds, deadline="1 day", facts=("compile_run_id",),
        )(Compiling(self).compile)  # fmt: skip
        self.refresh: Task[..., Any] = app.task(
            name="brands.refresh", queue=QUEUE, retry=self.retry, concurrency=Concurrency(1, by="connection_id"),
            timeout="5 min", deadline="6 h", facts=("connection_id", "compile_run_id", "outcome"),
        )(self._refreshing.refresh)  # fmt: skip
        self.abort: Task[[str], Any] = app.task(name="brands.abort", queue=QUEUE, retry=BRANDS, deadline="1 h")(
            self._abort
        )
        self.seek: Task[[PaidRun], Any] = app.task(name="brands.seek", queue=QUEUE, retry=BRANDS, deadline="6 h")(
            Seeking(self).seek
        )
        self.upkeep = Upkeep(self)
        self.tidy_task = app.task(name="brands.tidy", queue=QUEUE, retry=3, timeout="10 min")(self.upkeep.tidy)
        app.schedule("brands", settings["brands_cron"], self.tidy_task)

    def add(self, tenant: str, name: str, answers: Mapping[str, Any] | None = None) -> Brand:
        """Make a brand with its onboarding answers."""
        check_name("tenant", tenant)
        text = check(dict(answers or {}), root="answers", limit_bytes=ANSWERS_LIMIT_BYTES)
        named = {"tenant": tenant, "id": new_id(), "name": check_name("name", name), "answers": text}
        return Brand.of(self.tables.write("brands.add", **named)[0])

    def get(self, tenant: str, brand_id: str) -> Brand:
        """One brand."""
        found = self.tables.read("brands.get", tenant=tenant, id=known_id("brand", brand_id))
        if not found:
            raise NotFound("brand", brand_id)
        return Brand.of(found[0])

    def list(self, tenant: str) -> builtins.list[Brand]:
        """The brands of a tenant, the oldest first."""
        return [Brand.of(row) for row in self.tables.read("brands.list", tenant=tenant, limit=MOST_BRANDS)]

    def connect(  # noqa: PLR0913, PLR0917 - what a connection consists of, each with a name
        self,
        tenant: str,
        brand_id: str,
        platform: str,
        capability: str,
        identifier: str,
        settings: Mapping[str, Any] | None = None,
        enabled: bool = True,  # noqa: FBT001, FBT002 - as above
    ) -> Connection:
        """Connect a source to a brand; what cannot be read from is refused. Saying it again changes its settings."""
        said = dict(settings or {})
        checked = self.registry.checked(platform, capability, identifier, said)
        brand = self.get(tenant, brand_id)
        row = {"platform": platform, "capability": capability, "identifier": checked, "settings": json.dumps(said)}
        made = self.tables.write(
            "connections.connect", tenant=tenant, id=new_id(), brand_id=brand.id, enabled=enabled, **row
        )
        return Connection.of(made[0])

    def connections(self, tenant: str, brand_id: str) -> builtins.list[Connection]:
        """The sources of a brand."""
        brand = self.get(tenant, brand_id)
        rows = self.tables.read("connections.of_brand", tenant=tenant, brand_id=brand.id, limit=MOST_CONNECTIONS)
        return [Connection.of(row) for row in rows]

    def connection(self, tenant: str, connection_id: str) -> Connection:
        """One source."""
        found = self.tables.read("connections.get", tenant=tenant, id=known_id("connection", connection_id))
        if not found:
            raise NotFound("connection", connection_id)
        return Connection.of(found[0])

    def compile(  # noqa: PLR0913 - what may be asked for, each with a name
        self,
        tenant: str,
        brand_id: str,
        *,
        force_refresh: bool = False,
        prompt_version: str = "v1",
        model: str | None = None,
        request_id: str | None = None,
    ) -> CompileRun:
        """Ask for a compile: its row and its job in one transaction, once a request. A worker does the rest."""
        asked = CompileAsk(tenant, known_id("brand", brand_id), force_refresh, prompt_version, model, request_id)
        self.account.require_token()
        return ask(self, asked)

    def plan(self, tenant: str, brand_id: str, *, force_refresh: bool = False) -> builtins.list[Planned]:
        """What a compile would buy, reuse or skip now, and why. Nothing is written."""
        wanted = [one for one in self.connections(tenant, brand_id) if one.enabled]
        return [self._planned(connection, force_refresh=force_refresh) for connection in wanted]

    def status(self, tenant: str, some_id: str) -> CompileStatus:
        """How a compile stands, by its own id; or the newest one of a brand, by the brand's."""
        run = self.find_compile(tenant, known_id("compile", some_id)) or self._newest_compile(tenant, some_id)
        rows = self.tables.read("sources.of_compile", tenant=tenant, compile_run_id=run.id)
        return CompileStatus(run, tuple(CompileSource.of(row) for row in rows))

    def snapshot(self, tenant: str, brand_id: str, number: int | None = None) -> dict[str, Any]:
        """A snapshot of a brand by its number, or the newest; it says its number itself."""
        named = {"tenant": tenant, "brand_id": self.get(tenant, brand_id).id}
        found = (
            self.tables.read("snapshots.newest", **named)
            if number is None
            else self.tables.read("snapshots.get", **named, number=number)
        )
        if not found:
            raise NotFound("snapshot", f"{'yet' if number is None else number} of brand {brand_id}")
        ((said, document),) = found
        return {"number": said, **json.loads(document)}

    def remove(self, tenant: str, brand_id: str) -> int:
        """Take a brand out: its work is cancelled, its rows are deleted in batches, its events stay."""
        return remove(self, tenant, known_id("brand", brand_id))

    def compile_run(self, tenant: str, compile_run_id: str) -> CompileRun:
        """One compile."""
        found = self.find_compile(tenant, known_id("compile", compile_run_id))
        if found is None:
            raise NotFound("compile", compile_run_id)
        return found

    def find_compile(self, tenant: str, compile_run_id: str) -> CompileRun | None:
        """One compile, or None."""
        rows = self.tables.read("compiles.get", tenant=tenant, id=compile_run_id)
        return self._with_status(rows[0]) if rows else None

    def evidence(self, tenant: str, brand_id: str, connections: Iterable[str]) -> builtins.list[EvidenceItem]:
        """The newest items of these sources of a brand."""
        named = {"tenant": tenant, "brand_id": known_id("brand", brand_id), "limit": self.figures.evidence_items}
        rows = (self.tables.read("evidence.of_connection", **named, connection_id=one) for one in connections)
        return [evidence_of(row) for found in rows for row in found]

    def freshness(self, tenant: str, connection_id: str, *, force_refresh: bool) -> Freshness:
        """Whether a source would be bought now, and why."""
        visit = self._refreshing.visit(tenant, known_id("connection", connection_id), None, forced=force_refresh)
        if visit is None:
            raise NotFound("connection", connection_id)
        return self._refreshing.decide(visit)

    @asynccontextmanager
    async def drafting(self) -> AsyncIterator[Compiler | None]:
        """The compiler that calls a model, where there is one, for as long as it is entered."""
        if self._through_model is None:
            yield None
            return
        async with self._model_doors.enter():
            yield self._through_model

    def _newest_compile(self, tenant: str, brand_id: str) -> CompileRun:
        rows = self.tables.read("compiles.newest", tenant=tenant, brand_id=self.get(tenant, brand_id).id)
        if not rows:
            raise NotFound("compile", f"of brand {brand_id} yet")
        return self._with_status(rows[0])

    def _with_status(self, row: Row) -> CompileRun:
        """A compile with the status of its job, which outlives none of it: a pruned job was over."""
        run = CompileRun.of(row)
        job = self.app.store.listing.find(run.job_id or "", run.tenant)
        if job is not None and job.state is State.SUCCEEDED:
            return run.standing("succeeded")
        if job is not None:
            return run.standing(status_of(job.state, job.waiting_on), job.error_message or job.reason, job.error_class)
        return run.standing("succeeded" if run.finished_at and not run.error else "failed")

    def _planned(self, connection: Connection, *, force_refresh: bool) -> Planned:
        known = self.registry.find(connection.platform, connection.capability)
        if known is None:
            return Planned(connection.source, "skip", f"No actor spec for {connection.source}", None, 0)
        cap = known.cap_of(connection.settings)
        if not known.enabled:
            return Planned(connection.source, "skip", SWITCHED_OFF, None, cap)
        decided = self.freshness(connection.tenant, connection.id, force_refresh=force_refresh)
        decision: Decision = "buy" if decided.should_refresh else "reuse"
        return Planned(connection.source, decision, decided.reason, decided.run_age_hours, cap)

    async def _abort(self, apify_run_id: str) -> str:
        """Stop a run that nobody waits for any more, so that it costs no more."""
        async with self.account.open() as apify:
            try:
                return (await apify.aabort(apify_run_id)).status
            except RunError as error:
                if getattr(error, "status_code", None) == 404:  # noqa: PLR2004 - it is gone, as was wanted
                    return "GONE"
                raise
