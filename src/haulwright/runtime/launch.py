"""Runs a worker in this process, and tells whoever asked for it why it ended by itself."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from itertools import count
from typing import TYPE_CHECKING, Any

from haulwright.engine.unknown_options import refuse_options
from haulwright.runtime.log_lines import tell_stopping
from haulwright.runtime.options import WorkerOptions
from haulwright.runtime.process import stopped_by_signals
from haulwright.runtime.worker import Worker
from haulwright.settings import Settings

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright


def run_worker(app: Haulwright, *, settings: Settings | None = None, signals: bool = False, **options: Any) -> int:
    """Run a worker in this process; returns the jobs it took. With `signals`, SIGTERM and SIGINT drain it.

    Raises `ThreadsLost` where tasks that never return took half of its threads, `WorkerBroken` where a part of it did
    nothing but fail, and `SchemaMismatch` where the schema became newer than this code: it has drained, and must be
    replaced. Raises `DatabaseLost` where the file of its database was replaced, deleted or damaged under it.
    """
    refuse_options("run_worker", options, [*WorkerOptions.__dataclass_fields__, "settings", "signals"])
    settings = settings or Settings.load()
    defaults = {
        "queues": tuple(name.strip() for name in str(settings["queues"]).split(",") if name.strip()),
        "concurrency": settings["concurrency"],
        "poll_interval": settings["poll_interval_seconds"],
        "grace": settings["grace_seconds"],
        "name": settings["worker_name"],
    }
    worker = Worker(app, WorkerOptions(**{**defaults, **options}), settings)
    with stopped_by_signals(_told_stop(worker)) if signals else nullcontext():
        runs = worker.run()
    if worker.lost_database is not None:
        raise worker.lost_database
    if worker.exhausted is not None:
        raise worker.exhausted
    return runs


def _told_stop(worker: Worker) -> Callable[[], None]:
    """What a signal does: stop, and say what that means, for silence would look as if it had not been heard."""
    signals = count()

    def stop() -> None:
        again = next(signals) > 0
        tell_stopping(worker.count_held(), worker.options.grace, again=again)
        worker.stop()

    return stop
