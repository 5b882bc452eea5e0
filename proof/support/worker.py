"""A worker process of a proof.

    python -m proof.support.worker work              until nothing is due
    python -m proof.support.worker drain             until no job is active, moving the clock of the site meanwhile
    python -m proof.support.worker die POINT [NTH]   until it kills itself at a point
"""

from __future__ import annotations

import os
import socket
import sys

from proof.support.crashing import Death, watch
from proof.support.site import Site
from proof.support.workload import Workload, never

MODULE = "proof.support.worker"
HOST_VARIABLE = "PROOF_HOST"
"""Work under the name of another host, where nobody here can see a death."""
SCHEDULE_VARIABLE = "PROOF_SCHEDULE"
"""Declare the schedule, and open its slots."""
CONCURRENCY_VARIABLE = "PROOF_CONCURRENCY"
BARRIER_VARIABLE = "PROOF_BARRIER"
"""Say that it is ready, and wait for the flag below."""
BARRIER = "all are ready"
ROUNDS = 12
ROUND_SECONDS = 3600


def main() -> int:
    """Work, or die trying."""
    how, *said = sys.argv[1:]
    death = Death(said[0], int(said[1]) if said[1:] else 1) if how == "die" else None
    if death:
        watch(death.reach)
    if host := os.environ.get(HOST_VARIABLE):
        socket.gethostname = lambda: host
    work = Workload(Site.from_environment(), death.reach if death else never)
    if SCHEDULE_VARIABLE in os.environ:
        work.keep_schedule()
    if BARRIER_VARIABLE in os.environ:
        work.diary.write("worker.ready")
        work.wait_for(BARRIER)
    return _drain(work) if how == "drain" else _work(work)


def _work(work: Workload) -> int:
    work.app.run_worker(until_empty=True, concurrency=int(os.environ.get(CONCURRENCY_VARIABLE, "1")))
    return 0


def _drain(work: Workload) -> int:
    for _ in range(ROUNDS):
        _work(work)
        counts = work.app.store.queues.counts()
        if not any(queue.due + queue.parked + queue.running for queue in counts):
            return 0
        work.site.clock.advance(ROUND_SECONDS)
    return 1


if __name__ == "__main__":
    sys.exit(main())
