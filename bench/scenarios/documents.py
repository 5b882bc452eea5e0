"""Documents: many small files next to aria2c, which keeps no record, and one large file next to curl."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from bench import environment
from bench.figures import Series
from bench.hits import FILE_VARIABLE
from bench.lane import ADDRESS_VARIABLE, Bench
from bench.processes import BenchError, Child

HAULWRIGHT = "Haulwright"
ARIA = "aria2c"
CURL = "curl"
HASHED = "curl, then sha256sum"
DOCUMENTS_PER_SECOND = "documents/s"
MEBIBYTES_PER_SECOND = "MiB/s"
SIZE = 100_000
CONCURRENCY = 50
MEBIBYTE = 1024 * 1024
STEPS = {"statements": "statements", "transactions": "transactions", "cpu": "ms of processor"}
PATIENCE_SECONDS = 600.0
_LOOK_SECONDS = 0.02
_SAMPLES = "documents/{}.bin"
_LARGE = "large"


class _Order(NamedTuple):
    """What is to be fetched."""

    host: str
    files: int
    size: int
    path: str


def small(bench: Bench, database: str) -> list[Series]:
    """Files of 100 KB: asked for, stored, put on record; and what that asks of the database and the processor."""
    scenario, count = f"documents {database}", bench.plan.documents
    taken: dict[str, list[float]] = {HAULWRIGHT: [], ARIA: []}
    steps: dict[str, list[float]] = {name: [] for name in STEPS}
    with _site(bench, database) as (host, desk):
        for _ in range(bench.plan.rounds):
            seconds, spent = _ours(bench, database, desk, _Order(host, count, SIZE, _SAMPLES))
            taken[HAULWRIGHT].append(count / seconds)
            for name, figure in spent.items():
                steps[name].append(figure / count)
            if shutil.which(ARIA):
                taken[ARIA].append(count / _aria(bench, host, count))
            _say(bench, scenario, taken, DOCUMENTS_PER_SECOND)
    series = [_series(scenario, name, DOCUMENTS_PER_SECOND, runs, count) for name, runs in taken.items()]
    costs = f"documentcosts {database}"
    return series + [Series(costs, f"{STEPS[name]} a document", "", tuple(runs)) for name, runs in steps.items()]


def large(bench: Bench, database: str) -> list[Series]:
    """One large file, hashed while it comes and on disk for sure; curl writes it and leaves it to the system."""
    scenario, size = f"largedocument {database}", bench.plan.large_bytes
    taken: dict[str, list[float]] = {HAULWRIGHT: [], CURL: [], HASHED: []}
    with _site(bench, database) as (host, desk):
        for _ in range(bench.plan.rounds):
            seconds, _ = _ours(bench, database, desk, _Order(host, 1, size, _LARGE))
            taken[HAULWRIGHT].append(size / MEBIBYTE / seconds)
            if shutil.which(CURL):
                plain, hashed = _curl(bench, f"{host}/{_LARGE}?size={size}")
                taken[CURL].append(size / MEBIBYTE / plain)
                taken[HASHED].append(size / MEBIBYTE / hashed)
            _say(bench, scenario, taken, MEBIBYTES_PER_SECOND)
    return [_series(scenario, name, MEBIBYTES_PER_SECOND, runs, 1) for name, runs in taken.items()]


@contextmanager
def _site(bench: Bench, database: str) -> Iterator[tuple[str, Child]]:
    """A host of files, and who prepares the database of ours."""
    host = _child(bench, "desk", "bench.file_host", {})
    desk = None
    try:
        address = host.call("start")
        desk = _child(bench, "desk", "bench.documents_workload", _environment(bench, database))
        yield address, desk
    finally:
        for child in (host, desk):
            if child is not None:
                child.stop()


def _ours(bench: Bench, database: str, desk: Child, order: _Order) -> tuple[float, dict[str, float]]:
    """The seconds from the first claim to the last end, and what the worker took in all."""
    desk.call("reset")
    desk.call("fill", *order)
    bench.site.settle_down()
    worker = _child(bench, "worker", "bench.documents_workload", _environment(bench, database))
    try:
        worker.tell(setting={"concurrency": CONCURRENCY})
        until = time.monotonic() + PATIENCE_SECONDS
        while desk.call("left"):
            if worker.ended or time.monotonic() > until:
                raise BenchError(f"documents do not come to an end: {desk.call('states')}: {worker.last_words}")
            time.sleep(_LOOK_SECONDS)
        spent = {**worker.call("counts"), "cpu": worker.call("cpu") * 1000}
    finally:
        worker.stop()
    if desk.call("states") != {"INDEXED": order.files}:
        raise BenchError(f"the documents ended otherwise: {desk.call('states')}")
    return float(desk.call("seconds")), spent


def _aria(bench: Bench, host: str, count: int) -> float:
    """The seconds that aria2c takes for the same files."""
    with _folder(bench) as folder:
        listed = folder / "list"
        listed.write_text("".join(f"{host}/{_SAMPLES.format(n)}?size={SIZE}\n  out={n}.bin\n" for n in range(count)))
        quiet = ("--no-conf", "--console-log-level=error", "--summary-interval=0", "--file-allocation=none")
        many = (f"--max-concurrent-downloads={CONCURRENCY}", "--max-connection-per-server=1", "--split=1")
        seconds = _timed(ARIA, *quiet, *many, f"--dir={folder}", f"--input-file={listed}")
        whole = sum(path.stat().st_size == SIZE for path in folder.glob("*.bin"))
    if whole != count:
        raise BenchError(f"aria2c brought {whole} of {count} files")
    return seconds


def _curl(bench: Bench, url: str) -> tuple[float, float]:
    """The seconds that curl takes, and those until the hash of its file is known as well."""
    with _folder(bench) as folder:
        target = str(folder / "large")
        plain = _timed(CURL, "--silent", "--show-error", "--fail", "--output", target, url)
        return plain, plain + _timed("sha256sum", target)


def _timed(*command: str) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE_SECONDS)
    return time.perf_counter() - began


@contextmanager
def _folder(bench: Bench) -> Iterator[Path]:
    """A folder on the disk of our own store."""
    folder = bench.board.path.parent / "peer"
    folder.mkdir()
    try:
        yield folder
    finally:
        with suppress(OSError):
            shutil.rmtree(folder)


def _series(scenario: str, name: str, unit: str, runs: list[float], count: int) -> Series:
    program = name.partition(",")[0]
    failure = "" if runs else f"{program} is not installed (apt-get install {program.removesuffix('c')})"
    return Series(scenario, name, unit, tuple(runs), {"concurrency": CONCURRENCY}, count, failure)


def _say(bench: Bench, scenario: str, taken: dict[str, list[float]], unit: str) -> None:
    for name, runs in taken.items():
        if runs:
            bench.say(f"  {scenario}: {name}: {runs[-1]:,.0f} {unit}")


def _environment(bench: Bench, database: str) -> dict[str, str]:
    address = bench.site.address(database, f"documents_{database}")
    return {ADDRESS_VARIABLE: address, FILE_VARIABLE: str(bench.board.path)}


def _child(bench: Bench, role: str, module: str, environ: dict[str, Any]) -> Child:
    log = bench.logs / f"{module.rpartition('.')[2]}-{role}.log"
    return Child(environment.python_of(peer=False), role, module, environ, log)
