"""A document on a plain connection, for tests of the vocabulary."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from haulwright.apps.documents import compat as doc

WORK = {"work_id": "work-123", "artifact_id": "arxiv-2024-001", "canonical_url": "https://api.example/pdf/2024.00001v1"}
START = 1_704_067_200_000_000
UNDER_WAY = ("LEASED", "HEAD_DONE", "RESUME_OK", "STREAMING", "FINALIZED")


def advance(conn: sqlite3.Connection, job_id: str, *states: str, allowed_from: Sequence[str] = UNDER_WAY) -> None:
    """Move a document through some states."""
    for state in states:
        doc.advance_state(conn, job_id=job_id, to_state=state, allowed_from=allowed_from)


def finish(conn: sqlite3.Connection, state: str) -> str:
    """Lease the next document, bring it to a state, and give it back; the id of its job."""
    job = doc.lease_next_job(conn, owner="worker-1")
    assert job is not None
    advance(conn, job["job_id"], "HEAD_DONE", "STREAMING", "FINALIZED", state)
    doc.release_lease(conn, job_id=job["job_id"], owner="worker-1")
    return str(job["job_id"])
