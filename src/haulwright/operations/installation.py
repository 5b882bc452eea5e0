"""What an installation stands on: the interpreter, the settings, the app, the place of the database."""

from __future__ import annotations

import platform
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from haulwright.errors import HaulwrightError, InvalidPayload, InvalidValue
from haulwright.operations.app_slips import source_slips
from haulwright.operations.findings import Finding, ok, problem, warn
from haulwright.stores.migrations import ENGINE
from haulwright.stores.sqlite.connection import OLDEST_VERSION
from haulwright.stores.sqlite.filesystem import file_system_of, in_temporary_folder

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright
    from haulwright.client.task import Task
    from haulwright.settings import Settings
    from haulwright.stores.store import Store

SPARE_BYTES = 200 * 1024 * 1024
"""Below this much free disk a write may soon fail."""


def look_at_python() -> Iterator[Finding]:
    """The interpreter, and the SQLite that came with it."""
    versions = f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    if sqlite3.sqlite_version_info < OLDEST_VERSION:
        oldest = ".".join(map(str, OLDEST_VERSION[:2]))
        sentence = f"{versions}: too old to be used as the database, which needs {oldest}"
        yield warn("python", sentence, "Use PostgreSQL.")
    else:
        yield ok("python", versions)


def look_at_settings(settings: Settings) -> Iterator[Finding]:
    """Those that differ from their default, and who said so."""
    for setting in settings.all():
        if setting.origin != "default":
            yield ok("settings", f"{setting.figure.name} = {setting.shown} (from {setting.origin})")
    for name, hint in settings.unknown_variables():
        yield warn("settings", f"the environment sets {name}, which is no setting: it has no effect", hint)


def look_at_app(app: Haulwright, settings: Settings, error: HaulwrightError | None) -> Iterator[Finding]:
    """Whether the app that is named can be used, and each of its tasks be called."""
    if error is not None:
        raise error
    if not settings["app"]:
        hint = "Give -A package.module:app, or set HAULWRIGHT_APP; a worker needs it."
        yield warn("app", "no app is named: only what needs the database alone can be done", hint)
        return
    counts = f"{_count(len(app.tasks), 'task')} and {_count(len(app.schedules), 'schedule')}"
    yield ok("app", f"{settings['app']} has {counts}")
    for sentence, hint in source_slips(app):
        yield warn("source", sentence, hint)
    for task in app.tasks.values():
        if trouble := _signature_trouble(task):
            yield problem("task", trouble.message, trouble.hint)


def look_at_database(store: Store) -> Iterator[Finding]:
    """What the database is, and where: a file needs a place that stays, and room."""
    kind = store.integrity.kind()
    path: Path | None = getattr(store.database, "path", None)
    if path is None:
        yield ok("database", kind)
        if trouble := encoding_trouble(store.integrity.encoding()):
            yield warn(
                "encoding", trouble, "Make a database with: create database NAME encoding 'UTF8' template template0"
            )
        return
    place = f"{kind}, file {path.resolve()}, file system {file_system_of(path.parent) or 'not known'}"
    if in_temporary_folder(path):
        sentence = f"{place}: a temporary folder, which the system may clean"
        yield warn("database", sentence, "Move it to a folder that stays.")
    else:
        yield ok("database", place)
    free = shutil.disk_usage(path.resolve().parent).free
    room = f"{free // 1024**2} MiB free on the disk of the database"
    yield ok("disk", room) if free >= SPARE_BYTES else problem("disk", room, "Free some space before writes fail.")


def look_at_second_wall(store: Store, tables: Sequence[str]) -> Iterator[Finding]:
    """Whether the server itself keeps requests of one tenant from the rows of others; a file has no such thing."""
    if store.database.dialect != "postgres":
        return
    from haulwright.stores.postgres.wall import look_at_wall  # noqa: PLC0415 - the driver is optional

    wall = look_at_wall(store.database, (ENGINE, *tables))
    if wall.is_up:
        yield ok("wall", f"row-level security stands behind the requests of tenants, with the role {wall.role}")
    else:
        sentence = f"no row-level security stands behind the requests of tenants: {wall.reason}"
        yield warn("wall", sentence, wall.remedy)


def encoding_trouble(encoding: str) -> str | None:
    """What an encoding of the database other than UTF-8 means for us; None where it is that."""
    if encoding == "UTF8":
        return None
    return f"the server keeps text in {encoding}, and does not look at it: all of ours is UTF-8 all the same"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


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
