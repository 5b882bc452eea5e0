"""The stage of the demo: the outside world, a database, and worker processes that can be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import penstock
from penstock.apps import APPLICATIONS
from penstock.apps.application import application
from penstock.cli.acts.act import World
from penstock.cli.acts.place import place
from penstock.client.app import Penstock
from penstock.engine.transitions import State
from penstock.errors import PenstockError
from penstock.runtime.supervisor import SUPERVISOR_VARIABLE
from penstock.sandbox import Sandbox
from penstock.stores import migrations
from penstock.stores.listing import PAGE_LIMIT, JobFilter
from penstock.stores.opening import open_database

TENANT: Final = "acme"
QUEUES: Final = "brands,syncs,brief,prices,documents,documents-upkeep"
PATIENCE_SECONDS: Final = 90.0
"""After this long a demo that should take half a minute has failed."""
LOOK_EVERY_SECONDS: Final = 0.1
ARRIVE_SECONDS: Final = 0.2
"""So long after a worker was stopped, what it had sent has arrived at the database."""
_OURS: Final = (
    "PENSTOCK_",
    "DATABASE_URL",
    "WORKER_ID",
    "APIFY_",
    "AIRBYTE_",
    "SYNCS_",
    "OPENAI_",
    "CACHE_",
    "JOB_LOCK_",
)
_FAST: Final = {
    "PENSTOCK_BRANDS_POLL_INTERVAL_SECONDS": "0.5",
    "PENSTOCK_BRANDS_LAG_SECONDS": "1",
    "SYNCS_POLL": "1 s",
    "SYNCS_MIN_INTERVAL": "1 s",
    "SYNCS_ACCOUNT_RATE": "60/min",
    "SYNCS_API_RATE": "1200/min",
    "PENSTOCK_BRIEF_FEED_RATE": "1200/min",
    "PENSTOCK_DOCUMENTS_HOST_RATE": "6000/min",
    "PENSTOCK_DOCUMENTS_HOST_BURST": "100",
}
"""Polite figures are for other people's servers: here nobody has a minute to wait."""
_HERE: Final = "127.0.0.1"


class Stage:
    """Everything that the demo started; it ends with it."""

    def __init__(self, world: World, url: str, environment: Mapping[str, str]) -> None:
        self.world = world
        self.url = url
        self._environment = environment
        self._workers: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str) -> subprocess.Popen[bytes]:
        """Start a worker process for all five applications."""
        command = [
            sys.executable, "-m", "penstock", "worker", "-A", "penstock.apps.everything:app", "--database", self.url,
            "--queues", QUEUES, "--name", name, "--concurrency", "8", "--poll-interval", "0.2 s",
            "--stale-check-interval", "1 s",
        ]  # fmt: skip
        with (self.world.folder / f"{name}.log").open("wb") as log:
            how: dict[str, Any] = {"cwd": self.world.folder, "env": self._environment, "stdin": subprocess.DEVNULL}
            # A group of its own: Ctrl-C reaches the demo alone, which ends its workers itself.
            how |= {"stdout": log, "stderr": log, "process_group": 0}
            worker = subprocess.Popen(command, **how)  # noqa: S603 - our own words, no shell
        self._workers[name] = worker
        return worker

    def kill(self, name: str) -> int:
        """Kill a worker as hard as it goes, and return how many jobs it held.

        It is stopped first, so that they are counted before anybody can take one back.
        """
        worker = self._workers[name]
        worker.send_signal(signal.SIGSTOP)
        time.sleep(ARRIVE_SECONDS)
        running = JobFilter(tenant=self.world.tenant, state=State.RUNNING)
        held = self.world.app.store.listing.page(running, limit=PAGE_LIMIT).jobs
        worker.kill()
        worker.wait()
        del self._workers[name]
        return sum(job.lease_owner == name for job in held)

    def stop(self) -> None:
        """Tell the workers to stop, and see them do so."""
        for worker in self._workers.values():
            worker.send_signal(signal.SIGTERM)
        for worker in self._workers.values():
            worker.wait(PATIENCE_SECONDS)

    def end(self) -> None:
        """End whatever still runs, however the demo ended."""
        for worker in self._workers.values():
            if worker.poll() is None:
                worker.kill()
                worker.wait()

    def wait_for_workers(self) -> None:
        """Wait until all that were started are at work."""
        wanted = {worker.pid for worker in self._workers.values()}
        self.wait("the workers to start", lambda: wanted <= {one.pid for one in self.world.app.store.workers.list()})

    def wait(self, what: str, is_so: Callable[[], bool]) -> None:
        """Wait until something is so; not for ever, and not without workers."""
        until = time.monotonic() + PATIENCE_SECONDS
        while not is_so():
            if any(worker.poll() is not None for worker in self._workers.values()) or time.monotonic() > until:
                message = f"The demo waited in vain for {what}. {self._last_words()}"
                raise PenstockError(message, hint="See the logs with: penstock demo --keep")
            time.sleep(LOOK_EVERY_SECONDS)

    def _last_words(self) -> str:
        """The last line of each worker's log."""
        logs = sorted(self.world.folder.glob("*.log"))
        lines = {log.stem: log.read_text("utf-8", "replace").splitlines() for log in logs}
        return " ".join(f"{name}: {said[-1]}" for name, said in lines.items() if said)


@contextmanager
def stage(folder: Path, said_database: str | None) -> Iterator[Stage]:
    """Set the stage, in a place of its own: an SQLite file, or a schema of the PostgreSQL that was named."""
    with place(folder, said_database) as url, Sandbox() as sandbox:
        environment = _environment(sandbox, folder)
        with _as_it_is_for_the_workers(environment):
            _migrate(url)
            app = Penstock(url)
            for name in APPLICATIONS:
                application(name, app)
            set_up = Stage(World(app, sandbox, folder, TENANT), url, environment)
            try:
                yield set_up
            finally:
                set_up.end()
                app.close()


def _environment(sandbox: Sandbox, folder: Path) -> dict[str, str]:
    """The environment of the workers: nothing of whoever runs the demo, and the outside world is the sandbox."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(_OURS)}
    return {
        **kept,
        **_FAST,
        "PYTHONPATH": str(Path(penstock.__file__).parents[1]),
        SUPERVISOR_VARIABLE: str(os.getpid()),
        "APIFY_BASE_URL": f"{sandbox.url}/apify",
        "APIFY_TOKEN": "demo",
        "AIRBYTE_BASE_URL": f"{sandbox.url}/airbyte/v1",
        "AIRBYTE_CLIENT_ID": "demo",
        "AIRBYTE_CLIENT_SECRET": "demo",
        "PENSTOCK_BRIEF_PRIVATE_HOSTS": _HERE,
        "PENSTOCK_DOCUMENTS_PRIVATE_HOSTS": _HERE,
        "PENSTOCK_PRICES_PRIVATE_HOSTS": _HERE,
        "PENSTOCK_DOCUMENTS_FOLDER": str(folder / "content"),
    }


@contextmanager
def _as_it_is_for_the_workers(environment: Mapping[str, str]) -> Iterator[None]:
    """This process works on the same database: it must see the same settings."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _migrate(url: str) -> None:
    database = open_database(url)
    try:
        for package in ("penstock.stores", *APPLICATIONS.values()):
            migrations.migrate(database, package)
    finally:
        database.close()
