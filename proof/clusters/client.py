"""A client of a cluster: enqueues one job after the other until it is told to stop, and writes down what it was told.

python -m proof.clusters.client
"""

from __future__ import annotations

import sys
import time
from contextlib import closing
from itertools import cycle

from haulwright.client.task import Task
from haulwright.errors import DatabaseUnavailable
from proof.support.site import Site
from proof.support.workload import Workload

LOAD_ENDS = "the load ends"
PACE_SECONDS = 0.02
AFTER_TROUBLE_SECONDS = 0.1


def main() -> int:
    """Enqueue until the flag is up. Nothing is tried again: whether it happened after all is for the checker."""
    site = Site.from_environment()
    with closing(Workload(site)) as work:
        for task in cycle((work.note, work.settling, work.pipeline, work.failing)):
            if site.has_flag(LOAD_ENDS):
                return 0
            time.sleep(PACE_SECONDS if _is_enqueued(work, task) else AFTER_TROUBLE_SECONDS)
    raise AssertionError  # the cycle has no end


def _is_enqueued(work: Workload, task: Task[..., int]) -> bool:
    call = task.call(0)
    work.diary.write("enqueue.intent", call.job.id)
    try:
        work.app.enqueue_many([call])
    except DatabaseUnavailable as trouble:
        work.diary.write("refused", call.job.id, unknown=trouble.outcome_unknown)
        return False
    except Exception as error:  # noqa: BLE001 - what no client should see is told by name
        work.diary.write("stray", call.job.id, kind=f"{type(error).__module__}.{type(error).__name__}: {error}")
        return False
    work.diary.write("enqueue.ok", call.job.id, at=time.time())
    return True


if __name__ == "__main__":
    sys.exit(main())
