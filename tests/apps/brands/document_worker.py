"""The worker of the document, its loop and its execution as they stand there; only the imports are ours.

`python -m tests.apps.brands.document_worker NAME` is that worker as a process of its own, for one job.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from haulwright import Haulwright
from haulwright.apps import brands
from haulwright.apps.brands.compat import BrandBrain
from tests.apps.brands.scenes import ACME

# fmt: off


class Command:
    """Run BrandBrain compile worker."""

    def __init__(self, words: BrandBrain, worker_id: str) -> None:
        global release_stale_jobs, claim_next_job, execute_compile_job, complete_job, fail_job
        release_stale_jobs, claim_next_job = words.release_stale_jobs, words.claim_next_job
        execute_compile_job, complete_job, fail_job = words.execute_compile_job, words.complete_job, words.fail_job
        self._worker_id = worker_id
        self._shutdown_requested = False
        self.stdout = sys.stdout

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        poll_interval = options["poll_interval"]
        stale_check_interval = options["stale_check_interval"]
        max_jobs = options["max_jobs"]
        once = options["once"]

        jobs_processed = 0
        last_stale_check = time.monotonic()

        while not self._shutdown_requested:
            # Check for stale locks periodically
            now = time.monotonic()
            if now - last_stale_check >= stale_check_interval:
                released = release_stale_jobs()
                if released > 0:
                    self.stdout.write(f"Released {released} stale job(s)")
                last_stale_check = now

            # Try to claim a job
            result = claim_next_job(worker_id=self._worker_id)

            if result.claimed and result.job:
                job = result.job
                self._execute_job(job)
                jobs_processed += 1

                # Check exit conditions
                if once or (max_jobs > 0 and jobs_processed >= max_jobs):
                    break
            else:
                # No job available - sleep and retry
                time.sleep(poll_interval)

    def _execute_job(self, job: Any) -> None:
        """Execute a compile job."""
        try:
            params = job.params_json or {}
            force_refresh = params.get("force_refresh", False)

            execute_compile_job(
                compile_run_id=job.compile_run_id,
                force_refresh=force_refresh,
            )

            complete_job(job.id)
        except Exception as e:  # noqa: BLE001
            fail_job(job.id, str(e))


# fmt: on

if __name__ == "__main__":
    app = Haulwright()
    words = BrandBrain(brands.install(app), ACME)
    Command(words, sys.argv[1]).handle(poll_interval=0.05, stale_check_interval=0, max_jobs=0, once=True)
