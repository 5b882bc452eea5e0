"""Polling: one look at a run, which ends in time whatever gate is closed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from haulwright import Context, Permanent, Snooze, Tx
from haulwright.apps.brands.buying.poll_clock import elapsed_us
from haulwright.apps.brands.run_log import log_completion, log_look
from haulwright.clock import SECOND
from haulwright.engine.outcome import RetryLater, outcome_of
from haulwright.errors import RunError
from haulwright.runtime.failure import failure_of
from haulwright.sources.apify import ActorRun, Apify, ApifyTimeoutError

if TYPE_CHECKING:
    from haulwright.application import Tables
    from haulwright.apps.brands.rows import PaidRun
    from haulwright.stores.connection import Connection

TIMED_OUT: Final = "timed_out"
"""The status of a run that we gave up; Apify's own word for one that it ended is TIMED-OUT."""


@dataclass(frozen=True, slots=True)
class PollLimits:
    """How often a run is looked at, and for how long."""

    timeout_seconds: float
    interval_seconds: float


class RunFailed(Permanent):
    """A run that was paid for ended without success; `run_status` is how."""

    run_status: str = ""


class RunPoller:
    """Looks at runs."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def poll(self, ctx: Context, apify: Apify, run: PaidRun, limits: PollLimits) -> ActorRun | Snooze:
        """One look at a run: it is over and succeeded, or when to look again; anything else is raised."""
        look = await _look(apify, run)
        actor_run = look if isinstance(look, ActorRun) else None
        if actor_run is not None and actor_run.is_terminal:
            log_completion(actor_run)
            return _success(actor_run)
        again = _next_look(run, look, limits)
        elapsed = elapsed_us(run, await asyncio.to_thread(ctx.store.now), actor_run)
        left = limits.timeout_seconds - elapsed / SECOND
        if left <= 0:
            return await _give_up(apify, run, look, limits)
        snooze = Snooze(min(again.seconds, left), again.gate)
        await asyncio.to_thread(self._record, ctx, run, elapsed, round(snooze.seconds * SECOND))
        log_look(run, look, elapsed, limits.timeout_seconds)
        return snooze

    def _record(self, ctx: Context, run: PaidRun, elapsed: int, wait_us: int) -> None:
        """Write down how long the run has taken, under the fence of its job: the next look may be another worker's."""
        work = partial(self._write, ctx, run, elapsed, wait_us)
        ctx.store.effects.under(ctx.job, "poll", work)

    def _write(self, ctx: Context, run: PaidRun, elapsed: int, wait_us: int, connection: Connection) -> None:
        key = {"tenant": run.tenant, "id": run.id, "job_id": ctx.job.id}
        self._tables.on(Tx(connection, ctx)).run("runs.polled", **key, elapsed_us=elapsed, wait_us=wait_us)


async def _look(apify: Apify, run: PaidRun) -> ActorRun | RunError:
    try:
        return await apify.await_step(run.actor_run_id or "", 0)
    except RunError as error:
        return error


def _next_look(run: PaidRun, look: ActorRun | RunError, limits: PollLimits) -> Snooze:
    """When to look again, the deadline aside; an error that no repetition can help is raised."""
    again = Snooze(limits.interval_seconds, f"apify run {run.actor_run_id}")
    if isinstance(look, ActorRun):
        return again
    match outcome_of(look, failure_of(look)):
        case Snooze() as closed:
            return closed
        case RetryLater():
            return again  # a look that failed costs nothing: the deadline bounds how many there are
    raise look


async def _give_up(apify: Apify, run: PaidRun, look: ActorRun | RunError, limits: PollLimits) -> ActorRun:
    """End a run that takes too long, so that it costs no more; where it succeeded just now, all the better."""
    late = f"Polling timed out after {limits.timeout_seconds:g}s for run_id={run.actor_run_id}"
    if isinstance(look, RunError):
        raise _timeout(f"{late}. Apify could not be asked: {look.message}", run) from look
    try:
        actor_run = await apify.aabort(run.actor_run_id or "")
    except RunError as error:
        raise _timeout(f"{late}. The run could not be aborted yet: {error.message}", run) from error
    if actor_run.is_success:
        return actor_run
    raise _timeout(f"{late}. The run was aborted.", run, aborted=True)


def _success(actor_run: ActorRun) -> ActorRun:
    """A run that is over, unless it came to nothing."""
    if not actor_run.is_success:
        error = RunFailed(f"The run ended as {actor_run.status}: {actor_run.status_message or 'no reason given'}")
        error.run_status = actor_run.status
        raise error
    return actor_run


def _timeout(message: str, run: PaidRun, *, aborted: bool = False) -> ApifyTimeoutError:
    error = ApifyTimeoutError(message)
    error.run_id, error.aborted = run.actor_run_id or "", aborted
    return error
