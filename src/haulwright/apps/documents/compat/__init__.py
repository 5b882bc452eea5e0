"""The functions of the document, under their names and signatures, on a plain sqlite3 connection.

They stand on the tables of the engine: what is leased here no worker of Haulwright runs, and the other way round. Each
is a transaction of its own. What a lease allows is known by the connection that took it, never by its owner's name.
"""

from __future__ import annotations

from haulwright.apps.documents.compat.idempotency import job_key, op_key
from haulwright.apps.documents.compat.job_effects import get_effect_result, run_effect
from haulwright.apps.documents.compat.job_leasing import lease_next_job, release_lease, renew_lease
from haulwright.apps.documents.compat.job_planning import plan_job_if_absent
from haulwright.apps.documents.compat.job_reconciler import cleanup_stale_leases, cleanup_stale_ops, reconcile_jobs
from haulwright.apps.documents.compat.job_state import advance_state, get_current_state
from haulwright.apps.documents.compat.schema_migration import apply_migration

__all__ = [
    "advance_state",
    "apply_migration",
    "cleanup_stale_leases",
    "cleanup_stale_ops",
    "get_current_state",
    "get_effect_result",
    "job_key",
    "lease_next_job",
    "op_key",
    "plan_job_if_absent",
    "reconcile_jobs",
    "release_lease",
    "renew_lease",
    "run_effect",
]
