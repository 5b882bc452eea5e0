"""Small documents, each fetched by a process that kills itself with -9 at one step of it; others then make it good.

A step is a statement or a commit of the database, and whatever the process does to its files.
"""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from haulwright.apps.documents.fetching import Fetch
from haulwright.apps.documents.planning import PlannedArtifact
from haulwright.operations.principal import Principal
from haulwright.sandbox import Sandbox
from haulwright.testing.harness import Harness
from proof.support.crashing import watch
from tests.apps.documents.scenes import World

NEVER = "0 0 1 1 *"
"""When the watch of documents looks: not while a sweep goes on."""
PAST_THE_LEASE = "3 min"
PATIENCE_SECONDS = 60.0
FIRST = b"the very same\n" * 200
STEPS = ["DEDUPE", "FINALIZE", "HEAD", "INDEX", "STREAM"]
OPERATIONS = "select op_type from artifact_ops"
_FILE_ACTS: tuple[tuple[Any, str], ...] = (
    (os, "fsync"),
    (Path, "mkdir"),
    (Path, "replace"),
    (Path, "unlink"),
)
_processes = get_context("forkserver")
_processes.set_forkserver_preload(["proof.documents.deaths"])


@dataclass(frozen=True, slots=True)
class Death:
    """A document whose first run died, or came to its end as there are no more steps."""

    point: str
    """Where its process died; empty where it lived."""
    planned: PlannedArtifact
    sha256: str
    staged: list[str]
    """What was left in the staging when it was made good."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a process fetches."""

    database_url: str
    folder: Path
    """Where the clock is."""
    content: Path
    small_bytes: int


def find_harm(world: World, folder: Path, *, is_copy: bool, every: int = 1) -> tuple[list[str], list[str]]:
    """Let documents die at each step, or every so many; returns where they did, and what was not made good.

    Each has a content of its own, or all have that of one that is there already.
    """
    first = _add(world, "first.bin", FIRST) if is_copy else None
    world.finish()
    deaths = list(_die_at_each_step(world, folder, FIRST if is_copy else b"", every))
    wrong = [f"{death.point}: {why}" for death in deaths for why in _wrong_with(world, death, first)]
    contents = {death.sha256 for death in deaths}
    stored = {path.name for path in world.stored()}
    on_record = {sha256 for (sha256,) in world.rows("select sha256 from documents_files where missing_at is null")}
    if not stored == on_record == contents:
        wrong.append(f"stored {len(stored)}, on record {len(on_record)}, of {len(contents)} contents")
    report = world.documents.reconcile(Principal.system(), deep=True)
    if not report.agrees:
        wrong.append(f"the reconciler found {dict(report.counts)}")
    return [death.point for death in deaths if death.point], wrong


def _die_at_each_step(world: World, folder: Path, body: bytes, every: int) -> Iterator[Death]:
    """Plan a document for each step, let its run die there, and have it made good; the last one lives."""
    step, point = every, "yet to come"
    while point:
        content = body or f"{step} boats in the harbour\n".encode() * 200
        planned = _add(world, f"{step}.bin", content)
        point = _die(world, folder, step)
        world.bench.advance(PAST_THE_LEASE)
        world.finish()
        yield Death(point, planned, hashlib.sha256(content).hexdigest(), [path.name for path in world.staged()])
        step += every


def _wrong_with(world: World, death: Death, first: PlannedArtifact | None) -> Iterator[str]:
    """How a document did not end as it would have without its death."""
    state, reason = ("skipped", f"duplicate of {first.key}") if first else ("succeeded", None)
    outcome = "SKIPPED_DUPLICATE" if first else "INDEXED"
    job, standing = world.job(death.planned), world.standing(death.planned)
    if (job.state, job.reason) != (state, reason):
        yield f"its job is {job.state}: {job.reason}"
    if (standing["state"], standing["sha256"]) != (outcome, death.sha256):
        yield f"it is {standing['state']} with {standing['sha256']}"
    if job.attempts > 2 or (not death.point and job.attempts != 1):
        yield f"{job.attempts} attempts"
    if death.staged:
        yield f"left in the staging: {death.staged}"
    operations = [op for (op,) in world.rows(f"{OPERATIONS} where job_id = '{job.id}' order by op_type")]
    if operations != (STEPS[:3] + STEPS[4:] if first else STEPS):
        yield f"its operations are {operations}"


def _add(world: World, name: str, body: bytes) -> PlannedArtifact:
    world.sandbox.files.put(name, body)
    return world.add(name)


def _die(world: World, folder: Path, step: int) -> str:
    """Where the process died that was to die at this step of the run."""
    report_path = folder / "point"
    report_path.write_text("")
    bench = world.bench
    place = _Place(bench.database_url, folder, world.folder, world.documents.figures.small_bytes)
    process = _processes.Process(target=_fetch, args=(place, bench.now, step, report_path))
    process.start()
    process.join(PATIENCE_SECONDS)
    assert process.exitcode in {0, -signal.SIGKILL}, f"the process ended with {process.exitcode}"
    point = report_path.read_text()
    assert bool(point) == (process.exitcode != 0), f"it ended with {process.exitcode} and died {point}"
    return point


def _fetch(place: _Place, moment: datetime, step: int, report_path: Path) -> None:
    """Run what is due, and die at a step of the document."""
    steps = _Steps(step, report_path)
    watch(steps.reach)
    for where, name in _FILE_ACTS:
        setattr(where, name, steps.around(name, getattr(where, name)))
    steps.begin_with(Fetch, "_begin")
    bench = Harness(place.database_url, place.folder)
    bench.freeze(moment)
    World.open(bench, Sandbox(), place.content, cron=NEVER, small_bytes=place.small_bytes)
    bench.drain()
    os._exit(0)


class _Steps:
    """Counts the steps of a run, and kills this process at one of them."""

    def __init__(self, left: int, report_path: Path) -> None:
        self._left = left
        self._report = os.open(report_path, os.O_WRONLY)
        self._is_counting = False
        self._commit = ""

    def begin_with(self, kind: type[Any], name: str) -> None:
        """Count from the first call of this method on."""
        original = getattr(kind, name)

        @wraps(original)
        def begin(*args: Any, **options: Any) -> Any:
            self._is_counting = True
            return original(*args, **options)

        setattr(kind, name, begin)

    def around(self, name: str, act: Callable[..., Any]) -> Callable[..., Any]:
        """An act that is a step before it is done, and another one after it."""

        @wraps(act)
        def watched(*args: Any, **options: Any) -> Any:
            self.reach(f"before {name}")
            result = act(*args, **options)
            self.reach(f"after {name}")
            return result

        return watched

    def reach(self, point: str) -> None:
        """Go on, or die here."""
        commit = point.partition(" the commit ")[0] if " the commit " in point else ""
        is_same, self._commit = bool(commit) and commit == self._commit, commit
        if not self._is_counting or is_same:  # a commit is told once for each entry that it ends
            return
        self._left -= 1
        if self._left == 0:
            os.write(self._report, point.encode())
            os.kill(os.getpid(), signal.SIGKILL)
