"""How soon it is there: the library imported, and the shortest command, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from bench.figures import MILLISECONDS, Series
from bench.lane import Bench

SCENARIO = "startup none"
PYTHON = "python -c pass"
IMPORT = "import haulwright"
VERSION = "haulwright --version"
RUNS = 10

_COMMANDS: dict[str, tuple[str, ...]] = {
    PYTHON: (sys.executable, "-c", "pass"),
    IMPORT: (sys.executable, "-c", IMPORT),
    VERSION: (str(Path(sys.executable).with_name("haulwright")), "--version"),
}


def startup(_bench: Bench, _database: str) -> list[Series]:
    """Whole processes from start to end, in turn; Python's own start stands beside them and is not taken off."""
    for command in _COMMANDS.values():
        _milliseconds(command)  # so that bytecode is there, and in memory
    runs: dict[str, list[float]] = {name: [] for name in _COMMANDS}
    for _ in range(RUNS):
        for name, command in _COMMANDS.items():
            runs[name].append(_milliseconds(command))
    return [Series(SCENARIO, name, MILLISECONDS, tuple(taken)) for name, taken in runs.items()]


def _milliseconds(command: tuple[str, ...]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return (time.perf_counter() - began) * 1000
