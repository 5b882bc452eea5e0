"""The log lines of paid runs and stale locks, in the document's words: each after the transaction that makes it so."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from haulwright.clock import SECOND
from haulwright.engine.transitions import State
from haulwright.runtime.failure import failure_of
from haulwright.sources.apify import ActorRun, ApifyTimeoutError

if TYPE_CHECKING:
    from haulwright.apps.brands.evidence.normalization import NormalizationCounts
    from haulwright.apps.brands.rows import PaidRun
    from haulwright.errors import RunError
    from haulwright.stores.recovery import Reaped

logger: Final = logging.getLogger("haulwright.brands")


def log_start(run: PaidRun) -> None:
    """A run has begun at Apify."""
    logger.info("Started Apify run %s (apify_run_id=%s) for %s", run.id, run.actor_run_id, run.connection_id)


def log_look(run: PaidRun, look: ActorRun | RunError, elapsed_us: int, timeout_seconds: float) -> None:
    """A run goes on: told once, and then for those who want to know all."""
    if run.polled_at is None:
        logger.info("Polling run: run_id=%s, timeout_s=%d", run.actor_run_id, timeout_seconds)
    status = look.status if isinstance(look, ActorRun) else failure_of(look).message
    elapsed = elapsed_us / SECOND
    logger.debug("Run still in progress: run_id=%s, status=%s, elapsed=%.1fs", run.actor_run_id, status, elapsed)


def log_completion(actor_run: ActorRun) -> None:
    """A run is over at Apify, however it ended."""
    logger.info("Run completed: run_id=%s, status=%s", actor_run.id, actor_run.status)


def log_storage(run: PaidRun) -> None:
    """The raw items of a run are here."""
    logger.info("Stored %d raw items for ApifyRun %s", run.raw_item_count, run.id)


def log_normalization(run: PaidRun, counts: NormalizationCounts) -> None:
    """The items of a run are normalized, or most of them cannot be used."""
    if counts.error is not None:
        logger.warning("Normalization failed for %s: %s", run.connection_id, counts.error)
        return
    logger.info(
        "Normalization complete for ApifyRun %s: created=%d, updated=%d", run.id, counts.created, counts.updated
    )


def log_failure(connection_id: str, error: Exception) -> None:
    """A source could not be brought in."""
    word = "timed out" if isinstance(error, ApifyTimeoutError) else "failed"
    logger.warning("Ingestion %s for %s: %s", word, connection_id, failure_of(error).message)


def log_stale_lock(lost: Reaped) -> None:
    """A job was taken back from somebody who holds it no more."""
    if lost.state is State.QUEUED:
        logger.info("Released stale job %s for retry (was locked by %s)", lost.id, lost.worker_name)
    else:
        logger.warning("Job %s failed due to stale lock after max attempts", lost.id)
