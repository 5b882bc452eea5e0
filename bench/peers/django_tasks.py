"""Django tasks with the database backend of django-tasks-db, on SQLite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import django
from django.conf import settings

from bench.hits import counter
from bench.payload import chunks
from bench.peers import ADDRESS

DISTRIBUTIONS = ("django", "django-tasks", "django-tasks-db")
FILE = Path(ADDRESS.removeprefix("sqlite:///"))
hit = counter()
settings.configure(
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": str(FILE),
            "CONN_MAX_AGE": None,
            "OPTIONS": {
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
                "init_command": "pragma journal_mode = wal; pragma synchronous = full;",
            },
        }
    },
    INSTALLED_APPS=["django_tasks", "django_tasks_db"],
    USE_TZ=True,
    SECRET_KEY="not a secret",  # noqa: S106 - nothing is signed with it
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    TASKS={"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}},
)
django.setup()

from django.core.management import call_command  # noqa: E402 - needs the settings
from django.db import connection, transaction  # noqa: E402
from django_tasks import task  # noqa: E402
from django_tasks_db.models import DBTaskResult  # noqa: E402


@task()
def noop(item: dict[str, Any]) -> None:
    """Nothing."""
    hit()


def reset() -> None:
    """Empty tables."""
    connection.close()
    for suffix in ("", "-wal", "-shm"):
        FILE.with_name(FILE.name + suffix).unlink(missing_ok=True)
    call_command("migrate", verbosity=0)


def fill(count: int) -> None:
    """Enqueue lists in transactions, for there is no bulk call."""
    for items in chunks(count):
        with transaction.atomic():
            for item in items:
                noop.enqueue(item)


def unfinished() -> bool:
    """A finished task has another status."""
    return bool(DBTaskResult.objects.filter(status__in=["READY", "RUNNING"]).exists())


def work(setting: dict[str, Any]) -> None:
    """Its worker."""
    call_command("db_worker", interval=setting["interval"], startup_delay=False, verbosity=0, reload=False)
