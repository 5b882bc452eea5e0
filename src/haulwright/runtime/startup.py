"""What is done before a worker claims anything. What cannot be right is refused here, before a job has suffered."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from haulwright.errors import DatabaseLost, DatabaseUnavailable, Refused, WorkerExists
from haulwright.runtime.backoff import Backoff
from haulwright.runtime.identity import is_gone

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright
    from haulwright.runtime.observers import Observers
    from haulwright.stores.store import Store
    from haulwright.stores.workers import Identity


def require_importable(app: Haulwright, queues: Collection[str]) -> None:
    """Refuse an app that no other process finds by name where a task of these queues needs a process of its own.

    When the task is declared this cannot be known: nobody has kept the app yet. Without such a task the worker works;
    a job whose worker died under it then has no process of its own either.
    """
    if app.find_address():
        return
    isolated = [task for task in app.tasks.values() if task.options.isolation == "process"]
    names = sorted(task.name for task in isolated if task.options.queue in queues)
    if names:
        message = f"No other process can import this app by name, which isolation='process' needs: {', '.join(names)}."
        hint = (
            "Keep what the factory returns in a variable of a module, app = make_app(), and start that: -A module:app"
        )
        raise Refused(message, hint=hint)


def require_exclusive(store: Store, identity: Identity) -> None:
    """Refuse a worker that is registered already where another one lives that came before it."""
    gone_ids = set(store.workers.gone_from(identity, is_gone))
    # Asked after we have said that we are here: of two that start at once, the one with the greater id goes.
    workers = store.workers.list()
    earlier = [worker for worker in workers if worker.id < identity.id and worker.id not in gone_ids]
    if earlier:
        store.workers.stopped(identity, 0)
        message = f"Worker {earlier[0].name} is alive (host {earlier[0].host}, process {earlier[0].pid})."
        raise WorkerExists(message, hint="Stop it first, or start this one without --exclusive.")


def retry_while_away(act: Callable[[], object], observers: Observers, stopping: threading.Event) -> None:
    """Do a thing, again and again while the database is away, unless somebody says stop."""
    backoff = Backoff()
    while not stopping.is_set():
        try:
            act()
        except DatabaseLost as lost:
            observers.database_lost(lost)  # which ends the worker
        except DatabaseUnavailable as trouble:
            wait = backoff.next()
            observers.troubled("start", trouble, wait)
            stopping.wait(wait)
        else:
            return
