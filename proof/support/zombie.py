"""The zombie: stopped past its lease, replaced, and then continued while everybody else stands still."""

from __future__ import annotations

from dataclasses import dataclass
from subprocess import Popen
from typing import Any

from haulwright.stores.store import Store
from proof.support.crowd import wait_until
from proof.support.site import WORKER, Site
from proof.support.stopping import resume, stop
from proof.support.workload import Workload, go

TABLES = ("jobs", "history", "effects", "blobs", "stages", "permits", "keys", "events where job_id is not null")
LEASE_SECONDS = 2


@dataclass(frozen=True)
class Haunting:
    """What a zombie tried, and what it changed."""

    before: dict[str, list[Any]]
    after: dict[str, list[Any]]
    tried: dict[tuple[str, str], bool]
    """From (door, verb) to whether it was accepted."""
    refused: int
    """What the worker of the zombie counted, as its row says."""
    successor: Popen[bytes]
    """Still stopped, in the middle of its run."""


def haunt(site: Site, work: Workload) -> Haunting:
    """Let a worker lose its job while it is stopped, and then try everything."""
    store = work.app.store
    zombie = site.spawn(WORKER, "work")
    _wait_for_run(work, fence=1)
    stop(zombie, store)
    site.clock.advance(LEASE_SECONDS + 1)

    successor = site.spawn(WORKER, "work")
    _wait_for_run(work, fence=2)
    stop(successor, store)  # from here on whatever changes was changed by the zombie
    before = _everything(store)
    site.clock.advance(LEASE_SECONDS / 2)  # a heartbeat that is accepted now would move the end of the lease
    site.raise_flag(go(1))
    resume(zombie)
    assert zombie.wait(60) == 0

    tried = {(entry.more["door"], entry.more["verb"]): entry.more["accepted"] for entry in work.diary.of("write")}
    refused = max(worker.refused for worker in store.workers.list(everyone=True))
    return Haunting(before, _everything(store), tried, refused, successor)


def lay_to_rest(site: Site, haunting: Haunting) -> None:
    """Let the successor finish."""
    site.raise_flag(go(2))
    resume(haunting.successor)
    assert haunting.successor.wait(60) == 0


def _wait_for_run(work: Workload, fence: int) -> None:
    """Wait until a run under this fence is in the middle of its effect."""

    def waits() -> bool:
        jobs = {str(entry.job) for entry in work.diary.of("run.begin")}
        effects = [effect for job in jobs for effect in work.app.operations().effects.of_job(job).rows]
        return any(effect.fence == fence and effect.state == "intent" for effect in effects)

    wait_until(waits)


def _everything(store: Store) -> dict[str, list[Any]]:
    """Every row that a run could change, as the database has it. That a worker stops may be told."""
    asked = [f"select * from haulwright_{table}" for table in TABLES]
    return store.database.read(lambda connection: {sql: sorted(connection.execute(sql), key=repr) for sql in asked})
