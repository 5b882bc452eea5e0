"""Workers that stand still, or lose their server, with commits of several runs on the way."""

from __future__ import annotations

import os
import signal
from subprocess import Popen
from typing import Any

from proof.support.company import GROUP
from proof.support.crowd import wait_until
from proof.support.site import (
    CONCURRENCY_VARIABLE,
    GO_ON,
    HALT_VARIABLE,
    HALTED,
    POINT_VARIABLE,
    WORKER,
    Site,
)
from proof.support.stopping import resume, stop
from proof.support.workload import HOLD_WRITER, WRITER_MAY_GO, WRITER_WAITS, Workload, go

OF_EACH = 3
"""Jobs whose lease runs out, and as many whose lease does not."""
LEASE_SECONDS = 2
SECOND_FENCE = 2
PATIENCE_SECONDS = 60
_HOLDERS = """select pg_terminate_backend(pid) from pg_stat_activity
where datname = current_database() and state = 'idle in transaction' and pid <> pg_backend_pid()"""


def board(site: Site, work: Workload, **words: str) -> Popen[bytes]:
    """A worker with jobs of both kinds, whose commits are to be one group."""
    work.enqueue(work.boarding, range(OF_EACH))
    work.enqueue(work.patient, range(OF_EACH))
    return site.spawn(WORKER, "work", **{CONCURRENCY_VARIABLE: str(2 * OF_EACH)}, **words)


def freeze_in_queue(site: Site, work: Workload) -> None:
    """Stop a worker whose commits wait for its writer, let another take over what ran out, and let it go on."""
    site.raise_flag(HOLD_WRITER)
    zombie = board(site, work)
    wait_until(lambda: site.has_flag(WRITER_WAITS))
    stop(zombie, work.app.store)
    successor = _let_another_take_over(site, work)
    site.raise_flag(WRITER_MAY_GO)
    resume(zombie)
    _let_finish(site, work, zombie, successor)


def freeze_in_transaction(site: Site, work: Workload) -> None:
    """Stop a worker that holds the jobs of its group, and end its session, as the server does after a minute."""
    zombie = _halt(site, work, "after effects.hold_commits")
    os.kill(zombie.pid, signal.SIGSTOP)
    _end_sessions(work)
    successor = _let_another_take_over(site, work)
    site.raise_flag(GO_ON)
    resume(zombie)
    _let_finish(site, work, zombie, successor)


def lose_server_at_commit(site: Site, work: Workload) -> None:
    """End the session of a group that is about to be committed; nobody knows what became of it, so all run again."""
    worker = _halt(site, work, "before the commit of effects.record_commits")
    _end_sessions(work)
    site.raise_flag(GO_ON)
    assert worker.wait(PATIENCE_SECONDS) == 0
    assert site.run(WORKER, "drain") == 0


def _halt(site: Site, work: Workload, point: str) -> Popen[bytes]:
    worker = board(site, work, **{POINT_VARIABLE: point, HALT_VARIABLE: "1"})
    wait_until(lambda: site.has_flag(HALTED))
    return worker


def _let_another_take_over(site: Site, work: Workload) -> Popen[bytes]:
    """The leases that are short run out, and somebody else is in the middle of the first of their jobs."""
    site.clock.advance(LEASE_SECONDS + 1)
    successor = site.spawn(WORKER, "work")
    wait_until(lambda: any(entry.fence == SECOND_FENCE for entry in work.diary.of("run.begin")))
    return successor


def _let_finish(site: Site, work: Workload, *workers: Popen[bytes]) -> None:
    """Once the group is over, whatever became of it, those who run the jobs again go on."""
    wait_until(lambda: bool(work.diary.of(GROUP)))
    site.raise_flag(go(SECOND_FENCE))
    assert [worker.wait(PATIENCE_SECONDS) for worker in workers] == [0] * len(workers)


def _end_sessions(work: Workload) -> None:
    assert _ask(work, _HOLDERS), "nobody held a transaction"


def _ask(work: Workload, sql: str) -> list[Any]:
    return work.app.store.database.transact(lambda connection: connection.execute(sql))
