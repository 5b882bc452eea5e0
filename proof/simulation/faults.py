"""A database that fails on demand, above the real one: what it says may be a lie, what it does is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from haulwright.clock import Clock
from haulwright.errors import DatabaseUnavailable
from haulwright.stores.books import Entry
from haulwright.stores.connection import Columns, Connection, Database, Listener, Params, Row, run
from proof.simulation.options import Fault

T = TypeVar("T")


class Died(BaseException):
    """The process of this actor is gone. Nothing that it would have done next happens."""


class FaultyDatabase:
    """One process's view of the database."""

    dialect = "sqlite"

    def __init__(self, inner: Database) -> None:
        self._inner = inner
        self.writers = 1
        self.answers_at_once = inner.answers_at_once
        self.batch_size, self.load_batch_size = inner.batch_size, inner.load_batch_size
        self.clock: Clock = inner.clock
        self.kind_of_error = inner.kind_of_error
        self.process, self.throttle = inner.process, inner.throttle
        self.next_fault: Fault | None = None
        """What goes wrong at the next transaction."""
        self.die_at_statement = 1
        self._dead = False

    def transact(self, work: Callable[[Connection], T], *, rows: int = 1) -> T:
        """Run work in one transaction, unless something goes wrong before, in or after it."""
        fault, self.next_fault = self._take_fault()
        if fault is Fault.BUSY:
            raise _unavailable("busy", unknown=False)
        if fault is Fault.DIE_INSIDE:
            self._inner.transact(lambda connection: self._die_inside(connection, work))
        value = self._inner.transact(work, rows=rows)
        if fault is Fault.DIE_AFTER:
            self._die()
        if fault is Fault.LOSE_REPLY:
            raise _unavailable("reply lost", unknown=True)
        return value

    def run_single(self, entry: Entry, params: Params, columns: Columns | None = None) -> list[Row]:
        """Run one entry as a transaction of its own: it may go wrong in the same ways."""
        return self.transact(lambda connection: run(connection, entry, params, columns))

    def run_nondurable(
        self, entry: Entry, params: Params, columns: Columns | None = None, *, waiting: bool = True
    ) -> list[Row] | None:
        """Run one entry: where its caller could wait, it may go wrong in the same ways."""
        return self.run_single(entry, params, columns) if waiting else None

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run work that reads: it may be refused, and has nothing to leave half done."""
        fault, self.next_fault = self._take_fault()
        if fault in {Fault.BUSY, Fault.LOSE_REPLY}:
            raise _unavailable(str(fault), unknown=False)
        if fault is not None:
            self._die()
        return self._inner.read(work)

    def listen(self) -> Listener:
        """What rings when somebody writes; nobody listens here, for the seed decides who goes on."""
        return self._inner.listen()

    def close(self) -> None:
        """Close what is open."""
        self._inner.close()

    def _take_fault(self) -> tuple[Fault | None, None]:
        if self._dead:
            raise Died
        return self.next_fault, None

    def _die_inside(self, connection: Connection, work: Callable[[Connection], Any]) -> None:
        work(_Dying(connection, self.die_at_statement))
        self._die()

    def _die(self) -> None:
        self._dead = True
        raise Died


class _Dying:
    """A connection whose process dies before a statement."""

    dialect = "sqlite"

    def __init__(self, inner: Connection, statements: int) -> None:
        self._inner = inner
        self._left = statements

    def __getattr__(self, name: str) -> Any:
        def run(*given: Any) -> Any:
            self._left -= 1
            if self._left < 0:
                raise Died
            return getattr(self._inner, name)(*given)

        return run


def _unavailable(why: str, *, unknown: bool) -> DatabaseUnavailable:
    problem = DatabaseUnavailable(f"simulated: {why}")
    problem.outcome_unknown = unknown
    return problem
