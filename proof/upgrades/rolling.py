"""A roll: old workers under load, the migration in the middle of it, new workers beside them, then the old again."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field

from haulwright.stores.connect import open_database
from haulwright.stores.store import Store
from proof.chaos.blows import Blows
from proof.chaos.campaign import APP
from proof.chaos.client import LOAD_ENDS
from proof.chaos.fleet import CLIENT, Fleet
from proof.chaos.load import SINK, Load
from proof.chaos.verdict import Findings, Rest, judge
from proof.faults.crew import Crew, Member, is_drained, until
from proof.support.site import Site
from proof.upgrades.versions import Version

WORKERS = 2
OUTDATED = "the schema is newer than this worker"
MIGRATED = "migrated"
CLIENT_SECONDS = 60
DRAIN_SECONDS = 300.0
SHARES = {"old": 0.3, "new": 0.4, "back": 0.1, "forth": 0.2}
"""How the time of the load is shared out."""


@dataclass
class Roll:
    """What became of everybody."""

    older: Version
    newer: Version
    outdated: list[int] = field(default_factory=list)
    """The exit codes of the old workers that met the newer schema."""
    warnings: list[int] = field(default_factory=list)
    """How often each of them said so."""
    refused: list[int] = field(default_factory=list)
    """The exit codes of old workers that were started after the migration."""
    finished_late: int = 0
    """Runs that old workers ended after the migration."""
    findings: Findings = field(init=False)

    def __str__(self) -> str:
        return (
            f"{self.older.name} to {self.newer.name}: old workers ended with {self.outdated} after "
            f"{self.finished_late} runs past the migration, and started again with {self.refused}"
        )


class Rolling:
    """One database, and workers of two versions."""

    def __init__(self, site: Site, older: Version, newer: Version) -> None:
        self._site = site
        self._crews: list[Crew] = []
        self._clients: list[subprocess.Popen[bytes]] = []
        self._stack = ExitStack()
        self.roll = Roll(older, newer)

    def run(self, minutes: float) -> Roll:
        """Roll forth, back and forth again in so many minutes of load, and judge what is left."""
        roll, began = self.roll, time.monotonic()
        roll.older.migrate(self._site.url)
        with self._stack, self._load() as load:
            old = self._start(roll.older)
            self._wait(minutes, "old")
            load.diary.write(MIGRATED)
            roll.newer.migrate(self._site.url)
            new = [*self._start(roll.newer, 1), *self._retire(old, roll)]
            self._wait(minutes, "new")
            _stop(new)
            roll.refused = [_code_of(member) for member in self._start(roll.older, client=False)]
            self._wait(minutes, "back")  # nobody works, and what is enqueued waits
            last = self._start(roll.newer)
            self._wait(minutes, "forth")
            drained = self._come_to_rest(load)
            rest = Rest(drained, _stop(last), time.monotonic() - began)
            fleet = Fleet(self._site, self._crews, [], 0, client_starts=len(self._clients))
            roll.findings = judge(load, fleet, Blows(), rest)
            roll.finished_late = _ended_late(load, {member.pid for member in old})
        return roll

    @contextmanager
    def _load(self) -> Iterator[Load]:
        """The tasks in this process, on the database as it is: this code may be older or newer than its schema."""
        load = Load(self._site)
        load.app._store = Store(open_database(self._site.url))
        load.app.store.database.transact(lambda connection: connection.execute(SINK))
        try:
            yield load
        finally:
            load.close()

    def _start(self, version: Version, workers: int = WORKERS, *, client: bool = True) -> list[Member]:
        """Start workers of a version, and a client of it."""
        label = f"worker-{len(self._crews)}"
        crew = self._stack.enter_context(Crew(self._site, app=APP, label=label))
        crew._environment |= version.environment
        self._crews.append(crew)
        if client:
            seed = str(len(self._clients))
            self._clients.append(self._site.spawn(CLIENT, seed, **version.environment))
        return crew.start(workers)

    def _retire(self, old: list[Member], roll: Roll) -> list[Member]:
        """Wait until each old worker has ended by itself, and start a new one in its place.

        One of a version that does not know the rule yet is told to stop.
        """
        new = []
        for member in old:
            if not roll.older.stops_claiming:
                member.process.terminate()
            roll.outdated.append(_code_of(member))
            roll.warnings.append(sum(OUTDATED in line["message"] for line in member.told()))
            new += self._start(roll.newer, 1, client=False)
        return new

    def _wait(self, minutes: float, phase: str) -> None:
        time.sleep(minutes * 60 * SHARES[phase])

    def _come_to_rest(self, load: Load) -> bool:
        self._site.raise_flag(LOAD_ENDS)
        for client in self._clients:
            assert client.wait(CLIENT_SECONDS) == 0, "a client did not end well"
        with suppress(AssertionError):
            until("all jobs are finished", lambda: is_drained(load.app.store), DRAIN_SECONDS)
        return is_drained(load.app.store)


def _stop(members: list[Member]) -> list[int]:
    for member in members:
        member.process.terminate()
    return [_code_of(member) for member in members]


def _code_of(member: Member) -> int:
    """How it ends, once it does."""
    until(f"worker {member.pid} ends", lambda: member.process.poll() is not None)
    return member.process.wait()


def _ended_late(load: Load, pids: set[int]) -> int:
    entries = load.diary.read()
    migrated = next(number for number, entry in enumerate(entries) if entry.event == MIGRATED)
    return sum(entry.event == "run.end" and entry.pid in pids for entry in entries[migrated:])
