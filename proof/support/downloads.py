"""A download whose process is killed with -9, again and again.

python -m proof.support.downloads URL FOLDER JOB_KEY FENCE     one run of it
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from subprocess import PIPE, Popen
from typing import Any

from haulwright.sources.download import LeaseKey, download
from haulwright.sources.http import Http, Policy

JOB_KEY = "the job"
READY = "ready"
PATIENCE_SECONDS = 120.0
_NAP_SECONDS = 0.002
_EARLY_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Ending:
    """How it went."""

    kills: int
    """How many runs were really killed."""
    result: dict[str, Any]
    """What the last run returned."""


def under_fire(url: str, folder: Path, *, size: int, kills: int, seed: int) -> Ending:
    """Download a file while one process after the other is killed: each at another byte, some as they take over."""
    luck = Random(seed)
    killed = 0
    for fence, byte in enumerate(sorted(luck.randrange(1, size) for _ in range(kills)), 1):
        with _start(url, folder, fence) as process:
            _kill(process, luck.random() * _EARLY_SECONDS if fence % 4 == 0 else None, folder, byte)
        killed += process.returncode != 0
    with _start(url, folder, kills + 1) as last:
        said, _ = last.communicate(timeout=PATIENCE_SECONDS)
    return Ending(killed, json.loads(said))


def _start(url: str, folder: Path, fence: int) -> Popen[str]:
    command = [sys.executable, "-m", "proof.support.downloads", url, str(folder), JOB_KEY, str(fence)]
    process = Popen(command, stdout=PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == READY
    return process


def _kill(process: Popen[str], early: float | None, folder: Path, byte: int) -> None:
    """Kill a run once so many bytes have arrived, or soon after it began."""
    if early is not None:
        time.sleep(early)
    else:
        _wait(lambda: process.poll() is not None or _arrived(folder) >= byte)
    process.kill()


def _arrived(folder: Path) -> int:
    sizes = []
    for part in folder.glob("parts/*.part"):
        try:
            sizes.append(part.stat().st_size)
        except FileNotFoundError:  # taken over meanwhile
            continue
    return max(sizes, default=0)


def _wait(happened: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while not happened():
        assert time.monotonic() < until, "nothing arrived"
        time.sleep(_NAP_SECONDS)


def main() -> None:
    """One run, as a worker would make it."""
    url, folder, job_id, fence = sys.argv[1:]
    print(READY, flush=True)
    done = download(Http(policy=Policy(private=True)), url, folder, owner=LeaseKey(job_id, int(fence), "worker"))
    told = {"sha256": done.sha256, "bytes": done.bytes, "path": str(done.path), "resumed_from": done.resumed_from}
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
