"""Death at a named point: the connections of this process are watched from outside, and it kills itself with -9.

A point is named by what happens there:

    before jobs.claim              an entry of a book is about to run
    inside jobs.claim              between two statements of an entry that has several
    after jobs.claim               it ran, and its transaction is open
    before the commit of jobs.claim
    after the commit of jobs.claim

and by whatever a task says about itself ("run: at its beginning").
"""

from __future__ import annotations

import os
import re
import signal
import time
from importlib.resources import files
from multiprocessing import parent_process
from typing import Any

from haulwright.stores.books import book
from haulwright.stores.postgres.connection import PostgresConnection
from haulwright.stores.sqlite.connection import SqliteConnection
from proof.support.site import GO_ON, HALTED, NTH_VARIABLE, POINT_VARIABLE, Site
from proof.support.workload import Reach

PACKAGE = "haulwright.stores"
_LOOK_SECONDS = 0.005


class Death:
    """Kills this process when a point is reached for the n-th time."""

    def __init__(self, point: str, nth: int = 1) -> None:
        self._point = point
        self._left = nth

    @classmethod
    def from_environment(cls) -> Death:
        """The death that this process was started for; none where no point is named."""
        return cls(os.environ.get(POINT_VARIABLE, ""), int(os.environ.get(NTH_VARIABLE, "1")))

    @property
    def is_planned(self) -> bool:
        """Whether there is a point to die at."""
        return bool(self._point)

    def reach(self, point: str) -> None:
        """Go on, or die here."""
        if point == self._point:
            self._left -= 1
            if self._left == 0:
                self._arrive()

    def _arrive(self) -> None:
        die()


class Halt(Death):
    """Makes this process stand still there instead, so that another one can be killed meanwhile."""

    def __init__(self, point: str, nth: int, site: Site) -> None:
        super().__init__(point, nth)
        self._site = site

    @classmethod
    def at(cls, site: Site) -> Halt:
        """The point at which this process is to stand still."""
        return cls(os.environ[POINT_VARIABLE], int(os.environ.get(NTH_VARIABLE, "1")), site)

    def _arrive(self) -> None:
        self._site.raise_flag(HALTED)
        while not self._site.has_flag(GO_ON):
            time.sleep(_LOOK_SECONDS)


def die() -> None:
    """Kill this process; a child takes the worker that it belongs to with it, as a loss of power would."""
    if parent_process() is not None:
        os.kill(os.getppid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def watch(reach: Reach) -> None:
    """Report every entry and every commit of this process, on both databases."""
    _watch(SqliteConnection, ("run", "run_batch"), reach)
    _watch(PostgresConnection, ("run",), reach)  # its `run_batch` is a `run` with arrays


def writing_entries() -> set[str]:
    """The entries that change something, on either database."""
    changes = re.compile(r"\b(insert into|update|delete from)\b")
    return {
        f"{noun}.{name}"
        for noun in _nouns("sqlite")
        for name, entry in book(PACKAGE, "sqlite", noun).items()
        if any(changes.search(statement) for statement in entry)
    }


def entry_names() -> dict[int, str]:
    """The name of each entry of each book, by the identity of the entry: two may have the same text."""
    return {
        id(entry): f"{noun}.{name}"
        for dialect in ("sqlite", "postgres")
        for noun in _nouns(dialect)
        for name, entry in book(PACKAGE, dialect, noun).items()
    }


def _nouns(dialect: str) -> list[str]:
    folder = files(PACKAGE) / dialect / "books"
    return sorted(path.name.removesuffix(".sql") for path in folder.iterdir() if path.name.endswith(".sql"))


def _watch(kind: type[Any], methods: tuple[str, ...], reach: Reach) -> None:
    names = entry_names()
    made = kind.__init__

    def init(self: Any, raw: Any, *rest: Any) -> None:
        made(self, _Watched(raw, reach), *rest)

    kind.__init__ = init
    for method in methods:
        setattr(kind, method, _watched(getattr(kind, method), names, reach))


def _watched(original: Any, names: dict[int, str], reach: Reach) -> Any:
    def run(self: Any, entry: Any, *rest: Any) -> Any:
        name = names.get(id(entry), "an entry of nobody")
        if self.raw.is_at_work:  # `run_batch` runs its entry through `run`
            return original(self, entry, *rest)
        reach(f"before {name}")
        self.raw.enter(name)
        try:
            rows = original(self, entry, *rest)
        finally:
            self.raw.leave()
        reach(f"after {name}")
        return rows

    return run


class _Watched:
    """A driver's connection that tells of its commits, and of the gaps between the statements of an entry."""

    def __init__(self, raw: Any, reach: Reach) -> None:
        self._raw = raw
        self._reach = reach
        self._used: list[str] = []
        self._current = ""
        self._statements = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)

    @property
    def is_at_work(self) -> bool:
        """Whether an entry has begun and is not over."""
        return bool(self._current)

    def enter(self, entry: str) -> None:
        """An entry begins."""
        self._used.append(entry)
        self._current, self._statements = entry, 0

    def leave(self) -> None:
        """It is over."""
        self._current = ""

    def execute(self, sql: Any, *rest: Any) -> Any:
        """Run a statement, telling what it is."""
        if sql == "commit":
            return self._commit()
        if isinstance(sql, str) and sql.startswith("begin"):
            self._used = [self._current] if self._current else []  # it may travel with the first entry
            return self._raw.execute(sql, *rest)
        if self._current and self._statements:
            self._reach(f"inside {self._current}")
        self._statements += 1
        return self._raw.execute(sql, *rest)

    def _commit(self) -> Any:
        used = list(dict.fromkeys(self._used))
        for name in used:
            self._reach(f"before the commit of {name}")
        done = self._raw.execute("commit")
        for name in used:
            self._reach(f"after the commit of {name}")
        return done
