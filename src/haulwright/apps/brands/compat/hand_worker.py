"""Jobs that are run by hand: claimed, run and settled here, each under its own lease, while the caller waits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from haulwright import Handle, JobOutcome, Snooze
from haulwright.apps.brands.jobs import QUEUE
from haulwright.client.context import Context
from haulwright.client.ledger_calls import CommitCall
from haulwright.client.steps import Steps, awalk
from haulwright.clock import SECOND
from haulwright.engine.durations import TEN_YEARS_SECONDS
from haulwright.engine.transitions import FINAL
from haulwright.runtime.execution import Run, run_async
from haulwright.runtime.identity import is_gone, this_process
from haulwright.runtime.observers import Observers
from haulwright.runtime.settler import settlement_of

if TYPE_CHECKING:
    from datetime import datetime

    from haulwright import Haulwright
    from haulwright.engine.job import Lease, LeaseKey
    from haulwright.stores.recovery import Reaped
    from haulwright.stores.workers import Identity

LONGEST_NAP_SECONDS: Final = 1.0
SHORTEST_NAP_SECONDS: Final = 0.02
SWEEP_JOBS: Final = 100
RENEWAL_SECONDS: Final = 5.0
"""Between two renewals of all that is held; the shortest lease of a task of brands is two minutes."""


@dataclass(slots=True)
class HandContext(Context):
    """A run whose caller waits: what it joins is brought in here, and the end of its job is left to the caller."""

    bring_in: Callable[[list[str]], Awaitable[None]] | None = None

    async def ajoin(
        self, jobs: Iterable[Handle[Any] | str], *, any_tenant: bool = False, until: datetime | None = None
    ) -> list[JobOutcome[Any]]:
        """Work until the jobs are over, and return how they ended."""
        job_ids = [job if isinstance(job, str) else job.id for job in jobs]
        if self.bring_in is not None:
            await self.bring_in(job_ids)
        return await awalk(self._join(job_ids, any_tenant=any_tenant, until=until))

    def _commit(self, commit: CommitCall) -> Steps[Any]:
        # The caller says when the job is complete; and super() is lost to slots.
        return Context._commit(self, replace(commit, settle=False))  # noqa: SLF001


class HandWorker:
    """Runs jobs of an app for one tenant in this process. It is a worker to the database, under a name of its own."""

    def __init__(self, app: Haulwright, tenant: str) -> None:
        self._app = app
        self._store = app.store
        self._tenant = tenant
        self._identities: dict[str | None, Identity] = {}
        self._contexts: dict[LeaseKey, Context] = {}
        """By lease, the runs that are under way or wait here: their leases are renewed."""

    def identity(self, name: str | None) -> Identity:
        """Who a caller is to the database, made known when it first claims."""
        if name not in self._identities:
            self._identities[name] = this_process(name)
            self._store.workers.register(self._identities[name], [QUEUE], sorted(self._app.tasks))
        return self._identities[name]

    def take_back(self) -> list[Reaped]:
        """Take back what nobody holds any more: leases that ran out, and those of processes that are provably gone."""
        reaped = self._store.recovery.reap(SWEEP_JOBS)
        gone_ids = self._store.workers.gone_from(self.identity(None), is_gone)
        return [*reaped, *self._store.recovery.recover(gone_ids, SWEEP_JOBS)]

    async def run_held(self, lease: Lease) -> Run:
        """Run a job that the caller holds, and leave it held: what it joins is brought in, where it waits we wait."""
        async with self._renewing(), self._holding(lease):
            while True:
                run = self._run(lease, HandContext(lease, self._store, worker=lease.worker_id, bring_in=self.bring_in))
                await self._perform(run)
                if not isinstance(run.outcome, Snooze):
                    return run
                await asyncio.sleep(run.outcome.seconds)

    async def run_through(self, job_id: str, until: float) -> None:
        """Claim a job at once and run it to its end under one lease; what is late is given back for others."""
        while (lease := await self._claim(job_id, early=True)) is None:  # somebody else brings the same source in
            wait = await asyncio.to_thread(self._wait_for, job_id)
            if wait is None or time.monotonic() > until:
                return
            await asyncio.sleep(wait)
        async with self._renewing(), self._holding(lease):
            while True:
                run = self._run(lease, Context(lease, self._store, worker=lease.worker_id))
                await self._perform(run)
                is_late = time.monotonic() > until
                if is_late or not isinstance(run.outcome, Snooze):
                    await asyncio.to_thread(self._settle, run)
                    return
                await asyncio.sleep(run.outcome.seconds)

    async def bring_in(self, job_ids: list[str]) -> None:
        """Work until these jobs are over, whoever runs them."""
        await asyncio.gather(*(self._bring_one(job_id) for job_id in job_ids))

    async def _bring_one(self, job_id: str) -> None:
        while True:
            lease = await self._claim(job_id)
            if lease is not None:
                async with self._holding(lease):
                    run = self._run(lease, Context(lease, self._store, worker=lease.worker_id))
                    await self._perform(run)
                    await asyncio.to_thread(self._settle, run)
                continue
            wait = await asyncio.to_thread(self._wait_for, job_id)
            if wait is None:
                return
            await asyncio.sleep(wait)

    async def _claim(self, job_id: str, *, early: bool = False) -> Lease | None:
        worker_id = (await asyncio.to_thread(self.identity, None)).id
        claim = partial(self._store.leases.claim_by_id, worker_id, self._tenant, job_id, early=early)
        return await asyncio.to_thread(claim)

    def _wait_for(self, job_id: str) -> float | None:
        """How long to wait until a job may be claimed; None where it is over. Nobody else may bury the overdue."""
        self._store.recovery.expire(SWEEP_JOBS)
        job = self._store.listing.find(job_id, self._tenant)
        if job is None or job.state in FINAL:
            return None
        wait = (job.run_at - self._store.now()) / SECOND
        return min(max(wait, SHORTEST_NAP_SECONDS), LONGEST_NAP_SECONDS)

    def _run(self, lease: Lease, context: Context) -> Run:
        """A run without a time limit of its own: its caller waits for as long as it takes."""
        unlimited = lease._replace(timeout_us=round(TEN_YEARS_SECONDS * SECOND))
        return Run(unlimited, self._app.tasks[lease.task].declared, context)

    async def _perform(self, run: Run) -> None:
        self._contexts[run.key] = run.context
        await run_async(run, Observers.logged("by hand", self._app.observers))

    def _settle(self, run: Run) -> None:
        settlement = settlement_of(run)
        if settlement is not None:
            self._store.settlements.settle([settlement], run.lease.worker_id)

    @asynccontextmanager
    async def _holding(self, lease: Lease) -> AsyncIterator[None]:
        """Have a lease renewed, until it is let go."""
        try:
            yield
        finally:
            self._contexts.pop(lease.key, None)

    @asynccontextmanager
    async def _renewing(self) -> AsyncIterator[None]:
        """Renew what is held."""
        renewal = asyncio.create_task(self._renew())
        try:
            yield
        finally:
            renewal.cancel()

    async def _renew(self) -> None:
        while True:
            contexts = list(self._contexts.values())
            renewal = await asyncio.to_thread(self._store.leases.renew, [context.job for context in contexts])
            for context in contexts:
                context.signals.lost |= context.job.id in renewal.lost
                context.signals.cancelled = renewal.cancelled.get(context.job.id, context.signals.cancelled)
            await asyncio.sleep(RENEWAL_SECONDS)
