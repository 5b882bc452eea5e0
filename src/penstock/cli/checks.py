"""The checks of `penstock doctor`, from the machine up to the work. None of them changes anything."""

from __future__ import annotations

import platform
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.cli.findings import Finding, ask, ok, problem, warn
from penstock.cli.integrity import kind_of
from penstock.cli.jobs import stuck_jobs
from penstock.client.desk import Desk
from penstock.clock import SECOND, host_now
from penstock.engine.words import spell
from penstock.errors import InvalidPayload, InvalidValue, PenstockError
from penstock.stores import migrations
from penstock.stores.listing import JobFilter
from penstock.stores.sqlite.connection import OLDEST_VERSION
from penstock.stores.sqlite.filesystem import file_system_of, in_temporary_folder

if TYPE_CHECKING:
    from penstock.cli.site import Site
    from penstock.client.task import Task
    from penstock.stores.store import Store

SPARE_BYTES = 200 * 1024 * 1024
"""Below this much free disk a write may soon fail."""
SKEW_SECONDS = 2.0
"""A host whose clock differs more from the database's shows times that mislead; no lease depends on it."""
LATE_SECONDS = 300.0
"""A job that is due for longer says that there are not enough workers."""


def examine(site: Site) -> list[Finding]:
    """Every check, in order; those of the work only where the database can be read."""
    found = [
        *ask("python", _python),
        *ask("settings", lambda: list(_settings(site))),
        *ask("app", lambda: list(_app(site))),
    ]
    try:
        store = site.untouched
    except PenstockError as error:
        return [*found, problem("database", error.message, error.hint)]
    if store is None:
        return [*found, warn("database", "there is no database yet: it is made on first use")]
    found += [*ask("database", lambda: list(_place(store))), *ask("schema", lambda: list(_schema(store)))]
    if not any(one.check in {"database", "schema"} and one.level == "problem" for one in found):
        found += [*ask("clock", lambda: _clock(store)), *ask("work", lambda: list(_work(site, store)))]
    return found


def _python() -> list[Finding]:
    told = f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    if sqlite3.sqlite_version_info < OLDEST_VERSION:
        oldest = ".".join(map(str, OLDEST_VERSION[:2]))
        return [warn("python", f"{told}: too old to be used as the database, which needs {oldest}", "Use PostgreSQL.")]
    return [ok("python", told)]


def _settings(site: Site) -> Iterator[Finding]:
    for setting in site.settings.all():
        if setting.origin != "default":
            yield ok("settings", f"{setting.figure.name} = {setting.shown} (from {setting.origin})")


def _app(site: Site) -> Iterator[Finding]:
    if not site.settings["app"]:
        hint = "Give -A package.module:app, or set PENSTOCK_APP; a worker needs it."
        yield warn("app", "no app is named: only what needs the database alone can be done", hint)
        return
    tasks = site.app.tasks
    yield ok("app", f"{site.settings['app']} has {len(tasks)} tasks and {len(site.app.schedules)} schedules")
    for task in tasks.values():
        if trouble := _signature_trouble(task):
            yield problem("task", trouble.message, trouble.hint)


def _signature_trouble(task: Task[..., Any]) -> InvalidValue | None:
    """What is wrong with the annotations of a task, which only shows when it is first called."""
    try:
        _ = task.signature.result
        task.signature.dump_plain({})
    except InvalidPayload:
        return None  # an argument is missing, as it should be
    except InvalidValue as trouble:
        return trouble
    return None


def _place(store: Store) -> Iterator[Finding]:
    kind = kind_of(store)
    path: Path | None = getattr(store.database, "path", None)
    if path is None:
        yield ok("database", kind)
        return
    told = f"{kind}, file {path.resolve()}, file system {file_system_of(path.parent) or 'not known'}"
    if in_temporary_folder(path):
        yield warn(
            "database", f"{told}: a temporary folder, which the system may clean", "Move it to a folder that stays."
        )
    else:
        yield ok("database", told)
    free = shutil.disk_usage(path.resolve().parent).free
    told = f"{free // 1024**2} MiB free on the disk of the database"
    yield ok("disk", told) if free >= SPARE_BYTES else problem("disk", told, "Free some space before writes fail.")


def _schema(store: Store) -> Iterator[Finding]:
    state = migrations.status(store.database)
    if state.current:
        yield ok("schema", f"version {state.applied}, current")
    elif store.database.dialect == "sqlite":
        yield problem("schema", f"version {state.applied} of {state.known}", "penstock db migrate, or start a worker.")
    else:
        yield problem("schema", f"version {state.applied} of {state.known}", "penstock db migrate")


def _clock(store: Store) -> list[Finding]:
    before = host_now()
    theirs = store.now()
    skew = (theirs - (before + host_now()) / 2) / SECOND
    if abs(skew) > SKEW_SECONDS:
        told = f"the database's clock is {spell(abs(skew))} {'ahead of' if skew > 0 else 'behind'} this host's"
        return [
            warn("clock", told, "Leases are safe, for only its clock counts; set the host's clock right all the same.")
        ]
    return [ok("clock", "this host and the database agree about the time")]


def _work(site: Site, store: Store) -> Iterator[Finding]:
    workers = store.workers.list()
    serving = Counter(queue for worker in workers for queue in worker.queues)
    told = ", ".join(f"{queue} ({count})" for queue, count in sorted(serving.items()))
    yield ok("workers", f"{len(workers)} live; queues served: {told}") if workers else warn("workers", "no live worker")
    yield from _queues(store, serving)
    yield from _leases(site, store, alive=bool(workers))


def _queues(store: Store, serving: Counter[str]) -> Iterator[Finding]:
    now = store.now()
    for queue in store.queues.counts():
        if queue.paused_at is not None:
            told = f"the queue {queue.name!r} is paused, with {queue.due} due jobs"
            yield warn("queue", told, f"penstock queue resume {queue.name}")
        elif queue.due and not serving[queue.name]:
            told = f"the queue {queue.name!r} has {queue.due} due jobs and no live worker"
            yield problem("queue", told, f"penstock worker --queues {queue.name}")
        elif queue.oldest is not None and (now - queue.oldest) / SECOND > LATE_SECONDS:
            told = f"the oldest job of the queue {queue.name!r} is due for {spell((now - queue.oldest) // SECOND)}"
            yield warn("queue", told, "Start more workers, or look at what they do: penstock job list --state running")
        else:
            yield ok("queue", f"{queue.name!r}: {queue.due} due, {queue.parked} parked, {queue.running} running")


def _leases(site: Site, store: Store, *, alive: bool) -> Iterator[Finding]:
    now = store.now()
    stuck = stuck_jobs(Desk(store, site.principal()), JobFilter(), now, 1000).jobs
    if not stuck:
        yield ok("leases", "no lease has run out")
        return
    silence = spell((now - (stuck[0].heartbeat_at or now)) // SECOND)
    told = f"{len(stuck)} leases have run out, the longest without a heartbeat for {silence}: job {stuck[0].id}"
    if alive:
        yield warn("leases", told, "The next sweep of a live worker takes them back.")
    else:
        yield problem("leases", told, "Start a worker: it takes them back.")
