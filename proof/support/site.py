"""A site: one database, one clock, one diary and one outside world, shared by all processes of a proof."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from haulwright.clock import CLOCK_VARIABLE, TESTING_VARIABLE, SettableClock
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from haulwright.stores.store import Store
from proof.support.diary import Diary

URL_VARIABLE = "PROOF_DATABASE_URL"
FOLDER_VARIABLE = "PROOF_FOLDER"
POINT_VARIABLE = "PROOF_POINT"
"""Where a process is to die."""
NTH_VARIABLE = "PROOF_NTH"
"""At which time that it comes there."""
HALT_VARIABLE = "PROOF_HALT"
"""Stand still at the point instead of dying there, until the flag below."""
HALTED = "stands at its point"
GO_ON = "goes on from its point"
TRACE_VARIABLE = "PROOF_TRACE"
"""Write down all points that a worker came to."""
HOST_VARIABLE = "PROOF_HOST"
"""Work under the name of another host, where nobody here can see a death."""
SCHEDULE_VARIABLE = "PROOF_SCHEDULE"
"""Declare the schedule, and open its slots."""
CONCURRENCY_VARIABLE = "PROOF_CONCURRENCY"
QUEUES_VARIABLE = "PROOF_QUEUES"
"""The queues to serve, comma separated."""
BARRIER_VARIABLE = "PROOF_BARRIER"
"""Say in the first run that it is ready, and wait for the flag below."""
BARRIER = "all are ready"
STOP = "all may stop"
WORKER = "proof.support.worker"
SCHEDULER = "proof.support.scheduler"
ROOT = Path(__file__).resolve().parents[2]
START = 1_704_067_200_000_000
"""2024-01-01T00:00:00Z, in microseconds."""
SHORT_LEASE = "4 s"
"""Of work whose time stands still: what a dead worker left is watched for a second, and not for half a minute."""
PATIENCE_SECONDS = 120


@dataclass(frozen=True)
class Site:
    """Where a proof takes place. Every process finds it through its environment."""

    url: str
    folder: Path
    _processes: list[subprocess.Popen[bytes]] = field(default_factory=list, repr=False, compare=False)

    @classmethod
    def from_environment(cls) -> Self:
        """The site that this process was started for."""
        return cls(os.environ[URL_VARIABLE], Path(os.environ[FOLDER_VARIABLE]))

    @classmethod
    def prepare(cls, url: str, folder: Path, *, clock: bool = True) -> Self:
        """A site with its schema in place; with `clock`, time stands still until the proof moves it."""
        site = cls(url, folder)
        if clock:
            site.clock.set(START)
        database = open_database(url, clock=SettableClock(site.clock_path) if clock else None)
        migrations.migrate(database)
        database.close()
        return site

    @property
    def database(self) -> str:
        """The kind of its database, for tables."""
        return self.url.partition(":")[0]

    @property
    def clock_path(self) -> Path:
        """The file that holds the time, if time is ours to move."""
        return self.folder / "clock"

    @property
    def clock(self) -> SettableClock:
        """The clock of all processes."""
        return SettableClock(self.clock_path)

    def diary(self) -> Diary:
        """What clients and runs wrote down."""
        return Diary(self.folder / "diary")

    def outside(self) -> Diary:
        """The outside world: what was done to it, and under which key."""
        return Diary(self.folder / "outside")

    def open_store(self) -> Store:
        """The same database once more, with connections of its own."""
        return Store.open(self.url, clock=self.clock if self.clock_path.exists() else None)

    def raise_flag(self, name: str) -> None:
        """Let runs go on that wait for this flag."""
        (self.folder / name).touch()

    def has_flag(self, name: str) -> bool:
        """Whether the flag was raised."""
        return (self.folder / name).exists()

    def spawn(self, module: str, *arguments: str, **variables: str) -> subprocess.Popen[bytes]:
        """Start a process of ours at this site."""
        command = [sys.executable, "-m", module, *arguments]
        process = subprocess.Popen(command, cwd=ROOT, env=self._environment() | variables)
        self._processes.append(process)
        return process

    def run(self, module: str, *arguments: str, **variables: str) -> int:
        """Start a process, wait for its end, and return its exit code."""
        process = self.spawn(module, *arguments, **variables)
        return process.wait(PATIENCE_SECONDS)

    def close(self) -> None:
        """End whatever still runs here."""
        for process in self._processes:
            process.kill()
            process.wait()

    def _environment(self) -> dict[str, str]:
        given = {URL_VARIABLE: self.url, FOLDER_VARIABLE: str(self.folder)}
        if self.clock_path.exists():
            given |= {CLOCK_VARIABLE: str(self.clock_path), TESTING_VARIABLE: "1"}
        return {**os.environ, **given}
