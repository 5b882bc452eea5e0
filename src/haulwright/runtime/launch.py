"""Runs a worker in this process, and tells whoever asked for it why it ended by itself."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from haulwright.engine.unknown_options import refuse_options
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
    with stopped_by_signals(worker.stop) if signals else nullcontext():
        runs = worker.run()
    if worker.lost_database is not None:
        raise worker.lost_database
    if worker.exhausted is not None:
        raise worker.exhausted
    return runs
