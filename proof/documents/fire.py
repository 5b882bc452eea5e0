"""Workers that fetch many documents and are killed with -9 while they do, and what is left when all is over."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Self

from haulwright import Haulwright
from haulwright.apps.documents import Documents
from haulwright.apps.documents.report import ReconcileReport
from haulwright.apps.documents.settings import DocumentSettings
from haulwright.apps.documents.views import DocumentView
from haulwright.errors import DatabaseUnavailable
from haulwright.operations.principal import Principal
from haulwright.sandbox import Sandbox, SandboxClock
from haulwright.stores import migrations
from proof.documents.shelf import Listed, fill, manifest
from proof.support.site import ROOT, START, Site

TENANT = "proof"
QUEUES = "documents,documents-upkeep"
ATTEMPTS = 200
"""A job whose worker dies under it more often than it may be tried is a dead letter, as it should: not here.

Its budget is written down by who plans it, and here that is the proof.
"""
FIGURES = {
    "HAULWRIGHT_DOCUMENTS_ATTEMPTS": str(ATTEMPTS),
    "HAULWRIGHT_DOCUMENTS_HOST_RATE": "1000000/min",
    "HAULWRIGHT_DOCUMENTS_HOST_BURST": "10000",
    "HAULWRIGHT_DOCUMENTS_HOST_CONCURRENCY": "1000",
    "HAULWRIGHT_DOCUMENTS_PRIVATE_HOSTS": "127.0.0.1",
}
TICK_SECONDS = 30
SPACING = (5, 30)
"""How many requests of workers lie between two kills."""
PATIENCE_SECONDS = 1_800.0
_NAP_SECONDS = 0.05
_FINAL = {"INDEXED", "DEDUPED", "SKIPPED_DUPLICATE", "FAILED"}


@dataclass(frozen=True, slots=True)
class Ending:
    """What was left when all documents had ended."""

    states: dict[str, int]
    by_kind: dict[str, Counter[str]]
    """The states of the documents of each kind of file."""
    stored: list[str]
    """The names of the files in the store, which are their hashes."""
    wrong: list[str]
    """Documents that did not end up as they should."""
    kills: int
    found: ReconcileReport
    """What the reconciler found first."""
    after: ReconcileReport
    """What it finds when it looks again, at every byte."""
    asked_again: int
    """Requests of a second import."""


class Fire:
    """A database, a host of files, and workers; time passes only while nobody has anything to do."""

    def __init__(self, site: Site, count: int, seed: int) -> None:
        self.site = site
        self.sandbox = Sandbox(seed=seed, clock=SandboxClock.standing(START / 1_000_000))
        self._count, self._seed = count, seed
        self._content = site.folder / "content"
        self._figures = FIGURES | {"HAULWRIGHT_DOCUMENTS_FOLDER": str(self._content)}
        self._over = threading.Event()

    def __enter__(self) -> Self:
        self.sandbox.__enter__()
        self.listed = fill(self.sandbox, self._count, self._seed)
        store = self.site.open_store()
        migrations.migrate(store.database, "haulwright.apps.documents")
        store.close()
        self.app = Haulwright(self.site.url, clock=self.site.clock)
        figures = DocumentSettings.load(
            folder=str(self._content), stale_part_seconds=0.0, private_hosts="127.0.0.1", attempts=ATTEMPTS
        )
        self.documents = Documents(self.app, figures=figures)
        self._ticking = threading.Thread(target=self._tick, daemon=True)
        self._ticking.start()
        return self

    def __exit__(self, *said: object) -> None:
        self._over.set()
        self._ticking.join()
        self.app.close()
        self.sandbox.__exit__(None, None, None)

    def burn(self, *, workers: int, kills: int, concurrency: int = 8) -> Ending:
        """Fetch everything while workers die, and look at what is left."""
        path = manifest(self.listed, self.site.folder / "manifest.jsonl")
        self.documents.take_in(Principal.of_tenant(TENANT), path)
        killed = self._work(workers, kills, concurrency)
        found = self.documents.reconcile(Principal.system())
        after = self.documents.reconcile(Principal.system(), dry_run=True, deep=True)
        ending = self._states()
        before = self.sandbox.books.count(service="files")
        self.documents.take_in(Principal.of_tenant(TENANT), path)
        self.app.run_worker(queues=["documents"], until_empty=True)
        asked = self.sandbox.books.count(service="files") - before
        by_kind: dict[str, Counter[str]] = {}
        for one in self.listed:
            by_kind.setdefault(one.kind, Counter())[ending[one.url]["state"]] += 1
        states = self.documents.artifacts.states(TENANT)
        return Ending(states, by_kind, self._stored(), self._wrong(ending), killed, found, after, asked)

    def _work(self, workers: int, kills: int, concurrency: int) -> int:
        """Have workers work until every document has ended; each is killed after a few more requests, and replaced."""
        luck, killed = Random(self._seed), 0
        target = luck.randrange(*SPACING)
        crew = [self._start(concurrency) for _ in range(workers)]
        until = time.monotonic() + PATIENCE_SECONDS
        try:
            while not self._is_over():
                assert time.monotonic() < until, f"documents do not get on: {self.documents.artifacts.states(TENANT)}"
                assert all(worker.poll() is None for worker in crew), "a worker ended by itself"
                if killed < kills and self.sandbox.books.count(service="files") >= target:
                    place = luck.randrange(workers)
                    crew[place].kill()
                    crew[place].wait()
                    crew[place] = self._start(concurrency)
                    killed, target = killed + 1, self.sandbox.books.count(service="files") + luck.randrange(*SPACING)
                time.sleep(_NAP_SECONDS)
        finally:
            for worker in crew:
                worker.kill()
                worker.wait()
        return killed

    def _start(self, concurrency: int) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "haulwright", "-A", "proof.documents.app:app", "worker", "--queues", QUEUES]
        options = ["--concurrency", str(concurrency), "--poll-interval", "0.05 s", "--stale-check-interval", "0.2 s"]
        told = subprocess.DEVNULL
        environment = self.site._environment() | self._figures
        return subprocess.Popen([*command, *options], cwd=ROOT, env=environment, stdout=told, stderr=told)

    def _is_over(self) -> bool:
        return set(self.documents.artifacts.states(TENANT)) <= _FINAL

    def _tick(self) -> None:
        """Let time pass whenever everybody waits."""
        while not self._over.wait(0.1):
            try:
                counts = self.app.store.queues.counts()
            except DatabaseUnavailable:
                continue
            if any(one.parked for one in counts) and not any(one.due or one.running for one in counts):
                self.site.clock.advance(TICK_SECONDS)

    def _states(self) -> dict[str, DocumentView]:
        """How each listed document stands, by its address."""
        return {row["canonical_url"]: row for row in self.documents.artifacts.list(TENANT, limit=1_000)}

    def _stored(self) -> list[str]:
        folder = self._content / TENANT
        return sorted(path.name for path in Path(folder).rglob("*") if path.is_file())

    def _wrong(self, ending: dict[str, DocumentView]) -> list[str]:
        wrong = [one for one in self.listed if not _is_right(one, ending[one.url])]
        return [f"{one.kind} {one.number}: {ending[one.url]}" for one in wrong]


def _is_right(one: Listed, standing: DocumentView) -> bool:
    if one.sha256 is None:
        return bool(standing["state"] == "FAILED" and standing["error_code"] == "wrong_kind")
    return bool(standing["sha256"] == one.sha256 and standing["state"] in _FINAL - {"FAILED"})


def expected(listed: list[Listed]) -> list[str]:
    """The hashes that the store should hold, each once."""
    return sorted({one.sha256 for one in listed if one.sha256 is not None})
