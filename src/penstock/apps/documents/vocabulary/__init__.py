"""The functions of the document, under their names and signatures, on a plain sqlite3 connection.

They stand on the tables of the engine: what is leased here no worker of Penstock runs, and the other way round. Each is
a transaction of its own. What a lease allows is known by the connection that took it, never by the name of its owner.
"""

from __future__ import annotations

from penstock.apps.documents.vocabulary.idempotency import job_key, op_key
from penstock.apps.documents.vocabulary.job_effects import get_effect_result, run_effect
from penstock.apps.documents.vocabulary.job_leasing import lease_next_job, release_lease, renew_lease
from penstock.apps.documents.vocabulary.job_planning import plan_job_if_absent
from penstock.apps.documents.vocabulary.job_reconciler import cleanup_stale_leases, cleanup_stale_ops, reconcile_jobs
from penstock.apps.documents.vocabulary.job_state import advance_state, get_current_state
from penstock.apps.documents.vocabulary.schema_migration import apply_migration

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
