"""The typical usage of the document, as a process that dies where it is told to: typical_loop.py FOLDER [KIND]."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any

from haulwright.apps.documents.compat import (
    advance_state,
    apply_migration,
    cleanup_stale_leases,
    get_current_state,
    lease_next_job,
    op_key,
    plan_job_if_absent,
    release_lease,
    renew_lease,
    run_effect,
)

folder, dies_at = Path(sys.argv[1]), sys.argv[2]


def act(kind: str) -> dict[str, Any]:
    """Do something to the outside world, and perhaps die before anybody heard of it."""
    with (folder / "done").open("a") as done:
        done.write(f"{kind}\n")
    if kind == dies_at:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"code": "OK", "sha256": "abc123"}


conn = sqlite3.connect(folder / "manifest.sqlite3")
conn.row_factory = sqlite3.Row
apply_migration(conn)
cleanup_stale_leases(conn)
planned = plan_job_if_absent(
    conn, work_id="work-123", artifact_id="arxiv-2024-001", canonical_url="https://api.example/pdf/2024.00001v1"
)

while job := lease_next_job(conn, owner="worker-1", ttl_s=120):
    job_id, url = job["job_id"], job["canonical_url"]
    try:
        advance_state(conn, job_id=job_id, to_state="HEAD_DONE", allowed_from=("LEASED",))
        head_key = op_key("HEAD", job_id, url=url)
        run_effect(conn, job_id=job_id, kind="HEAD", opkey=head_key, effect_fn=lambda: act("HEAD"))
        advance_state(conn, job_id=job_id, to_state="STREAMING", allowed_from=("HEAD_DONE", "RESUME_OK"))
        stream_key = op_key("STREAM", job_id, url=url, range_start=0)
        stream = run_effect(conn, job_id=job_id, kind="STREAM", opkey=stream_key, effect_fn=lambda: act("STREAM"))
        renew_lease(conn, job_id=job_id, owner="worker-1")
        advance_state(conn, job_id=job_id, to_state="FINALIZED", allowed_from=("STREAMING",))
        finalize_key = op_key("FINALIZE", job_id, sha256=stream["sha256"])
        run_effect(conn, job_id=job_id, kind="FINALIZE", opkey=finalize_key, effect_fn=lambda: act("FINALIZE"))
        advance_state(conn, job_id=job_id, to_state="INDEXED", allowed_from=("FINALIZED",))
    except Exception:
        failing = ("LEASED", "HEAD_DONE", "STREAMING")
        advance_state(conn, job_id=job_id, to_state="FAILED", allowed_from=failing)
        raise
    finally:
        release_lease(conn, job_id=job_id, owner="worker-1")

sys.stdout.write(get_current_state(conn, planned))
