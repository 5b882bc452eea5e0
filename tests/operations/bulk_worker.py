"""A worker whose app knows nothing of bulk actions, and that kills itself with -9 in the middle of one.

python bulk_worker.py URL MOMENT NTH
"""

from __future__ import annotations

import os
import signal
import sys
from itertools import count
from typing import Any

from haulwright import Haulwright
from haulwright.operations import bulk_run
from haulwright.stores.effects import Effects

url, moment, nth = sys.argv[1], sys.argv[2], int(sys.argv[3])
app = Haulwright(url)
bulk_run.PAGE_JOBS = 5


@app.task(name="fails")
def fails(sku: str) -> None:
    raise RuntimeError(sku)


def dying(function: Any, *, after: bool) -> Any:
    """The function, which ends this process at the call of that number."""
    calls = count(1)

    def call(*args: Any, **options: Any) -> Any:
        is_last = next(calls) == nth
        value = function(*args, **options) if after or not is_last else None
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)
        return value

    return call


if moment == "inside a page":
    bulk_run._act_on = dying(bulk_run._act_on, after=True)
elif moment == "behind a page":
    Effects.under = dying(Effects.under, after=True)  # type: ignore[method-assign] # no other run uses it here
app.run_worker(until_empty=True, concurrency=1, queues=["default"])
