"""Dispatch: enqueue the syncs that are due, and those that somebody asks for; one for a connection at a time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from penstock.apps.syncs.errors import ActiveJobExists, TooSoon
from penstock.apps.tables import Writing
from penstock.client.context import Context
from penstock.client.transaction import Tx
from penstock.clock import SECOND
from penstock.engine.job import Enqueued
from penstock.engine.words import spell
from penstock.errors import DuplicateMismatch, Forbidden, InvalidValue
from penstock.stores.books import book

if TYPE_CHECKING:
    from penstock.apps.syncs.application import Syncs
    from penstock.apps.syncs.connections import Connection
    from penstock.client.principal import Principal
    from penstock.stores.connection import Connection as DatabaseConnection

PACKAGE: Final = "penstock.apps.syncs"
PAGE: Final = 200
MOST_PAGES: Final = 250
"""At most so many connections are dispatched by one slot; the next one goes on."""
MOST_POLLS: Final = 1_000
LATE_US: Final = 120 * SECOND
"""A dispatch that is no later than this does not move the ones after it."""
KEEP_RUNS_US: Final = 90 * 86_400 * SECOND
"""How long a run is remembered after it was settled: as long as a dead letter that may be requeued."""
PRUNE_RUNS: Final = 500


class Dispatch:
    """The task `syncs.dispatch`, and the door for people."""

    def __init__(self, syncs: Syncs) -> None:
        self._syncs = syncs

    def run(self, ctx: Context) -> int:
        """Enqueue what is due, a page for each transaction, and return how many syncs that are."""
        ctx.commit("polls", self._watch)
        ctx.commit("prune", self._prune)
        dispatched = 0
        for number in range(MOST_PAGES):
            count = ctx.commit(f"page:{number}", self._page)
            dispatched += count
            if count < PAGE:
                break
        return dispatched

    def by_hand(
        self,
        connector_id: str,
        principal: Principal,
        *,
        external_account_id: str | None = None,
        correlation_id: str | None = None,
        connection: Any = None,
    ) -> str:
        """Enqueue a sync that somebody asks for, and return its job. Only support goes below what the plan allows.

        `connection` is a connection of the caller's: the job commits or rolls back with the caller's rows.
        """
        if principal.tenant is None:
            raise Forbidden("A sync is dispatched for one tenant.", hint="Act as that tenant, or as support for it.")
        found = self._syncs.connections.get(principal.tenant, connector_id)
        self._check(found, principal, external_account_id)
        try:
            made = self._enqueue(found, correlation_id, connection)
        except DuplicateMismatch as twin:
            raise ActiveJobExists(connector_id, twin.job_id) from None
        if not made.created:
            raise ActiveJobExists(connector_id, made.id)
        return made.id

    def _enqueue(self, found: Connection, correlation_id: str | None, connection: Any) -> Enqueued:
        """Write the job and when the connection is due again, together: in the caller's transaction or in our own."""
        task = self._syncs.sync_task.using(tenant=found.tenant, correlation_id=correlation_id)
        call = task.call(found.connector_id, found.external_account_id)
        store = self._syncs.app.store_on(connection)

        def work(on: DatabaseConnection) -> Enqueued:
            writing = Writing(on, store, partial(book, PACKAGE, on.dialect))
            (made,) = writing.enqueue(call)
            if made.created:
                self._put_off(writing, [{"tenant": found.tenant, "connector_id": found.connector_id}])
            return made

        return store.database.transact(work)

    def _check(self, found: Connection, principal: Principal, external_account_id: str | None) -> None:
        if external_account_id not in {None, found.external_account_id}:
            why = f"is not the account of the connection {found.connector_id}"
            raise InvalidValue("external account", external_account_id, why)
        if not found.enabled:
            hint = f"Enable it with: penstock sync enable {found.connector_id} --tenant {found.tenant}"
            raise InvalidValue("connection", found.connector_id, "is disabled", hint=hint)
        if principal.kind in {"support", "admin"} or found.triggered_at is None:
            return
        plan = self._syncs.connections.plan(found.tenant)
        left = found.triggered_at + plan.floor_us - self._syncs.app.store.now()
        if left > 0:
            raise TooSoon(found.connector_id, plan.name, spell(-(-left // SECOND)))

    def _page(self, tx: Tx) -> int:
        """Enqueue some that are due."""
        writing = self._syncs.tables.on(tx)
        due = writing.run("connections.due", task=self._syncs.sync_task.name, limit=PAGE)
        calls = [self._syncs.sync_task.using(tenant=tenant).call(name, account) for tenant, name, account in due]
        if calls:
            writing.enqueue(*calls)
            self._put_off(writing, [{"tenant": row[0], "connector_id": row[1]} for row in due])
        return len(due)

    def _put_off(self, writing: Writing, named: list[dict[str, str]]) -> None:
        """Each is due again one interval later."""
        writing.each("connections.dispatched", named, late_us=LATE_US)

    def _watch(self, tx: Tx) -> int:
        """See to it that every workspace with runs under way is polled, whatever became of its poll."""
        writing = self._syncs.tables.on(tx)
        places = writing.run("runs.unsettled", limit=MOST_POLLS)
        for credential, workspace_id, tenant in places:
            writing.enqueue(self._syncs.poll_of(credential, workspace_id, tenant))
        return len(places)

    def _prune(self, tx: Tx) -> int:
        """Forget runs that nobody can ask for any more."""
        return len(self._syncs.tables.on(tx).run("runs.prune", age_us=KEEP_RUNS_US, limit=PRUNE_RUNS))
