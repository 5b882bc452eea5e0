"""The stage of the demo: the outside world, a database, and worker processes that can be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import haulwright
from haulwright.application.scenario import Act, World
from haulwright.client.app import Haulwright
from haulwright.demo.database import place
from haulwright.demo.waits import Wait, next_waits
from haulwright.discovery import ApplicationSpec, installed_applications
from haulwright.engine.transitions import State
from haulwright.errors import HaulwrightError
from haulwright.runtime.supervisor import SUPERVISOR_VARIABLE
from haulwright.sandbox import Sandbox
from haulwright.settings import Settings
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from haulwright.stores.listing import JobFilter
from haulwright.stores.paging import PAGE_LIMIT

TENANT: Final = "acme"
PATIENCE_SECONDS: Final = 300.0
"""After this long without an end, a demo that should take half a minute has failed, on a busy machine too."""
LOOK_EVERY_SECONDS: Final = 0.1
ARRIVE_SECONDS: Final = 0.2
"""So long after a worker was stopped, what it had sent has arrived at the database."""


@dataclass(frozen=True, slots=True)
class Cast:
    """The applications that play, each with its act."""

    specs: tuple[ApplicationSpec, ...]
    acts: tuple[type[Act], ...]

    @classmethod
    def of_installed(cls) -> Cast:
        """Every installed application that has an act."""
        applications = installed_applications()
        plays = [(spec, spec.demo) for spec in applications.specs.values() if spec.demo is not None]
        acts = tuple(applications.import_part(spec, module).ACT for spec, module in plays)
        return cls(tuple(spec for spec, _ in plays), acts)


class Stage:
    """Everything that the demo started; it ends with it."""

    def __init__(self, world: World, url: str, environment: Mapping[str, str], cast: Cast) -> None:
        self.world = world
        self.url = url
        self.acts = [act(world) for act in cast.acts]
        self._queues = [queue for spec in cast.specs for queue in spec.served_queues]
        self._queues_of_acts = {act.name: spec.served_queues for act, spec in zip(self.acts, cast.specs, strict=True)}
        self._environment = environment
        self._workers: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str) -> subprocess.Popen[bytes]:
        """Start a worker process for all applications."""
        command = [
            sys.executable, "-m", "haulwright", "worker", "-A", "haulwright.apps.everything:app",
            "--database", self.url, "--queues", ",".join(self._queues), "--name", name, "--concurrency", "8",
            "--poll-interval", "0.2 s", "--stale-check-interval", "1 s",
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

    def waits(self) -> dict[str, Wait]:
        """What each act waits for now, by its name; those that go on are left out."""
        return next_waits(self.world, self._queues_of_acts)

    def retry_now(self, job_id: str) -> None:
        """Have a job that waits for its retry run at once, as `haulwright job retry` does."""
        self.world.app.operations().jobs.retry(job_id)

    def wait_for_workers(self) -> None:
        """Wait until all that were started are at work."""
        self.wait("the workers to start", self.are_workers_up)

    def are_workers_up(self) -> bool:
        """Whether all that were started are at work."""
        pids = {worker.pid for worker in self._workers.values()}
        return pids <= {row.pid for row in self.world.app.store.workers.list()}

    def wait(self, what: str, is_so: Callable[[], bool]) -> None:
        """Wait until something is so; not for ever, and not without workers."""
        until = time.monotonic() + PATIENCE_SECONDS
        while not is_so():
            if any(worker.poll() is not None for worker in self._workers.values()) or time.monotonic() > until:
                message = f"The demo waited in vain for {what}. {self._last_words()}"
                raise HaulwrightError(message, hint="See the logs with: haulwright demo --keep")
            time.sleep(LOOK_EVERY_SECONDS)

    def _last_words(self) -> str:
        """The last line of each worker's log."""
        logs = sorted(self.world.folder.glob("*.log"))
        lines = {log.stem: log.read_text("utf-8", "replace").splitlines() for log in logs}
        return " ".join(f"{name}: {log[-1]}" for name, log in lines.items() if log)


@contextmanager
def stage(folder: Path, said_database: str | None) -> Iterator[Stage]:
    """Set the stage, in a place of its own: an SQLite file, or a schema of the PostgreSQL that was named."""
    cast = Cast.of_installed()
    with place(folder, said_database) as url, Sandbox() as sandbox:
        environment = _environment(cast, sandbox, folder)
        with _as_it_is_for_the_workers(environment):
            _migrate(url, cast)
            app = Haulwright(url)
            for spec in cast.specs:
                spec.install(app)
            set_up = Stage(World(app, sandbox, folder, TENANT), url, environment, cast)
            try:
                yield set_up
            finally:
                set_up.end()
                app.close()


def _environment(cast: Cast, sandbox: Sandbox, folder: Path) -> dict[str, str]:
    """The environment of the workers: nothing of whoever runs the demo, and the outside world is the sandbox."""
    ours = {variable for figure in Settings.figures() for variable in figure.variables}
    kept = {key: value for key, value in os.environ.items() if key not in ours and not key.startswith("HAULWRIGHT_")}
    own = {name: value for act in cast.acts for name, value in act.environment(sandbox, folder).items()}
    return {
        **kept,
        **own,
        "PYTHONPATH": str(Path(haulwright.__file__).parents[1]),
        SUPERVISOR_VARIABLE: str(os.getpid()),
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


def _migrate(url: str, cast: Cast) -> None:
    database = open_database(url)
    try:
        for package in (migrations.ENGINE, *(spec.package for spec in cast.specs)):
            migrations.migrate(database, package)
    finally:
        database.close()
