"""A client: enqueues one job after the other until it is told to stop, and writes down what it was told.

python -m proof.backups.client FLAG
"""

from __future__ import annotations

import sys
import time
from contextlib import closing
from itertools import cycle

from haulwright.errors import DatabaseProblem
from proof.support.site import Site
from proof.support.workload import Workload

PACE_SECONDS = 0.01


def main(flag: str) -> int:
    """Enqueue until the flag is up. Nothing is tried again: what became of it is for the drill to count."""
    site = Site.from_environment()
    with closing(Workload(site)) as work:
        for task in cycle((work.note, work.settling, work.pipeline, work.note)):
            if site.has_flag(flag):
                return 0
            call = task.call(0)
            work.diary.write("enqueue.intent", call.job.id)
            try:
                work.app.enqueue_many([call])
            except DatabaseProblem as problem:
                work.diary.write("refused", call.job.id, kind=problem.code)
            else:
                work.diary.write("enqueue.ok", call.job.id)
            time.sleep(PACE_SECONDS)
    raise AssertionError  # the cycle has no end


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
