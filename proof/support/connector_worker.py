"""A worker process for the tasks of `connectors`: until no job is active, moving the clock of the site meanwhile."""

from __future__ import annotations

import sys

from proof.support.connectors import app, site

ROUNDS = 20
ROUND_SECONDS = 60


def main() -> int:
    """Work, or die trying."""
    for _ in range(ROUNDS):
        app.run_worker(until_empty=True, concurrency=1)
        counts = app.store.queues.counts()
        if not any(queue.due + queue.parked + queue.running for queue in counts):
            return 0
        site.clock.advance(ROUND_SECONDS)
    return 1


if __name__ == "__main__":
    sys.exit(main())
