"""The poll of a workspace: one look at Airbyte for all syncs that are under way there. It lives as long as they do."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from haulwright import AuthFailed, Context, Permanent, Retryable, Snooze, Tx
from haulwright.apps.syncs import runs as books
from haulwright.apps.syncs.credentials import SHARED
from haulwright.apps.syncs.runs import Watched
from haulwright.clock import SECOND, Instant
from haulwright.engine.job import DEFAULT_TENANT
from haulwright.errors import Conflict, NotFound
from haulwright.sources.airbyte import Airbyte, SyncJob

if TYPE_CHECKING:
    from haulwright import Task
    from haulwright.application import Tables
    from haulwright.apps.syncs.airbyte_clients import AirbyteClients
    from haulwright.apps.syncs.runs import Runs
    from haulwright.client.task import Call
    from haulwright.stores.store import Store

OVERLAP_SECONDS: Final = 600.0
"""How much earlier than the last look a look begins: clocks differ, and a run may be known late."""
FAILED_FACTOR: Final = 4
"""How much longer a poll waits after Airbyte could not answer."""
CURSORS_REMEMBERED: Final = 10_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

RunStates = list[tuple[Watched, SyncJob]]


class Polls:
    """The polls of all workspaces, to be enqueued by whoever has begun something there."""

    def __init__(self, poll: Task[[str, str], Any]) -> None:
        self._poll = poll

    def of(self, credential: str, workspace_id: str, tenant: str) -> Call[Any]:
        """The poll of a workspace. With the shared credential it is nobody's own."""
        owner = DEFAULT_TENANT if credential == SHARED else tenant
        return self._poll.using(tenant=owner).call(credential, workspace_id)


class Poll:
    """The task `syncs.poll`."""

    def __init__(self, tables: Tables, runs: Runs, clients: AirbyteClients) -> None:
        self._tables = tables
        self._runs = runs
        self._clients = clients
        self._cursors: dict[tuple[str, str], Instant] = {}
        """Up to when this process has seen each workspace. Another process begins with the oldest run."""

    async def run(self, ctx: Context, credential: str, workspace_id: str) -> int | Snooze:
        """Look once, write down what ended, and wake who waits for it; done when nothing is under way."""
        watched = await asyncio.to_thread(self._runs.watched, credential, workspace_id)
        if not watched:
            return 0
        try:
            await self._look(ctx, credential, workspace_id, watched)
        except Retryable:
            # Not the poll's own failure: a budget that is spent over months would leave the syncs alone.
            return Snooze(self._clients.limits.poll_seconds * FAILED_FACTOR)
        except (AuthFailed, Permanent) as error:
            if isinstance(error, AuthFailed) and error.shared:
                raise
            await self._let_go(ctx, watched)
            return len(watched)
        return Snooze(self._clients.limits.poll_seconds)

    async def _look(self, ctx: Context, credential: str, workspace_id: str, watched: list[Watched]) -> None:
        place = (credential, workspace_id)
        began_at = await asyncio.to_thread(ctx.store.now)
        since = self._since(place, watched)
        async with self._clients.of(credential).open() as airbyte:
            states = await self._read(airbyte, workspace_id, watched, since)
            stopped = await self._stop(ctx, airbyte, [run for run in watched if not run.is_awaited])
        ended = [(run, job) for run, job in states if job.is_terminal and not run.has_ended]
        if ended or stopped:
            await ctx.acommit(f"seen:{ctx.job.fence}", self._write, ended, stopped, key=str(ctx.job.fence))
        self._remember(place, began_at)
        over = {run.job_id for run, _ in ended} | {run.job_id for run in watched if run.has_ended}
        await asyncio.to_thread(_wake, ctx.store, sorted(over), "its run has ended")

    async def _read(self, airbyte: Airbyte, workspace_id: str, watched: list[Watched], since: datetime) -> RunStates:
        """How our runs stand, as far as they changed since then."""
        ours = {run.run_id: run for run in watched}
        return [(ours[job.id], job) async for job in airbyte.ajobs([workspace_id], since=since) if job.id in ours]

    async def _stop(self, ctx: Context, airbyte: Airbyte, orphans: list[Watched]) -> RunStates:
        """Cancel the runs whose jobs were cancelled, or ended otherwise without them."""
        return [(run, await ctx.aeffect("stop", airbyte.acancel, run.run_id)) for run in orphans]

    def _write(self, tx: Tx, ended: RunStates, stopped: RunStates) -> None:
        writing = self._tables.on(tx)
        books.saw(writing, [*ended, *stopped])
        books.settle(writing, [run for run, _ in stopped])

    async def _let_go(self, ctx: Context, watched: list[Watched]) -> None:
        """Airbyte tells this credential nothing any more: each sync learns it for itself, and ends with its reason."""

        def write(tx: Tx) -> None:
            books.settle(self._tables.on(tx), [run for run in watched if not run.is_awaited])

        await ctx.acommit(f"let go:{ctx.job.fence}", write)
        waiting = [run.job_id for run in watched if run.is_awaited]
        await asyncio.to_thread(_wake, ctx.store, waiting, "its workspace cannot be polled")

    def _since(self, place: tuple[str, str], watched: list[Watched]) -> datetime:
        oldest = min(run.started_at for run in watched)
        cursor = max(self._cursors.get(place, 0), oldest)
        return _EPOCH + timedelta(seconds=cursor / SECOND - OVERLAP_SECONDS)

    def _remember(self, place: tuple[str, str], began_at: Instant) -> None:
        if len(self._cursors) >= CURSORS_REMEMBERED:
            self._cursors.clear()
        self._cursors[place] = began_at


def _wake(store: Store, job_ids: list[str], reason: str) -> None:
    """Make jobs due at once. One that runs, or has ended, needs no waking."""
    for job_id in job_ids:
        with suppress(NotFound, Conflict):
            store.jobs.retry(job_id, tenant=None, reason=reason, actor="system:syncs.poll")
