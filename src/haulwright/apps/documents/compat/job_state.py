"""The state of a document: forward only, and only by who holds its lease."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from typing import Final

from haulwright import LeaseLost
from haulwright.apps.documents.compat.session import entry, find_lease, rows, transaction
from haulwright.apps.documents.stages import DOCUMENT_STAGES
from haulwright.errors import IllegalStage, NotFound
from haulwright.stores.connection import Connection

LEASED: Final = "LEASED"
"""How a document is shown that is leased and has not come further; it is stored nowhere."""
_INDEXES: Final = frozenset({"INDEXED", "DEDUPED"})


def get_current_state(conn: sqlite3.Connection, job_id: str) -> str:
    """The state of a document, in the words of the document."""
    states = rows(conn, entry("state"), {"job_id": job_id})
    if not states:
        raise NotFound("job", job_id)
    return str(states[0][0])


def advance_state(conn: sqlite3.Connection, job_id: str, to_state: str, allowed_from: Collection[str]) -> None:
    """Move a document forward; being there or past it already is no error, and what is not allowed is a RuntimeError.

    It can fail from every state that is not final, whatever `allowed_from` says. What was given back as FINALIZED goes
    on to INDEXED or DEDUPED without a lease.
    """
    to = DOCUMENT_STAGES.start if to_state == LEASED else to_state
    lease = find_lease(conn, job_id)
    if lease is None:
        _advance_filed(conn, job_id, to, allowed_from)
        return
    with transaction(conn) as store:

        def work(connection: Connection) -> None:
            if not store.leases.hold(connection, lease):
                raise LeaseLost(lease.id, lease.fence, "stage")
            stage = store.effects.stage(lease.tenant, lease.job_key) or DOCUMENT_STAGES.start
            state = LEASED if stage == DOCUMENT_STAGES.start else stage
            if DOCUMENT_STAGES.reached(stage, to):
                return
            if to != DOCUMENT_STAGES.failed:
                _require_allowed(stage, to, state, allowed_from)
            store.effects.move_on(connection, lease, DOCUMENT_STAGES, to)

        store.database.transact(work)


def _advance_filed(conn: sqlite3.Connection, job_id: str, to: str, allowed_from: Collection[str]) -> None:
    """Move a document on that nobody has leased: only one that was given back as FINALIZED goes any further."""
    with transaction(conn):
        ended = rows(conn, entry("released"), {"job_id": job_id})
        if not ended:
            raise LeaseLost(job_id, 0, "stage")
        ((tenant, key, outcome),) = ended
        if DOCUMENT_STAGES.reached(outcome, to):
            return
        if to not in _INDEXES:
            raise IllegalStage(DOCUMENT_STAGES.name, outcome, to)
        _require_allowed(outcome, to, outcome, allowed_from)
        conn.execute(entry("index"), {"tenant": tenant, "key": key, "outcome": to})


def _require_allowed(stage: str, to: str, state: str, allowed_from: Collection[str]) -> None:
    """Refuse a move that the machine does not have, and one that is not allowed from this state, each in its words."""
    if not DOCUMENT_STAGES.allows(stage, to):
        raise IllegalStage(DOCUMENT_STAGES.name, state, to)
    if state not in allowed_from:
        raise IllegalStage(DOCUMENT_STAGES.name, state, to, allowed_from=sorted(allowed_from))
