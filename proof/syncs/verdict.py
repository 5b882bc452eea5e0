"""What the books of a day say: Airbyte's own, and ours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from haulwright.clock import SECOND
from haulwright.engine.transitions import State
from proof.syncs.day import REVOKED, Day

DISPATCH_SECONDS = 300


@dataclass(frozen=True)
class Verdict:
    """The figures of a day, and everything that is wrong."""

    runs: int
    succeeded: int
    dead: int
    kills: int
    worst_dispatch_seconds: float
    """The longest wait for a dispatch beyond a connection's cadence."""
    worst_sync_seconds: float
    """The longest wait for a successful sync beyond a connection's cadence."""
    wrong: list[str]

    def __str__(self) -> str:
        return (
            f"{self.runs} runs at Airbyte, {self.succeeded} syncs, {self.dead} dead letters, {self.kills} kills; "
            f"beyond the cadence at most {self.worst_dispatch_seconds:g} s to a dispatch "
            f"and {self.worst_sync_seconds:g} s to a sync"
        )


def judge(day: Day) -> Verdict:
    """Read the books and say what is wrong."""
    runs = day.world.sandbox.airbyte.jobs()
    succeeded, dead = list(day.jobs(State.SUCCEEDED)), list(day.jobs(State.DEAD))
    wrong = [*_overlaps(day), *_unknown_runs(day), *_crowded_accounts(day)]
    wrong += [f"{job.tenant} {job.unique_key} is dead: {job.error_message}" for job in dead if job.tenant != REVOKED]
    wrong += [f"{job.id} is dead for another reason: {job.reason}" for job in dead if job.reason != "auth"]
    wrong += [f"{job.id} is still queued" for job in day.jobs(State.QUEUED)]
    wrong += [f"{job_id} was requeued and is {state}" for job_id, state in _requeued(day) if state != State.SUCCEEDED]
    dispatches = _gaps(day, ((job.tenant, str(job.unique_key), job.created_at) for job in [*succeeded, *dead]))
    syncs = _gaps(day, ((job.tenant, str(job.unique_key), job.finished_at or 0) for job in succeeded))
    never = [one for one in _connections(day) if one not in {(job.tenant, job.unique_key) for job in succeeded}]
    wrong += [f"{tenant} {name} was never synced" for tenant, name in never]
    return Verdict(
        len(runs), len(succeeded), len(dead), day.kills, max(dispatches, default=0), max(syncs, default=0), wrong
    )


def _overlaps(day: Day) -> Iterable[str]:
    """Two runs of a connection at once, or less than a minute from one start to the next."""
    spacing = day.world.syncs.limits.min_interval_seconds
    by_connection = defaultdict(list)
    for run in day.world.sandbox.airbyte.jobs():
        by_connection[run.connection].append(run)
    for connection, runs in by_connection.items():
        for earlier, later in pairwise(sorted(runs, key=lambda run: run.started)):
            if later.started < earlier.finishes:
                yield f"{connection}: runs {earlier.id} and {later.id} overlap"
            if later.started - earlier.started < spacing:
                yield f"{connection}: runs {earlier.id} and {later.id} are too close"


def _unknown_runs(day: Day) -> Iterable[str]:
    """Runs at Airbyte that no job knows: begun twice, or forgotten."""
    ours = {run_id for (run_id,) in day.world.rows("select run_id from syncs_runs")}
    return (f"nobody knows run {run.id}" for run in day.world.sandbox.airbyte.jobs() if run.id not in ours)


def _crowded_accounts(day: Day) -> Iterable[str]:
    """Accounts that were asked for more than one sync in a minute."""
    accounts = {one.airbyte_id: one.external_account_id for one in day.world.syncs.connections.all()}
    starts = defaultdict(list)
    for run in day.world.sandbox.airbyte.jobs():
        starts[accounts[run.connection]].append(run.started)
    for account, times in starts.items():
        for earlier, later in pairwise(sorted(times)):
            if later - earlier < 60:
                yield f"{account}: two syncs within {later - earlier:g} s"


def _requeued(day: Day) -> Iterable[tuple[str, State]]:
    return ((job_id, day.world.job(job_id).state) for job_id in day.requeued)


def _connections(day: Day) -> list[tuple[str, str]]:
    return [(one.tenant, one.connector_id) for one in day.world.syncs.connections.all()]


def _gaps(day: Day, moments: Iterable[tuple[str, str, int]]) -> list[float]:
    """How much longer than its cadence each connection waited from one moment to the next; the revoked one apart."""
    intervals = {(one.tenant, one.connector_id): one.interval_us for one in day.world.syncs.connections.all()}
    by_connection = defaultdict(list)
    for tenant, name, at in moments:
        if tenant != REVOKED:
            by_connection[tenant, name].append(at)
    return [
        (later - earlier - intervals[key]) / SECOND
        for key, times in by_connection.items()
        for earlier, later in pairwise(sorted(times))
    ]
