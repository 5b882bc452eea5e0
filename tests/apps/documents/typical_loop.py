"""The typical usage of the document, word for word apart from its imports: typical_loop.py FOLDER [KIND].

It is a process that works in a folder and dies where it is told to.
"""
# ruff: noqa: ARG001, B023, F401, F841, I001, PLW0108, PTH123
# fmt: off

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from typing import Any

from haulwright.apps.documents.compat.schema_migration import apply_migration
from haulwright.apps.documents.compat.idempotency import job_key, op_key
from haulwright.apps.documents.compat.job_planning import plan_job_if_absent
from haulwright.apps.documents.compat.job_leasing import lease_next_job, renew_lease, release_lease
from haulwright.apps.documents.compat.job_state import advance_state, get_current_state
from haulwright.apps.documents.compat.job_effects import run_effect
from haulwright.apps.documents.compat.job_reconciler import cleanup_stale_leases

os.chdir(sys.argv[1])
dies_at = sys.argv[2]


def act(kind: str) -> dict[str, Any]:
    """Do something to the outside world, and perhaps die before anybody heard of it."""
    with open("done", "a") as done:
        done.write(f"{kind}\n")
    if kind == dies_at:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"code": "OK", "status": 200, "sha256": "abc123"}


def fetch_head(url: str) -> dict[str, Any]:
    return act("HEAD")


def stream_to_file(url: str) -> dict[str, Any]:
    return act("STREAM")


def finalize_artifact() -> dict[str, Any]:
    return act("FINALIZE")


# Setup
conn = sqlite3.connect("manifest.sqlite3")
conn.row_factory = sqlite3.Row
apply_migration(conn)

# Worker startup: heal any crash debris
cleanup_stale_leases(conn)

# Plan a job
job_id = plan_job_if_absent(
    conn,
    work_id="work-123",
    artifact_id="arxiv-2024-001",
    canonical_url="https://api.arxiv.org/pdf/2024.00001v1"
)

# Main loop: claim, work, release
while True:
    job = lease_next_job(conn, owner="worker-1", ttl_s=120)
    if not job:
        break

    job_id = job["job_id"]
    url = job["canonical_url"]

    try:
        # HEAD request
        advance_state(conn, job_id=job_id, to_state="HEAD_DONE", allowed_from=("LEASED",))
        head_key = op_key("HEAD", job_id, url=url)
        head_result = run_effect(
            conn,
            job_id=job_id,
            kind="HEAD",
            opkey=head_key,
            effect_fn=lambda: fetch_head(url)
        )

        # Stream/finalize
        advance_state(
            conn, job_id=job_id, to_state="STREAMING",
            allowed_from=("HEAD_DONE", "RESUME_OK")
        )
        stream_key = op_key("STREAM", job_id, url=url, range_start=0)
        stream_result = run_effect(
            conn,
            job_id=job_id,
            kind="STREAM",
            opkey=stream_key,
            effect_fn=lambda: stream_to_file(url)
        )

        # Finalize
        advance_state(
            conn, job_id=job_id, to_state="FINALIZED",
            allowed_from=("STREAMING",)
        )
        finalize_key = op_key("FINALIZE", job_id, sha256=stream_result["sha256"])
        finalize_result = run_effect(
            conn,
            job_id=job_id,
            kind="FINALIZE",
            opkey=finalize_key,
            effect_fn=lambda: finalize_artifact()
        )

        advance_state(
            conn, job_id=job_id, to_state="INDEXED",
            allowed_from=("FINALIZED",)
        )

    except Exception as e:
        advance_state(conn, job_id=job_id, to_state="FAILED", allowed_from=("LEASED", "HEAD_DONE", "STREAMING"))
        raise
    finally:
        release_lease(conn, job_id=job_id, owner="worker-1")

sys.stdout.write(" ".join(row[0] for row in conn.execute("select state from artifact_jobs")))
