"""Where the chaos takes place: a database that may be mistreated, the ways to it, and what can happen to it."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

import psycopg

from proof.chaos.blows import Strike
from proof.chaos.fleet import ZOMBIE_SECONDS, Fleet
from proof.faults.crew import until
from proof.faults.disk import MEBIBYTE, Disk, SmallDisk, may_mount
from proof.faults.network import Lane
from proof.faults.server import WORKERS, frozen, named, read_only, terminate_workers
from tests.support.binaries import PostgresUnavailable, machine_binaries, unprivileged_account, wheel_binaries
from tests.support.postgres import Server, free_port, private_folder

SPELL_SECONDS = (1.0, 8.0)
SLOW_SECONDS = (0.01, 0.1)
MOST_CONNECTIONS = 60
DISK_MEBIBYTES = 768
SQLITE_DISK_MEBIBYTES = 512
BUSY_SECONDS = 30.0
_IDLE = (
    "select pg_terminate_backend(pid) from pg_stat_activity "
    "where application_name = %s and state like 'idle in transaction%%'"
)


@dataclass(frozen=True)
class Place:
    """A database, an address of it for each worker and each client, and its faults."""

    url: str
    worker_urls: list[str]
    client_urls: list[str]
    strikes: Callable[[Fleet], dict[str, Strike]]
    """The faults, given who works at the addresses."""
    measure: Callable[[], dict[str, float]]
    """Figures of the database itself; empty while it cannot be asked."""


@contextmanager
def sqlite_place(folder: Path, workers: int, clients: int, *, own_disk: bool = True) -> Iterator[Place]:
    """A file, on a small disk of its own where that is wanted and one may be mounted."""
    home = folder / "disk"
    home.mkdir()
    with ExitStack() as stack:
        disk = (
            stack.enter_context(closing(SmallDisk(home, SQLITE_DISK_MEBIBYTES))) if own_disk and may_mount() else None
        )
        url = f"sqlite:///{home / 'haulwright.db'}"
        faults = SqliteFaults(home / "haulwright.db", disk)
        yield Place(url, [url] * workers, [url] * clients, lambda _fleet: faults.strikes(), faults.measure)


@dataclass(frozen=True)
class SqliteFaults:
    """What others do to a file."""

    path: Path
    disk: Disk | None

    def strikes(self) -> dict[str, Strike]:
        """By name; a full disk only where we have one that we may fill."""
        strikes: dict[str, Strike] = {
            "a foreign writer": self._write,
            "a long reader": self._read,
            "VACUUM": self._vacuum,
            "a foreign checkpoint": self._checkpoint,
        }
        return strikes | ({"disk full": self._fill} if self.disk is not None else {})

    def measure(self) -> dict[str, float]:
        """How large the log is."""
        log = self.path.with_name(f"{self.path.name}-wal")
        return {"log MiB": log.stat().st_size / MEBIBYTE if log.exists() else 0.0}

    def _write(self, rng: Random) -> Iterable[int]:
        with closing(self._open()) as connection:
            connection.execute("begin immediate")
            time.sleep(rng.uniform(*SPELL_SECONDS))
            connection.execute("rollback")
        return ()

    def _read(self, rng: Random) -> Iterable[int]:
        with closing(self._open()) as connection:
            connection.execute("begin")
            connection.execute("select count(*) from haulwright_jobs").fetchall()
            time.sleep(rng.uniform(*SPELL_SECONDS))
        return ()

    def _vacuum(self, _rng: Random) -> Iterable[int]:
        with closing(self._open()) as connection, suppress(sqlite3.OperationalError):  # busy for all its patience
            connection.execute("vacuum")
        return ()

    def _checkpoint(self, _rng: Random) -> Iterable[int]:
        with closing(self._open()) as connection, suppress(sqlite3.OperationalError):
            connection.execute("pragma wal_checkpoint(truncate)").fetchall()
        return ()

    def _fill(self, rng: Random) -> Iterable[int]:
        """A log that may only grow, and no room for it."""
        assert self.disk is not None
        with self.disk.growing_log():
            self.disk.fill(())
            time.sleep(rng.uniform(*SPELL_SECONDS))
            self.disk.free(())
        return ()

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, isolation_level=None, timeout=BUSY_SECONDS)


@contextmanager
def postgres_place(workers: int, clients: int, *, own_disk: bool = True) -> Iterator[Place]:
    """A server of our own with few connections, on a small disk as above, and a lane to it for each process."""
    with ExitStack() as stack:
        server, disk = stack.enter_context(_server(own_disk=own_disk))
        lanes = [stack.enter_context(Lane(server.url())) for _ in range(workers + clients)]
        urls = [named(lane.url) for lane in lanes]
        faults = PostgresFaults(server, disk, lanes, workers)
        yield Place(server.url(), urls[:workers], urls[workers:], faults.strikes, faults.measure)


@contextmanager
def _server(*, own_disk: bool) -> Iterator[tuple[Server, Disk | None]]:
    account = unprivileged_account()
    binaries = machine_binaries(account) or wheel_binaries()
    if binaries is None:
        raise PostgresUnavailable("no PostgreSQL binaries on this machine, nor the test wheel's (make setup-dev)")
    home = private_folder(account)
    with ExitStack() as stack:
        stack.callback(home.rmdir)
        disk = stack.enter_context(closing(SmallDisk(home, DISK_MEBIBYTES))) if own_disk and may_mount() else None
        folder = home / "server"
        folder.mkdir(mode=0o700)
        account.owns(home)
        server = stack.enter_context(Server(binaries, folder, account, durable=True, port=free_port()))
        server._settings |= {"max_connections": str(MOST_CONNECTIONS), "max_wal_size": "128MB"}
        server.initialise()
        server.launch()
        yield server, disk


@dataclass
class PostgresFaults:
    """What happens to a server, and on the way to it."""

    server: Server
    disk: Disk | None
    lanes: list[Lane]
    workers: int

    def strikes(self, fleet: Fleet) -> dict[str, Strike]:
        """By name; a full disk only where we have one that we may fill."""
        strikes: dict[str, Strike] = {
            "immediate restart": self._restart,
            "server frozen": self._freeze,
            "backends terminated": self._terminate,
            "idle transactions ended": self._end_idle,
            "read-only": self._read_only,
            "connections used up": self._use_up,
            "network cut": self._cut,
            "network gone": self._swallow,
            "one worker cut off": partial(self._cut_off, fleet),
            "one worker slow": self._slow,
        }
        return strikes | ({"disk full": self._fill} if self.disk is not None else {})

    def measure(self) -> dict[str, float]:
        """How large the log is, and how many connections workers and clients have."""
        asked = (
            "select (select sum(size) from pg_ls_waldir()), count(*) from pg_stat_activity where application_name = %s"
        )
        try:
            with psycopg.connect(self.server.url(), autocommit=True) as connection:
                rows = connection.execute(asked, [WORKERS]).fetchall()
        except psycopg.OperationalError:
            return {}
        return {"log MiB": float(rows[0][0]) / MEBIBYTE, "connections": float(rows[0][1])}

    def _restart(self, _rng: Random) -> Iterable[int]:
        self.server.restart("immediate")
        return ()

    def _freeze(self, rng: Random) -> Iterable[int]:
        with frozen(self.server):
            time.sleep(rng.uniform(*SPELL_SECONDS))
        return ()

    def _terminate(self, _rng: Random) -> Iterable[int]:
        terminate_workers(self.server)
        return ()

    def _end_idle(self, rng: Random) -> Iterable[int]:
        """As a short idle_in_transaction_session_timeout would, which the engine sets for itself."""
        end = time.monotonic() + rng.uniform(*SPELL_SECONDS)
        with psycopg.connect(self.server.url(), autocommit=True) as connection:
            while time.monotonic() < end:
                connection.execute(_IDLE, [WORKERS])
                time.sleep(0.005)
        return ()

    def _read_only(self, rng: Random) -> Iterable[int]:
        with read_only(self.server):
            time.sleep(rng.uniform(*SPELL_SECONDS))
        return ()

    def _use_up(self, rng: Random) -> Iterable[int]:
        """Take the connections of the workers away, and every one that they could have instead."""
        end = time.monotonic() + rng.uniform(*SPELL_SECONDS)
        with ExitStack() as taken:
            terminate_workers(self.server)
            while time.monotonic() < end:
                try:
                    taken.enter_context(psycopg.connect(self.server.url()))
                except psycopg.OperationalError:
                    time.sleep(0.05)
        return ()

    def _fill(self, rng: Random) -> Iterable[int]:
        """No room for a row or for the log: the server may well give up, and is started when there is room again."""
        assert self.disk is not None
        self.disk.fill(())
        time.sleep(rng.uniform(*SPELL_SECONDS))
        self.disk.free(())
        self._revive()
        return ()

    def _cut(self, _rng: Random) -> Iterable[int]:
        for lane in self.lanes:
            lane.cut()
        return ()

    def _swallow(self, rng: Random) -> Iterable[int]:
        """For everybody, so that nobody has lost touch more than the others."""
        with ExitStack() as stack:
            for lane in self.lanes:
                stack.enter_context(lane.swallowed())
            time.sleep(rng.uniform(*SPELL_SECONDS))
        return ()

    def _cut_off(self, fleet: Fleet, rng: Random) -> Iterable[int]:
        """One worker alone, past its leases: what it says when it is back is void."""
        place = fleet.members.index(fleet.busiest())
        pid = fleet.members[place].pid
        with fleet.protected(pid), self.lanes[place].swallowed():
            time.sleep(rng.uniform(*ZOMBIE_SECONDS))
        return {pid, fleet.members[place].pid}

    def _slow(self, rng: Random) -> Iterable[int]:
        place = rng.randrange(self.workers)
        with self.lanes[place].slow(rng.uniform(*SLOW_SECONDS)):
            time.sleep(rng.uniform(*SPELL_SECONDS))
        return ()

    def _revive(self) -> None:
        process = self.server._process
        if process is None or process.poll() is not None:
            self.server.halt("immediate")
            self.server.launch()
        until("the server answers again", self._answers)

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.server.url()).close()
        except psycopg.OperationalError:
            process = self.server._process
            if process is None or process.poll() is not None:
                self.server.launch()
            return False
        return True
