"""The worker of the document by hand, as a process of its own: it reclaims, claims, says that it lives, and marks.

Its states and transitions are the document's: pending to running by `claim_next_pending_job`, then succeeded, or
pending again where no heartbeat came within JOB_LOCK_TIMEOUT_SECONDS.
"""

from __future__ import annotations

import sys
import time

from haulwright import Haulwright
from haulwright.apps import prices
from haulwright.apps.prices.compat import ScrapeWorker

CLAIMED = "claimed"
ROUNDS = 2_000
"""More than the patience of a test."""
PAUSE_SECONDS = 0.1


def main(most: int) -> None:
    """Work until nothing is left, or stand still with the job after so many."""
    app = Haulwright()
    worker = ScrapeWorker(prices.install(app))
    done = 0
    for _ in range(ROUNDS):
        worker.reclaim_stuck_jobs()
        job = worker.claim_next_pending_job()
        if job is None:
            if not _left(app):
                break
            time.sleep(PAUSE_SECONDS)
            continue
        if done == most:
            sys.stdout.write(f"{CLAIMED} {job['id']}\n")
            sys.stdout.flush()
            sys.stdin.read()  # until it is killed
        assert worker.heartbeat(job["id"])
        assert worker.mark_succeeded(job["id"])
        done += 1
    app.close()


def _left(app: Haulwright) -> int:
    statement = "select count(*) from scrape_jobs where status in ('pending', 'running', 'retryable')"
    return int(app.store.database.read(lambda connection: connection.execute(statement))[0][0])


if __name__ == "__main__":
    main(int(sys.argv[1]))
