"""The workers and clients of the chaos: who ends is replaced at once, and how each ended is written down."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from proof.chaos.blows import Strike
from proof.faults.crew import Crew, Member
from proof.faults.server import children_of, stopped
from proof.support.site import URL_VARIABLE, Site

CLIENT = "proof.chaos.client"
STARTED = "worker started"
STOPPED = "worker stopped"
AGAIN_SECONDS = 0.5
"""Between the end of a worker and the start of the next in its place."""
STOP_SECONDS = (1.0, 8.0)
ZOMBIE_SECONDS = (18.0, 24.0)
"""Past the lease, and past the time for which nobody takes anything back after the database was in trouble."""


@dataclass(frozen=True)
class Ended:
    """How a worker ended."""

    member: Member
    code: int
    at: float

    @property
    def had_started(self) -> bool:
        """Whether it got as far as to work."""
        return any(line["message"] == STARTED for line in self.member.told())

    @property
    def was_at_work(self) -> bool:
        """Whether it had started, and had not stopped in order: a second signal may meet a process that only ends."""
        return self.had_started and not any(line["message"] == STOPPED for line in self.member.told())


@dataclass
class Fleet:
    """One place a crew: its last member is the one that works."""

    site: Site
    crews: list[Crew]
    client_urls: list[str]
    seed: int
    spared: int = 0
    """The workers of so many places are never struck."""
    clients: list[subprocess.Popen[bytes]] = field(default_factory=list)
    ended: list[Ended] = field(default_factory=list)
    client_starts: int = 0
    _due: dict[int, float] = field(default_factory=dict)
    _protected: set[int] = field(default_factory=set)
    """Workers with whom somebody has other plans for the moment."""

    def start(self) -> None:
        """Start a worker in each place, and the clients."""
        for crew in self.crews:
            crew.launch()
        self.clients = [self._client(url) for url in self.client_urls]

    def tend(self) -> None:
        """Replace who ended."""
        self.tend_workers()
        for place, client in enumerate(self.clients):
            if client.poll() is not None:
                self.clients[place] = self._client(self.client_urls[place])

    def tend_workers(self) -> None:
        """Replace the workers that ended, as whoever supervises them would."""
        for place, crew in enumerate(self.crews):
            code = crew.members[-1].process.poll()
            if code is None:
                continue
            if place not in self._due:
                self.ended.append(Ended(crew.members[-1], code, time.monotonic()))
                self._due[place] = time.monotonic() + AGAIN_SECONDS
            elif time.monotonic() >= self._due[place]:
                del self._due[place]
                crew.launch()

    @property
    def members(self) -> list[Member]:
        """Those that work now, or are about to be replaced."""
        return [crew.members[-1] for crew in self.crews]

    @property
    def _struck(self) -> list[Member]:
        return [member for member in self.members[self.spared :] if member.pid not in self._protected]

    def strikes(self) -> dict[str, Strike]:
        """What can happen to processes."""
        return {
            "kill -9 of a worker": self._kill,
            "kill -9 of all workers": self._kill_all,
            "SIGTERM to a worker": self._terminate,
            "SIGSTOP of a worker": self._stop,
            "kill -9 of a child": self._kill_child,
            "kill -9 of a client": self._kill_client,
        }

    def _kill(self, rng: Random) -> list[int]:
        return _signal([rng.choice(self._struck).pid], signal.SIGKILL)

    def _kill_all(self, _rng: Random) -> list[int]:
        return _signal([member.pid for member in self._struck], signal.SIGKILL)

    def _terminate(self, rng: Random) -> list[int]:
        return _signal([rng.choice(self._struck).pid], signal.SIGTERM)

    def _stop(self, rng: Random) -> list[int]:
        pid = rng.choice(self._struck).pid
        with stopped([pid]):
            time.sleep(rng.uniform(*STOP_SECONDS))
        return [pid]

    def calm_strikes(self) -> dict[str, Strike]:
        """What needs a database that is well, so that others take back what a worker leaves lying."""
        return {"SIGSTOP past the lease": self._stop_past_the_lease}

    def _stop_past_the_lease(self, rng: Random) -> list[int]:
        """Let a worker become a zombie: others run its jobs, and then it goes on as if nothing had happened."""
        pid = self.busiest().pid
        with self.protected(pid), stopped([pid]):
            time.sleep(rng.uniform(*ZOMBIE_SECONDS))
        return [pid]

    def busiest(self) -> Member:
        """The worker that has said most, hence works for longest."""
        return max(self._struck, key=lambda member: member.log.stat().st_size)

    @contextmanager
    def protected(self, pid: int) -> Iterator[None]:
        """Strike it in no other way meanwhile."""
        self._protected.add(pid)
        try:
            yield
        finally:
            self._protected.discard(pid)

    def _kill_child(self, rng: Random) -> list[int]:
        children = [child for member in self.members for child in children_of(member.pid) if _runs_jobs(child)]
        return _signal([rng.choice(children)], signal.SIGKILL) if children else []

    def _kill_client(self, rng: Random) -> list[int]:
        return _signal([rng.choice(self.clients).pid], signal.SIGKILL)

    def _client(self, url: str) -> subprocess.Popen[bytes]:
        self.client_starts += 1
        return self.site.spawn(CLIENT, str(self.seed + self.client_starts), **{URL_VARIABLE: url})


def _runs_jobs(child: int) -> bool:
    """Whether it is one of the engine's: Python starts one of its own beside them, which keeps track of resources."""
    try:
        return b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()
    except OSError:  # it has ended
        return False


def _signal(pids: list[int], number: signal.Signals) -> list[int]:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
    return pids
