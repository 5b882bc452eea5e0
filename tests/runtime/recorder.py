"""An observer that remembers what it was called with, and a worker of one thread for it to observe."""

from __future__ import annotations

from typing import Any

from haulwright import Haulwright, Observer
from haulwright.runtime.observers import CALLS

CANARY = "tw33t-tw33t-canary"


class Recorder(Observer):
    """Remembers every call, in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []

    @property
    def names(self) -> list[str]:
        """What was called, without what frames the whole."""
        return [call for call, _ in self.calls if not call.startswith("worker_") and call != "enqueued"]

    def of(self, call: str) -> list[Any]:
        return [event for name, event in list(self.calls) if name == call]


for _call in CALLS:
    setattr(Recorder, _call, lambda self, event, call=_call: self.calls.append((call, event)))


def drain(app: Haulwright, **options: Any) -> None:
    app.run_worker(until_empty=True, name="w1", concurrency=1, poll_interval=0.05, **options)
