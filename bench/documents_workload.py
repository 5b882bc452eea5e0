"""Documents as a contender: many small files or a large one, from a host on loopback into the store, politeness off."""

from __future__ import annotations

import os
import shutil
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import workload
from bench.hits import FILE_VARIABLE
from haulwright import Principal
from haulwright.apps.documents import Documents, Item
from haulwright.apps.documents.settings import DocumentSettings
from haulwright.clock import SECOND
from haulwright.runtime.launch import run_worker
from haulwright.stores import migrations

TENANT = "bench"
POLITENESS_OFF: dict[str, Any] = {"host_rate": "1000000/s", "host_burst": 10_000, "host_concurrency": 10_000}
_FOLDER = Path(os.environ.get(FILE_VARIABLE, "bench")).parent / "content"

app = workload.app
documents = Documents(
    app, figures=DocumentSettings.load(**POLITENESS_OFF, folder=str(_FOLDER), private_hosts="127.0.0.1")
)
_counts: Counter[str] = Counter()
_counting = threading.Lock()


def reset() -> None:
    """No table has a row, and the store has no file."""
    workload.reset()
    migrations.migrate(workload.database(), "haulwright.apps.documents")
    shutil.rmtree(_FOLDER, ignore_errors=True)


def fill(host: str, count: int, size: int, path: str) -> None:
    """Plan so many documents of the host."""
    items = [Item(f"{host}/{path.format(number)}?size={size}") for number in range(count)]
    documents._planning.plan(TENANT, items)  # noqa: SLF001 - one transaction for a hundred, as an import


def left() -> int:
    """How many documents have not come to an end."""
    ((count,),) = workload.rows("select count(*) from haulwright_jobs")
    return int(count)


def seconds() -> float:
    """From the first claim to the end of the last."""
    ((first, last),) = workload.rows("select min(leased_at), max(finished_at) from haulwright_history")
    return float(last - first) / SECOND


def states() -> dict[str, int]:
    """How the documents ended."""
    return documents.count_states(Principal.of_tenant(TENANT))


def work(setting: dict[str, Any]) -> None:
    """Run a worker that counts what it asks of the database."""
    database = type(app.store.database)
    for name in ("transact", "read", "run_single", "run_nondurable"):
        _count(database, name, "transactions")
    with_statements: list[type] = []
    app.store.database.read(lambda connection: with_statements.append(type(connection)))
    for name in ("run", "run_batch", "execute"):
        _count(with_statements[0], name, "statements")
    run_worker(app, queues=("documents",), **setting)


ANSWERS: dict[str, Callable[[], Any]] = {"counts": lambda: dict(_counts)}
"""What a worker is asked while it works."""


def _count(kind: type, name: str, unit: str) -> None:
    real = getattr(kind, name)

    def counted(*args: Any, **options: Any) -> Any:
        with _counting:
            _counts[unit] += 1
        return real(*args, **options)

    setattr(kind, name, counted)
