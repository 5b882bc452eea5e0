"""A client of the chaos: enqueues jobs of every kind until it is told to stop, and writes down what it was told.

python -m proof.chaos.client SEED
"""

from __future__ import annotations

import sys
import time
import uuid
from contextlib import closing
from random import Random
from typing import Any

from haulwright.client.task import Call
from haulwright.errors import DatabaseUnavailable
from proof.chaos.load import KEYS, Load
from proof.support.site import Site

LOAD_ENDS = "the load ends"
PACE_SECONDS = 0.2
AFTER_TROUBLE_SECONDS = 0.1
TRIES = 50
MIX = {
    "note": 6, "settling": 4, "pipeline": 2, "failing": 2, "snoozing": 2, "isolated": 1, "joining": 1, "visiting": 2,
    "lasting": 3, "looping": 3, "keyed": 3,
}  # fmt: skip
"""How often each task is called, beside the others."""


class Client:
    """One process that enqueues."""

    def __init__(self, load: Load, seed: int) -> None:
        self._load = load
        self._rng = Random(seed)

    def enqueue_some(self) -> None:
        """Enqueue one job; of those that have a key, a client may ask again until it knows."""
        (name,) = self._rng.choices(list(MIX), list(MIX.values()))
        task = getattr(self._load, name)
        if name == "keyed":
            key = f"key {self._rng.randrange(KEYS)}"
            self._is_told(task.call(key), key)
        elif self._rng.random() < 0.2:
            plan = f"plan {uuid.uuid4()}"
            tries = (self._is_told(task.using(job_key=plan).call(0), plan) for _ in range(TRIES))
            next((told for told in tries if told), None)
        else:
            self._is_told(task.call(0))

    def _is_told(self, call: Call[Any], key: str | None = None) -> bool:
        """Enqueue once, and write down the answer; False where there was none."""
        diary = self._load.diary
        diary.write("enqueue.intent", call.job.id)
        try:
            (handle,) = self._load.app.enqueue_many([call])
        except DatabaseUnavailable as trouble:
            diary.write("refused", call.job.id, unknown=trouble.outcome_unknown, key=key)
            time.sleep(AFTER_TROUBLE_SECONDS)
            return False
        except Exception as error:  # noqa: BLE001 - what no client should see is told by name
            diary.write("stray", call.job.id, kind=f"{type(error).__module__}.{type(error).__name__}: {error}")
            time.sleep(AFTER_TROUBLE_SECONDS)
            return True
        diary.write("enqueue.ok", handle.id, created=handle.created, key=key, at=time.time())
        return True


def main(seed: int) -> int:
    """Enqueue until the flag is up."""
    site = Site.from_environment()
    with closing(Load(site)) as load:
        client = Client(load, seed)
        while not site.has_flag(LOAD_ENDS):
            client.enqueue_some()
            time.sleep(PACE_SECONDS)
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
