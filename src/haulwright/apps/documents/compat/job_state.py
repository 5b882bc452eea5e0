"""The state of a document: forward only, and only by who holds its lease."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from typing import Final

from haulwright import LeaseLost
from haulwright.apps.documents.compat.session import entry, require_lease, rows, transaction
from haulwright.apps.documents.stages import DOCUMENT_STAGES
from haulwright.errors import IllegalStage, NotFound
from haulwright.stores.connection import Connection

LEASED: Final = "LEASED"
"""How a document is shown that is leased and has not come further; it is stored nowhere."""


def get_current_state(conn: sqlite3.Connection, job_id: str) -> str:
    """The state of a document, in the words of the document."""
    states = rows(conn, entry("state"), {"job_id": job_id})
    if not states:
        raise NotFound("job", job_id)
    return str(states[0][0])


def advance_state(conn: sqlite3.Connection, job_id: str, to_state: str, allowed_from: Collection[str]) -> None:
    """Move a document forward; being there or past it already is no error, and what is not allowed is a RuntimeError.

    It can fail from every state that is not final, whatever `allowed_from` says.
    """
    lease = require_lease(conn, job_id, "stage")
    to = DOCUMENT_STAGES.start if to_state == LEASED else to_state
    with transaction(conn) as store:

        def work(connection: Connection) -> None:
            if not store.leases.hold(connection, lease):
                raise LeaseLost(lease.id, lease.fence, "stage")
            stage = store.effects.stage(lease.tenant, lease.job_key) or DOCUMENT_STAGES.start
            state = LEASED if stage == DOCUMENT_STAGES.start else stage
            if DOCUMENT_STAGES.reached(stage, to):
                return
            if to != DOCUMENT_STAGES.failed and state not in allowed_from:
                raise IllegalStage(DOCUMENT_STAGES.name, state, to)
            store.effects.move_on(connection, lease, DOCUMENT_STAGES, to)

        store.database.transact(work)
