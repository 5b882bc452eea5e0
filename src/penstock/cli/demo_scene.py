"""The stage of the demo: a database, an outside world, and worker processes that can be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import penstock
from penstock.cli.demo_app import TABLE, app, deliver
from penstock.cli.output import Table
from penstock.engine.ids import new_id
from penstock.engine.job import Job
from penstock.engine.transitions import State
from penstock.errors import PenstockError
from penstock.stores.listing import PAGE_LIMIT, JobFilter
from penstock.stores.store import Store

TENANTS = ("acme", "globex")
PATIENCE_SECONDS = 60.0
"""After this long a demo that should take a few seconds has failed."""
LOOK_EVERY_SECONDS = 0.05
_OURS = ("PENSTOCK_", "DATABASE_URL", "WORKER_ID")


@dataclass(frozen=True, slots=True)
class Figures:
    """What was found afterwards, beside what was wanted."""

    jobs: int
    succeeded: int
    outside: int
    outside_repeated: int
    rows: int
    rows_repeated: int
    claims: int
    held_when_killed: int
    leases_taken_back: int
    effects_in_doubt: int
    seconds: float

    @property
    def sound(self) -> bool:
        """Whether every job finished, and everything happened exactly once."""
        whole = self.succeeded == self.outside == self.rows == self.jobs
        return whole and not self.outside_repeated and not self.rows_repeated

    def document(self) -> dict[str, Any]:
        """For programs."""
        return {**asdict(self), "seconds": round(self.seconds, 2), "sound": self.sound}

    def table(self) -> Table:
        """For people."""
        rows = [
            ("jobs finished", f"{self.succeeded} of {self.jobs}", _verdict(self.succeeded == self.jobs)),
            ("parcels handed over outside", f"{self.outside} of {self.jobs}", _verdict(self.outside == self.jobs)),
            ("  of these a second time", self.outside_repeated, _verdict(not self.outside_repeated)),
            ("rows in the user's table", f"{self.rows} of {self.jobs}", _verdict(self.rows == self.jobs)),
            ("  of these a second time", self.rows_repeated, _verdict(not self.rows_repeated)),
            ("jobs held by the killed worker", self.held_when_killed, ""),
            ("leases taken back", self.leases_taken_back, ""),
            ("claims in all", self.claims, ""),
            ("effects cut off in the middle, and looked up", self.effects_in_doubt, ""),
            ("seconds", f"{self.seconds:.1f}", ""),
        ]
        return Table(("what", "found", "verdict"), rows)


class Scene:
    """Everything the demo needs; what it started ends with it."""

    def __init__(self, folder: Path, url: str, jobs: int) -> None:
        self.jobs = jobs
        self._folder = folder
        self._url = url
        self._run = new_id()
        self._queue = f"demo-{self._run}"
        self._world = folder / "outside-world.txt"
        self._workers: list[subprocess.Popen[bytes]] = []
        self._opened = ExitStack()

    def __enter__(self) -> Self:
        self._opened.enter_context(app.moved_to(self._url))
        self._execute(f"create table if not exists {TABLE} (run text, parcel integer, receipt text)")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the workers that still run, however the demo ended."""
        for worker in self._workers:
            if worker.poll() is None:
                worker.kill()
                worker.wait()
        self._opened.close()

    @property
    def store(self) -> Store:
        """The memory, seen from this process."""
        return app.store

    def start(self, name: str) -> subprocess.Popen[bytes]:
        """Start a worker process."""
        command = [
            sys.executable, "-m", "penstock", "worker", "-A", "penstock.cli.demo_app:app", "--database", self._url,
            "--queues", self._queue, "--name", name, "--concurrency", "4", "--poll-interval", "0.2 s",
            "--stale-check-interval", "1 s",
        ]  # fmt: skip
        # The settings of whoever runs the demo must not reach its workers, and the package must be found from there.
        environment = {key: value for key, value in os.environ.items() if not key.startswith(_OURS)}
        environment["PYTHONPATH"] = str(Path(penstock.__file__).parents[1])
        with (self._folder / f"{name}.log").open("wb") as log:
            how: dict[str, Any] = {"cwd": self._folder, "env": environment, "stdin": subprocess.DEVNULL}
            worker = subprocess.Popen(command, stdout=log, stderr=log, **how)  # noqa: S603 - our own words, no shell
        self._workers.append(worker)
        return worker

    def enqueue(self) -> None:
        """Put all jobs on disk, tenants in turn."""
        app.enqueue_many(
            deliver.using(tenant=TENANTS[parcel % len(TENANTS)], queue=self._queue).call(
                parcel, run=self._run, world=str(self._world)
            )
            for parcel in range(self.jobs)
        )

    def kill(self, worker: subprocess.Popen[bytes]) -> int:
        """Kill a worker as hard as it goes, and return how many jobs it held."""
        worker.kill()
        worker.wait()
        running = self.store.listing.page(JobFilter(queue=self._queue, state=State.RUNNING), limit=PAGE_LIMIT).jobs
        return sum(job.lease_owner == "first" for job in running)

    def stop(self) -> None:
        """Tell the workers to stop, and see them do so."""
        alive = [worker for worker in self._workers if worker.poll() is None]
        for worker in alive:
            worker.send_signal(signal.SIGTERM)
        for worker in alive:
            worker.wait(PATIENCE_SECONDS)

    def wait_for_workers(self, count: int) -> None:
        """Wait until so many workers of this demo are at work."""
        processes = {worker.pid for worker in self._workers if worker.poll() is None}
        self._wait("the workers to start", lambda: count <= sum(w.pid in processes for w in self.store.workers.list()))

    def wait_until_done(self, count: int) -> None:
        """Wait until so many parcels are handed over."""
        self._wait("the workers to work", lambda: len(self._handed_over()) >= count)

    def wait_until_finished(self) -> None:
        """Wait until no job waits or runs."""
        self._wait("the jobs to finish", lambda: all(q.name != self._queue for q in self.store.queues.counts()))

    def figures(self, held: int, seconds: float) -> Figures:
        """Count everything."""
        jobs = self._all_jobs()
        lost = [job for job in jobs if job.losses]
        effects = [row for job in lost for row in self.store.effects.of_job(job.tenant, job.job_key)]
        outside = Counter(self._handed_over())
        mark = "?" if self.store.database.dialect == "sqlite" else "%s"
        parcels = Counter(self._execute(f"select parcel from {TABLE} where run = {mark}", (self._run,)))  # noqa: S608
        return Figures(
            jobs=self.jobs,
            succeeded=sum(job.state is State.SUCCEEDED for job in jobs),
            outside=len(outside),
            outside_repeated=outside.total() - len(outside),
            rows=len(parcels),
            rows_repeated=parcels.total() - len(parcels),
            claims=sum(job.fence for job in jobs),
            held_when_killed=held,
            leases_taken_back=sum(job.losses for job in jobs),
            effects_in_doubt=sum(row.kind == "effect" and row.tries > 1 for row in effects),
            seconds=seconds,
        )

    def clear(self) -> None:
        """Remove the table from a database that is not the demo's own."""
        self._execute(f"drop table {TABLE}")

    def _all_jobs(self) -> list[Job]:
        found: list[Job] = []
        after: str | None = None
        while True:
            page = self.store.listing.page(JobFilter(queue=self._queue), after=after, limit=PAGE_LIMIT)
            found += page.jobs
            after = page.next
            if after is None:
                return found

    def _handed_over(self) -> list[str]:
        return self._world.read_text("utf-8").splitlines() if self._world.exists() else []

    def _execute(self, sql: str, params: Any = None) -> list[tuple[Any, ...]]:
        return self.store.database.transact(lambda connection: connection.execute(sql, params))

    def _wait(self, what: str, is_so: Callable[[], bool]) -> None:
        until = time.monotonic() + PATIENCE_SECONDS
        while not is_so():
            if all(worker.poll() is not None for worker in self._workers) or time.monotonic() > until:
                message = f"The demo waited in vain for {what}. {self._last_words()}"
                raise PenstockError(message, hint="See the logs with: penstock demo --keep")
            time.sleep(LOOK_EVERY_SECONDS)

    def _last_words(self) -> str:
        """The last line of each worker's log."""
        logs = {log.stem: log.read_text("utf-8", "replace").splitlines() for log in sorted(self._folder.glob("*.log"))}
        return " ".join(f"{name}: {lines[-1]}" for name, lines in logs.items() if lines)


def _verdict(good: bool) -> str:  # noqa: FBT001 - a fact, not a switch
    return "ok" if good else "problem"
