"""Dispatch: enqueue the syncs that are due, and those that somebody asks for; one for a connection at a time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from haulwright import Context, Tx
from haulwright.application import Writing
from haulwright.apps.syncs.errors import ActiveJobExists, TooSoon
from haulwright.clock import SECOND
from haulwright.engine.durations import spell
from haulwright.engine.job import Enqueued
from haulwright.errors import DuplicateMismatch, InvalidValue
from haulwright.stores.books import book

if TYPE_CHECKING:
    from haulwright import Haulwright, Principal, Task
    from haulwright.application import Tables
    from haulwright.apps.syncs.connections import Connections, SyncConnection
    from haulwright.apps.syncs.poll import Polls
    from haulwright.stores.connection import Connection as DatabaseConnection

PACKAGE: Final = "haulwright.apps.syncs"
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

    def __init__(
        self, app: Haulwright, tables: Tables, connections: Connections, sync: Task[[str, str], Any], polls: Polls
    ) -> None:
        self._app = app
        self._tables = tables
        self._connections = connections
        self._sync = sync
        self._polls = polls

    def run(self, ctx: Context) -> int:
        """Enqueue what is due, a page for each transaction, and return how many syncs that are."""
        ctx.commit("polls", self._watch)
        ctx.commit("prune", self._prune)
        total = 0
        for number in range(MOST_PAGES):
            count = ctx.commit(f"page:{number}", self._page)
            total += count
            if count < PAGE:
                break
        return total

    def by_hand(
        self,
        principal: Principal,
        connector_id: str,
        *,
        external_account_id: str | None = None,
        correlation_id: str | None = None,
        connection: Any = None,
    ) -> str:
        """Enqueue a sync that somebody asks for, and return its job. Only support goes below what the plan allows.

        `connection` is a connection of the caller's: the job commits or rolls back with the caller's rows.
        """
        sync_connection = self._connections.get(principal.acting_tenant, connector_id)
        self._check(sync_connection, principal, external_account_id)
        try:
            job = self._enqueue(sync_connection, correlation_id, connection)
        except DuplicateMismatch as twin:
            raise ActiveJobExists(connector_id, twin.job_id) from None
        if not job.created:
            raise ActiveJobExists(connector_id, job.id)
        return job.id

    def _enqueue(self, sync_connection: SyncConnection, correlation_id: str | None, connection: Any) -> Enqueued:
        """Write the job and when the connection is due again, together: in the caller's transaction or in our own."""
        task = self._sync.using(tenant=sync_connection.tenant, correlation_id=correlation_id)
        call = task.call(sync_connection.connector_id, sync_connection.external_account_id)
        store = self._app.store_on(connection)

        def work(on: DatabaseConnection) -> Enqueued:
            writing = Writing(on, store, partial(book, PACKAGE, on.dialect))
            (job,) = writing.enqueue(call)
            if job.created:
                key = {"tenant": sync_connection.tenant, "connector_id": sync_connection.connector_id}
                self._put_off(writing, [key])
            return job

        return store.database.transact(work)

    def _check(self, connection: SyncConnection, principal: Principal, external_account_id: str | None) -> None:
        if external_account_id not in {None, connection.external_account_id}:
            why = f"is not the account of the connection {connection.connector_id}"
            raise InvalidValue("external account", external_account_id, why)
        if not connection.enabled:
            hint = f"Enable it with: haulwright sync enable {connection.connector_id} --tenant {connection.tenant}"
            raise InvalidValue("connection", connection.connector_id, "is disabled", hint=hint)
        if principal.kind in {"support", "admin"} or connection.triggered_at is None:
            return
        plan = self._connections.plan(connection.tenant)
        wait_us = connection.triggered_at + plan.floor_us - self._app.store.now()
        if wait_us > 0:
            raise TooSoon(connection.connector_id, plan.name, spell(-(-wait_us // SECOND)))

    def _page(self, tx: Tx) -> int:
        """Enqueue some that are due."""
        writing = self._tables.on(tx)
        due = writing.run("connections.due", task=self._sync.name, limit=PAGE)
        calls = [self._sync.using(tenant=tenant).call(name, account) for tenant, name, account in due]
        if calls:
            writing.enqueue(*calls)
            self._put_off(writing, [{"tenant": row[0], "connector_id": row[1]} for row in due])
        return len(due)

    def _put_off(self, writing: Writing, keys: list[dict[str, str]]) -> None:
        """Each is due again one interval later."""
        writing.each("connections.dispatched", keys, late_us=LATE_US)

    def _watch(self, tx: Tx) -> int:
        """See to it that every workspace with runs under way is polled, whatever became of its poll."""
        writing = self._tables.on(tx)
        places = writing.run("runs.unsettled", limit=MOST_POLLS)
        for credential, workspace_id, tenant in places:
            writing.enqueue(self._polls.of(credential, workspace_id, tenant))
        return len(places)

    def _prune(self, tx: Tx) -> int:
        """Forget runs that nobody can ask for any more."""
        return len(self._tables.on(tx).run("runs.prune", age_us=KEEP_RUNS_US, limit=PRUNE_RUNS))
