"""A worker process of a proof.

    python -m proof.support.worker work     until nothing is due
    python -m proof.support.worker drain    until no job is active, moving the clock of the site meanwhile

With a point in its environment (see `crashing`) it kills itself there.
"""

from __future__ import annotations

import os
import socket
import sys

from proof.support.site import (
    BARRIER_VARIABLE,
    CONCURRENCY_VARIABLE,
    HOST_VARIABLE,
    QUEUES_VARIABLE,
    SCHEDULE_VARIABLE,
)
from proof.support.tasks import reached, work
from proof.support.workload import QUEUES

ROUNDS = 12
ROUND_SECONDS = 3600


def main() -> int:
    """Work, or die trying."""
    if host := os.environ.get(HOST_VARIABLE):
        socket.gethostname = lambda: host
    if SCHEDULE_VARIABLE in os.environ:
        work.keep_schedule()
    if BARRIER_VARIABLE in os.environ:
        work.begin_with_others()
    code = _drain() if sys.argv[1] == "drain" else _work()
    for point in sorted(reached):
        work.diary.write("reached", point=point)
    return code


def _work() -> int:
    queues = os.environ.get(QUEUES_VARIABLE, ",".join(QUEUES)).split(",")
    concurrency = int(os.environ.get(CONCURRENCY_VARIABLE, "1"))
    work.app.run_worker(until_empty=True, queues=queues, concurrency=concurrency)
    return 0


def _drain() -> int:
    for _ in range(ROUNDS):
        _work()
        counts = work.app.store.queues.counts()
        if not any(queue.due + queue.parked + queue.running for queue in counts):
            return 0
        work.site.clock.advance(ROUND_SECONDS)
    return 1


if __name__ == "__main__":
    sys.exit(main())
