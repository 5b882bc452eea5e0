"""One sync of a connection: start it or adopt it, let go of the worker, and draw the conclusion when it has ended."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from haulwright import AuthFailed, Cancelled, Context, Permanent, Skip, Snooze, Throttled, Tx
from haulwright.apps.syncs import runs as books
from haulwright.apps.syncs.errors import TIMEOUT, SyncFailed, nothing_began
from haulwright.apps.syncs.runs import Started, SyncResult, SyncRun
from haulwright.clock import SECOND
from haulwright.errors import RunError
from haulwright.events import Event
from haulwright.sources.airbyte import TERMINAL, Airbyte

if TYPE_CHECKING:
    from haulwright.application import Tables
    from haulwright.apps.syncs.airbyte_clients import AirbyteClients
    from haulwright.apps.syncs.connections import Connections, SyncConnection
    from haulwright.apps.syncs.poll import Polls
    from haulwright.apps.syncs.runs import Runs

REMOTE_STARTED: Final = "job.remote_started"
LOOK_AGAIN_SECONDS: Final = 3_600.0
"""How long a sync waits for the poll that wakes it before it looks for itself."""


class Sync:
    """The task `syncs.sync`."""

    def __init__(
        self, tables: Tables, connections: Connections, runs: Runs, clients: AirbyteClients, polls: Polls
    ) -> None:
        self._tables = tables
        self._connections = connections
        self._runs = runs
        self._clients = clients
        self._polls = polls

    async def run(self, ctx: Context, connector_id: str, external_account_id: str) -> SyncResult | Snooze | Skip:
        """Take the sync one step further: begin it, look at it, or end it."""
        del external_account_id  # for the events; the connection says which it is
        tenant = ctx.job.tenant
        run = await asyncio.to_thread(self._runs.last, tenant, ctx.job.job_key)
        connection = await asyncio.to_thread(self._connections.find, tenant, connector_id)
        if run is None or run.settled_at is not None:
            if connection is None or not connection.enabled:
                return Skip(f"the connection {connector_id} is {'disabled' if connection else 'gone'}")
            return await self._begin(ctx, connection, 0 if run is None else run.round + 1)
        if run.ended_at is None:
            run = await self._look(ctx, run)
        if run.ended_at is not None:
            return await self._end(ctx, run)
        return Snooze(min(LOOK_AGAIN_SECONDS, await self._left_seconds(ctx, run)), _gate(run.run_id))

    async def _begin(self, ctx: Context, connection: SyncConnection, number: int) -> Snooze:
        """Trigger the sync through the gates, and have it polled."""
        await self._keep_apart(ctx, connection)
        async with (
            self._clients.of(connection.credential).open() as airbyte,
            self._clients.account(connection.external_account_id).aenter(),
        ):
            started = await self._trigger(ctx, airbyte, connection, number)
        await ctx.acommit(f"begun:{number}", self._write_begun, ctx, connection, number, started, key=str(number))
        wait = min(LOOK_AGAIN_SECONDS, self._clients.limits.longest_seconds)
        return Snooze(0 if started.status in TERMINAL else wait, _gate(started.run_id))

    async def _keep_apart(self, ctx: Context, connection: SyncConnection) -> None:
        """Wait where the connection was triggered a moment ago. Its one active job is the only one to ask."""
        if connection.triggered_at is None:
            return
        now = await asyncio.to_thread(ctx.store.now)
        wait_seconds = connection.triggered_at / SECOND + self._clients.limits.min_interval_seconds - now / SECOND
        if wait_seconds > 0:
            message = f"The connection {connection.connector_id} was triggered a moment ago."
            raise Throttled(message, after=wait_seconds, gate=f"spacing:{connection.connector_id}")

    async def _trigger(self, ctx: Context, airbyte: Airbyte, connection: SyncConnection, number: int) -> Started:
        """Start the sync once, whatever becomes of the request. A refusal is recorded too: nobody need look for it.

        Just before the request the newest run that is over is recorded: only a newer one can be what it began.
        """
        look = partial(ctx.aeffect, "look", _newest_id, airbyte, connection.airbyte_id, key=f"look:{number}")
        refusals: list[RunError] = []

        async def start() -> Started:
            after: int = await look(verify=lambda _: False)  # anew: what ended since the last try is not ours
            try:
                job = await airbyte.atrigger(connection.airbyte_id, after=after)
            except RunError as error:
                if not nothing_began(error):
                    raise
                refusals.append(error)
                return Started(None)
            return Started(job.id, job.status, job.adopted)

        async def recover(_: str) -> Started | None:
            job = await airbyte.afind(connection.airbyte_id, after=await look())
            return Started(job.id, job.status, adopted=True) if job else None

        started = await ctx.aeffect(
            "trigger", start, key=f"trigger:{number}", recover=recover, verify=lambda last: last.run_id is not None
        )
        if refusals:
            raise refusals[0]
        return started

    def _write_begun(self, tx: Tx, ctx: Context, connection: SyncConnection, number: int, started: Started) -> None:
        writing = self._tables.on(tx)
        books.begin(writing, ctx.job, connection, number, started)
        writing.enqueue(self._polls.of(connection.credential, connection.workspace_id, connection.tenant))
        data = {
            "job_id": ctx.job.id,
            "connector_id": connection.connector_id,
            "run_id": str(started.run_id),
            "adopted": started.adopted,
        }
        lease = ctx.job
        writing.record(
            Event(REMOTE_STARTED, lease.tenant, lease.id, lease.attempts, lease.fence, ctx.worker, data=data)
        )

    async def _look(self, ctx: Context, run: SyncRun) -> SyncRun:
        """Ask Airbyte how the run stands; one that takes too long is stopped."""
        is_overdue = await self._left_seconds(ctx, run) <= 0
        try:
            async with self._clients.of(run.credential).open() as airbyte:
                if is_overdue:
                    job = await ctx.aeffect("stop", airbyte.acancel, run.run_id)
                else:
                    job = await airbyte.ajob(run.run_id)
        except (AuthFailed, Permanent) as error:
            if not (isinstance(error, AuthFailed) and error.shared):
                await ctx.acommit(f"lost:{run.round}", self._write_settled, run, key=str(run.run_id))
            raise

        def write(tx: Tx) -> None:
            writing = self._tables.on(tx)
            books.saw(writing, [(run, job)])
            if run.job_id != ctx.job.id:
                key = {"tenant": run.tenant, "job_key": run.job_key, "round": run.round}
                writing.run("runs.hand_over", **key, job_id=ctx.job.id)
            writing.enqueue(self._polls.of(run.credential, run.workspace_id, run.tenant))

        await ctx.acommit(f"looked:{run.round}:{ctx.job.fence}", write)
        if is_overdue and not job.is_success:
            await ctx.acommit(f"late:{run.round}", self._write_settled, run, key=str(run.run_id))
            raise SyncFailed(f"Airbyte's run {run.run_id} took too long and was stopped.", TIMEOUT)
        ended_at = await asyncio.to_thread(ctx.store.now) if job.is_terminal else None
        return replace(
            run,
            status=job.status,
            records=job.records,
            bytes=job.bytes,
            duration_seconds=job.duration_seconds,
            ended_at=ended_at,
        )

    async def _left_seconds(self, ctx: Context, run: SyncRun) -> float:
        """How long the run may still take."""
        age = await asyncio.to_thread(ctx.store.now) - run.started_at
        return self._clients.limits.longest_seconds - age / SECOND

    async def _end(self, ctx: Context, run: SyncRun) -> SyncResult:
        """Settle a run that has ended, and with it the job or this attempt."""
        if run.is_success:
            return await ctx.acommit(f"synced:{run.round}", self._write_synced, run, settle=True)
        await ctx.acommit(f"ended:{run.round}", self._write_settled, run, key=str(run.run_id))
        if run.status == "cancelled":
            raise Cancelled(f"Airbyte's run {run.run_id} was cancelled there")
        raise SyncFailed(f"Airbyte's run {run.run_id} {run.status}.")

    def _write_synced(self, tx: Tx, run: SyncRun) -> SyncResult:
        writing = self._tables.on(tx)
        books.settle(writing, [run])
        writing.run("connections.synced", tenant=run.tenant, connector_id=run.connector_id)
        return run.result

    def _write_settled(self, tx: Tx, run: SyncRun) -> None:
        books.settle(self._tables.on(tx), [run])


async def _newest_id(airbyte: Airbyte, airbyte_id: str) -> int:
    """The number of the connection's newest run that is over: only what is newer can be ours."""
    newest = await airbyte.afind(airbyte_id, after=0)
    if newest is None:
        return 0
    return newest.id if newest.status in TERMINAL else newest.id - 1


def _gate(run_id: int | None) -> str:
    """What a job waits on while its run goes on at Airbyte."""
    return f"airbyte run {run_id}"
