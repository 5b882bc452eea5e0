"""Planning: one job for each artefact, however often it is asked for."""

from __future__ import annotations

import sqlite3

from haulwright.apps.documents.compat.idempotency import job_key, remember
from haulwright.apps.documents.compat.session import PACKAGE, QUEUE, TASK, transaction
from haulwright.apps.documents.file_names import name_of_url
from haulwright.apps.documents.identity import shown_url
from haulwright.apps.documents.retry import FETCH_RETRY
from haulwright.engine.ids import new_id
from haulwright.engine.job import DEFAULT_TENANT, NewJob
from haulwright.engine.payload import canonical
from haulwright.sources.tools.urls import CANON_VERSION
from haulwright.stores.books import book
from haulwright.stores.connection import Connection, as_columns


def plan_job_if_absent(conn: sqlite3.Connection, work_id: str, artifact_id: str, canonical_url: str) -> str:
    """Plan the job of an artefact and return its id; the same artefact always has the same job."""
    key = job_key(work_id, artifact_id, canonical_url)
    artifact = {
        "key": key, "work_id": work_id, "artifact_id": artifact_id, "canonical_url": canonical_url,
        "shown_url": shown_url(canonical_url), "url": canonical_url, "name": name_of_url(canonical_url), "title": None,
        "expected_sha256": None, "expected_bytes": None, "expected_kind": None,
    }  # fmt: skip
    args = canonical({"artifact": key})
    job = NewJob(
        new_id(),
        TASK,
        args,
        queue=QUEUE,
        max_attempts=FETCH_RETRY.attempts,
        job_key=key,
        event_fields=args,
        audited=True,
    )
    with transaction(conn) as store:

        def work(connection: Connection) -> str:
            common = {"tenant": DEFAULT_TENANT, "manifest": "", "canon_version": CANON_VERSION, "now": store.now()}
            connection.run_batch(book(PACKAGE, "sqlite", "artifacts")["plan"], as_columns([artifact]), common)
            (receipt,) = store.jobs.enqueue_on(connection, [job])
            return receipt.id

        job_id = store.database.transact(work)
    remember(job_id, key)
    return job_id
