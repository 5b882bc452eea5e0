"""Workers as an operator starts them: the real command, with all that it says kept for the proof."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from haulwright.errors import DatabaseUnavailable
from haulwright.stores.store import Store
from proof.support.site import ROOT, URL_VARIABLE, Site

APP = "proof.faults.app:app"
UNBORN = "EOFError: Ran out of input"
PATIENCE_SECONDS = 150.0
LAST_LINES = 5
_LOOK_SECONDS = 0.02
OPTIONS = {
    "--concurrency": "4",
    "--poll-interval": "0.2 s",
    "--stale-check-interval": "0.2 s",
    "--grace": "10 s",
    "--log-format": "json",
}


@dataclass(frozen=True)
class Member:
    """One worker process and the file that its stderr goes to."""

    process: subprocess.Popen[bytes]
    log: Path

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.pid

    def has_begun(self) -> bool:
        """Whether it has said anything."""
        return self.log.stat().st_size > 0

    def told(self) -> list[dict[str, Any]]:
        """The lines of its log, in order."""
        lines = [json.loads(line) for line in self._lines() if line.startswith("{")]
        return [line for line in lines if "message" in line]

    def strays(self) -> list[str]:
        """What it wrote that is no line of its log: the traceback of something that nobody foresaw.

        But for the end of a child that Python had just begun to start when its worker was killed: no code of ours runs
        in it yet.
        """
        lines = [line for line in self._lines() if not line.startswith("{")]
        if self.process.poll() == -signal.SIGKILL and lines and lines[-1].startswith(UNBORN):
            begin = max(number for number, line in enumerate(lines) if line.startswith("Traceback"))
            is_unborn = all("haulwright" not in line for line in lines[begin:])
            return lines[:begin] if is_unborn else lines
        return lines

    def last_words(self) -> list[str]:
        """The last lines that it wrote."""
        return self._lines()[-LAST_LINES:]

    def _lines(self) -> list[str]:
        """Whole lines only: the last one may just be on its way."""
        return self.log.read_text("utf-8").rpartition("\n")[0].splitlines()


class Crew:
    """The workers of one proof."""

    def __init__(
        self, site: Site, *, app: str = APP, url: str | None = None, label: str = "worker", **options: str
    ) -> None:
        self.members: list[Member] = []
        self._site = site
        self._label = label
        self._environment = site._environment() | {URL_VARIABLE: url or site.url}
        said = OPTIONS | {f"--{name}": value for name, value in options.items()}
        self._command = [sys.executable, "-m", "haulwright", "--json", "-A", app, "worker"]
        self._command += [word for option in said.items() for word in option]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for member in self.members:
            member.process.kill()
            member.process.wait()

    def start(self, count: int = 1) -> list[Member]:
        """Start workers, and wait until each has said so."""
        started = [self.launch() for _ in range(count)]
        for member in started:
            until("a worker starts", member.has_begun)
        return started

    def stop(self) -> list[int]:
        """Tell those that still work to end, and return the exit codes of all."""
        for member in self.members:
            member.process.send_signal(signal.SIGTERM)  # no-op for one that has ended
        return [member.process.wait(60) for member in self.members]

    def end_well(self) -> None:
        """Stop them, of whom each must have worked until it was told; what one said last is told where it did not."""
        codes = self.stop()
        last = {member.pid: member.last_words() for member in self.members}
        assert not any(codes), f"the workers ended with {codes}, and said last: {last}"

    def told(self, message: str = "") -> list[dict[str, Any]]:
        """What the workers said that contains these words."""
        return [line for member in self.members for line in member.told() if message in line["message"]]

    def strays(self) -> list[str]:
        """What should not have been said."""
        return [line for member in self.members for line in member.strays()]

    def launch(self) -> Member:
        """Start one, and wait for nothing."""
        log = self._site.folder / f"{self._label}-{len(self.members) + 1}.log"
        with log.open("ab") as stderr:
            process = subprocess.Popen(
                self._command, cwd=ROOT, env=self._environment, stdout=subprocess.DEVNULL, stderr=stderr
            )
        member = Member(process, log)
        self.members.append(member)
        return member


def until(what: str, happened: Callable[[], bool], patience_seconds: float = PATIENCE_SECONDS) -> None:
    """Wait for what the workers bring about, looking now and then."""
    end = time.monotonic() + patience_seconds
    while not happened():
        assert time.monotonic() < end, f"waited {patience_seconds:g} s in vain until {what}"
        time.sleep(_LOOK_SECONDS)


def has_finished(store: Store, count: int) -> bool:
    """Whether so many jobs are finished."""
    return finished(store) >= count


def finished(store: Store) -> int:
    """How many jobs are finished; -1 while the database cannot be asked."""
    try:
        ((count,),) = store.database.read(lambda c: c.execute("select count(*) from haulwright_history"))
    except DatabaseUnavailable:
        return -1
    return int(count)


def is_drained(store: Store) -> bool:
    """Whether no job is active."""
    try:
        return store.database.read(lambda connection: connection.execute("select count(*) from haulwright_jobs")) == [
            (0,)
        ]
    except DatabaseUnavailable:
        return False
