"""Short words for what the tests do over and over."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from haulwright.clock import SECOND
from haulwright.engine.ids import new_id
from haulwright.engine.job import Lease, NewJob
from haulwright.engine.outcome import Bury, Done, Failure, Outcome, RetryLater
from haulwright.engine.retry import Retry
from haulwright.engine.settlement import Settlement, resolve
from haulwright.stores.connection import Connection
from haulwright.stores.store import Store

START = 1_704_067_200 * SECOND
"""2024-01-01T00:00:00Z."""
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

BOOM = Failure("ValueError", "boom", "it went wrong")
POLICY = Retry(5, base="30 s", jitter=0)


def new_job(**words: Any) -> NewJob:
    """A job of no special kind, with these words changed."""
    return NewJob(**{"id": new_id(), "task": "work", "args": "{}", **words})


def claim(store: Store, worker: str, batch: int = 1, queue: str = "default") -> list[Lease]:
    """Claim as a worker that starts its round of tenants anew."""
    return store.leases.claim(worker, [queue], batch)


def claim_one(store: Store, worker: str, queue: str = "default") -> Lease:
    """Claim the one job that is expected to be due."""
    (lease,) = claim(store, worker, 1, queue)
    return lease


def settlement(lease: Lease, outcome: Outcome) -> Settlement:
    """What an outcome means for the job of a lease, without chance."""
    return Settlement(lease, resolve(outcome, lease, POLICY, lambda: 0.5))


def settle(store: Store, lease: Lease, outcome: Outcome | None = None) -> bool:
    """End a run, successfully unless told otherwise; False where it was refused."""
    return lease.id in store.settlements.settle([settlement(lease, outcome or Done())])


def give_same_number_to(store: Store, worker: str) -> None:
    """Put the database back to before the claims, and let another worker make them: the same numbers, another right."""
    for table in ("haulwright_jobs", "haulwright_permits", "haulwright_source_permits", "haulwright_effects"):
        running = " where state = 'running'" if table == "haulwright_jobs" else ""
        update = f"update {table} set worker_id = '{worker}'{running}"  # noqa: S608 - our own
        store.database.transact(partial(_execute, sql=update))
    probe = f"update haulwright_sources set probe_worker = '{worker}' where probe_worker is not null"  # noqa: S608 - our own
    store.database.transact(partial(_execute, sql=probe))


def _execute(connection: Connection, sql: str) -> None:
    connection.execute(sql)


def fail(store: Store, lease: Lease) -> bool:
    """End a run by an error that may pass."""
    return settle(store, lease, RetryLater(BOOM))


def bury(store: Store, worker: str, **words: Any) -> str:
    """Make a dead letter and return its id."""
    job = new_job(**words)
    store.jobs.enqueue([job])
    lease = next(lease for lease in claim(store, worker, 100, job.queue) if lease.id == job.id)
    assert settle(store, lease, Bury("permanent", BOOM))
    return job.id


def lose(store: Store, clock: Any, seconds: float = 121) -> list[Any]:
    """Let the leases run out and take them back."""
    clock.advance(seconds)
    return store.recovery.reap()


def names(store: Store, job_id: str) -> list[str]:
    """The events of a job, by name."""
    return [event.name for event in store.events.of_job(job_id)]


def race(*acts: Callable[[], Any]) -> list[Any]:
    """Do all acts at once, each in a thread; what an act returned or raised, in order."""
    barrier = threading.Barrier(len(acts))
    results: list[Any] = [None] * len(acts)

    def run(place: int, act: Callable[[], Any]) -> None:
        barrier.wait()
        try:
            results[place] = act()
        except Exception as error:  # noqa: BLE001 - whatever came out of an act is its result
            results[place] = error

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return results


def rows(store: Store, sql: str) -> list[tuple[Any, ...]]:
    """Ask the database itself."""
    return store.database.read(lambda connection: connection.execute(sql))


def count(store: Store, table: str) -> int:
    """How many rows a table has."""
    return int(rows(store, f"select count(*) from {table}")[0][0])  # noqa: S608 - a name from a test


def ids(leases: Sequence[Any]) -> list[str]:
    """The ids of leases or jobs, in their order."""
    return [lease.id for lease in leases]


def commit(
    store: Store, lease: Lease, key: str, name: str, act: Callable[[Connection], str]
) -> tuple[bool, str | None]:
    """Commit as the context of a run does: hold the job, then act and record in one transaction."""
    return store.effects.under(lease, "commit", lambda c: store.effects.commit_on(c, lease, key, name, act))
