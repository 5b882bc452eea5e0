"""Leasing: one worker has a job at a time, for a while, and knows when it has lost it."""

from __future__ import annotations

import json
import random
import sqlite3
from typing import Any, Final

from haulwright import State
from haulwright.apps.documents.compat.idempotency import remember
from haulwright.apps.documents.compat.job_effects import keep_operations
from haulwright.apps.documents.compat.session import (
    QUEUE,
    TASK,
    entry,
    find_lease,
    forget_lease,
    remember_lease,
    rows,
    transaction,
)
from haulwright.apps.documents.retry import FETCH_RETRY
from haulwright.apps.documents.stages import DOCUMENT_STAGES
from haulwright.clock import SECOND
from haulwright.engine.durations import us
from haulwright.engine.job import Lease
from haulwright.engine.outcome import UNKNOWN_TASK_GATE, Failure, RetryLater
from haulwright.engine.settlement import RELEASE, Finish, PutBack, Settlement, Step, resolve
from haulwright.engine.task import LONGEST_LEASE_SECONDS, SHORTEST_LEASE_SECONDS
from haulwright.runtime.identity import this_process
from haulwright.stores.books import book
from haulwright.stores.store import Store

REAP_LIMIT: Final = 100
MOST_STRANGERS: Final = 100
"""So many jobs of other kinds are passed over in one look for a document."""
_KEYS: Final = (
    "job_id", "work_id", "artifact_id", "canonical_url", "state", "idempotency_key", "attempts", "lease_owner",
    "lease_until",
)  # fmt: skip
_NOT_OURS: Final = PutBack("snooze", 30 * SECOND, refund=1, deferral=1, waiting_on=UNKNOWN_TASK_GATE)
"""A job that is no document waits for a worker that knows it, as with every other worker."""
_FAILED: Final = Failure("Failed", "failed", "the worker moved the document to FAILED")
_INTERRUPTED: Final = Failure("Interrupted", "interrupted", "the document was given back in the middle of an operation")
_ENDINGS: Final[dict[str, Step]] = {
    "FINALIZED": Finish(State.SUCCEEDED),
    "INDEXED": Finish(State.SUCCEEDED),
    "DEDUPED": Finish(State.SUCCEEDED),
    "SKIPPED_DUPLICATE": Finish(State.SKIPPED, "duplicate"),
}


def lease_next_job(conn: sqlite3.Connection, owner: str, ttl_s: float = 120) -> dict[str, Any] | None:
    """Take the next job that is due, for so long, or None. Leases that ran out are taken back first."""
    lease_us = us(ttl_s, what="ttl_s", minimum=SHORTEST_LEASE_SECONDS, maximum=LONGEST_LEASE_SECONDS)
    with transaction(conn) as store:
        store.recovery.reap(REAP_LIMIT)
        lease = _claim(conn, store, owner)
        if lease is None:
            return None
        conn.execute(entry("last"), {**lease.key._asdict(), "lease_us": lease_us})
        remember_lease(conn, owner, lease)
        (job,) = _documents(conn, lease)
    remember(lease.id, lease.job_key)
    return job


def renew_lease(conn: sqlite3.Connection, job_id: str, owner: str) -> bool:
    """Keep a lease for as long again; False where it is not this connection's, or lost."""
    lease = find_lease(conn, job_id, owner)
    if lease is None:
        return False
    with transaction(conn) as store:
        store.workers.seen(lease.worker_id, 0)
        return not store.leases.renew([lease]).lost


def release_lease(conn: sqlite3.Connection, job_id: str, owner: str) -> bool:
    """Give a lease back; at a final stage the job is settled with it. False where it was lost: nothing is changed.

    FINALIZED is final: what was filed is not leased again, and is moved on to INDEXED or DEDUPED without a lease. A job
    that failed waits for its next run while it has one left, and is dead after the last; so does one that was filed and
    is given back in the middle of an operation.
    """
    lease = find_lease(conn, job_id, owner)
    if lease is None:
        return False
    with transaction(conn) as store:
        stage = store.effects.stage(lease.tenant, lease.job_key) or DOCUMENT_STAGES.start
        step = _step(stage, lease, begun=_has_begun(conn, lease))
        accepted = bool(store.settlements.settle([Settlement(lease, step)], owner))
        if accepted and stage == DOCUMENT_STAGES.failed:
            _begin_again(store, lease)
        if accepted and step is _ENDINGS.get(stage):
            conn.execute(entry("end"), {"tenant": lease.tenant, "key": _artifact(lease), "outcome": stage})
            keep_operations(conn, store, lease)
        forget_lease(conn, job_id)
    return accepted


def _claim(conn: sqlite3.Connection, store: Store, owner: str) -> Lease | None:
    """The next document that is due; what is none is left to others."""
    worker_id = _worker_of(conn, store, owner)
    for _ in range(MOST_STRANGERS):
        leases = store.leases.claim(worker_id, (QUEUE,), 1)
        if not leases:
            return None
        if _documents(conn, leases[0]):
            return leases[0]
        store.settlements.settle([Settlement(leases[0], _NOT_OURS)], owner)
    return None


def _documents(conn: sqlite3.Connection, lease: Lease) -> list[dict[str, Any]]:
    """The document that a job brings; none where it is a job of another kind."""
    if lease.task != TASK:
        return []
    params = {"tenant": lease.tenant, "key": _artifact(lease), "job_id": lease.id}
    return [dict(zip(_KEYS, row, strict=True)) for row in rows(conn, entry("job"), params)]


def _artifact(lease: Lease) -> str:
    """The key of the artefact that a job is about; that of the job is another one where it repairs something."""
    return str(json.loads(lease.args)["artifact"])


def _has_begun(conn: sqlite3.Connection, lease: Lease) -> bool:
    return bool(rows(conn, entry("begun"), {"tenant": lease.tenant, "job_key": lease.job_key}))


def _step(stage: str, lease: Lease, *, begun: bool) -> Step:
    """What the stage of a document means for its job; `begun` where one of its operations has no end yet."""
    if stage == DOCUMENT_STAGES.failed:
        return resolve(RetryLater(_FAILED), lease, FETCH_RETRY, random.random)
    if stage == "FINALIZED" and begun:
        return resolve(RetryLater(_INTERRUPTED), lease, FETCH_RETRY, random.random)
    return _ENDINGS.get(stage, RELEASE)


def _begin_again(store: Store, lease: Lease) -> None:
    """Start a new generation of a document that failed, for its next run. What the ledger holds is not done again."""
    effects = book("haulwright.stores", "sqlite", "effects")
    job_key = {"tenant": lease.tenant, "job_key": lease.job_key}

    def work(connection: Any) -> None:
        ((generation, *_),) = connection.run(effects["stage"], job_key)
        stage = {"generation": generation + 1, "machine": DOCUMENT_STAGES.name, "stage": DOCUMENT_STAGES.start}
        fenced_by = {"job_id": lease.id, "fence": lease.fence, "now": store.now()}
        connection.run(effects["put_stage"], job_key | stage | fenced_by)

    store.database.transact(work)


def _worker_of(conn: sqlite3.Connection, store: Store, owner: str) -> str:
    """The worker that this connection is under this name: another with the same name is another worker."""
    conn.execute("create temp table if not exists documents_workers (owner text primary key, worker_id text)")
    worker_ids = rows(conn, "select worker_id from temp.documents_workers where owner = :owner", {"owner": owner})
    if worker_ids:
        return str(worker_ids[0][0])
    worker = this_process(owner)
    store.workers.register(worker, [QUEUE], [TASK])
    conn.execute("insert into temp.documents_workers values (:owner, :id)", {"owner": owner, "id": worker.id})
    return worker.id
