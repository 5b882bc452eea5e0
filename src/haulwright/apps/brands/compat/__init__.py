"""The words of the document that brands come from: its states, its results and its functions, on the fenced engine.

    words = BrandBrain(brands, Principal.of_tenant(tenant))
    words.enqueue_compile_job(brand_id, compile_run_id)
    claimed = words.claim_next_job()

A caller that lost its lease hears False and changes nothing, whatever it was about to write.
"""

from __future__ import annotations

from haulwright.apps.brands.compat.apify_client import ApifyClient, RunInfo
from haulwright.apps.brands.compat.brand_brain import NO_JOB, TAKEN, BrandBrain
from haulwright.apps.brands.compat.results import (
    BrandBrainJob,
    BrandBrainJobStatus,
    ClaimResult,
    EnqueueResult,
    IngestionResult,
)
from haulwright.apps.brands.compile_status import STATUSES, retry_count, status_of
from haulwright.apps.brands.retry import BACKOFF_BASE_SECONDS, BACKOFF_MULTIPLIER, DEFAULT_STALE_LOCK_MINUTES
from haulwright.apps.brands.settings import DEFAULT_POLL_INTERVAL_S, DEFAULT_POLL_TIMEOUT_S
from haulwright.sources.apify import ApifyError, ApifyTimeoutError

__all__ = [
    "BACKOFF_BASE_SECONDS",
    "BACKOFF_MULTIPLIER",
    "DEFAULT_POLL_INTERVAL_S",
    "DEFAULT_POLL_TIMEOUT_S",
    "DEFAULT_STALE_LOCK_MINUTES",
    "NO_JOB",
    "STATUSES",
    "TAKEN",
    "ApifyClient",
    "ApifyError",
    "ApifyTimeoutError",
    "BrandBrain",
    "BrandBrainJob",
    "BrandBrainJobStatus",
    "ClaimResult",
    "EnqueueResult",
    "IngestionResult",
    "RunInfo",
    "retry_count",
    "status_of",
]
