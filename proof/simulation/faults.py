"""A database that fails on demand, above the real one: what it says may be a lie, what it does is not."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from haulwright.clock import Clock
from haulwright.errors import DatabaseUnavailable
from haulwright.stores.books import Entry
from haulwright.stores.connection import Columns, Connection, Database, Listener, Params, Row, run
from haulwright.stores.process_state import ProcessState
from proof.simulation.options import Fault

if TYPE_CHECKING:
    from haulwright.stores.pool import Closeable

T = TypeVar("T")

BATCH_SIZE = 100
_WRITTEN = re.compile(r"\b(?:insert\s+into|update|delete\s+from)\s+((?:haulwright|proof)_\w+)", re.IGNORECASE)


class Died(BaseException):
    """The process of this actor is gone. Nothing that it would have done next happens."""


class FaultyDatabase:
    """One process's view of the database."""

    dialect = "sqlite"
    writers = 1
    batch_size = load_batch_size = BATCH_SIZE

    def __init__(self, inner: Database, touched: set[str]) -> None:
        self._inner = inner
        self._touched = touched
        """The tables that somebody wrote to since the judge last looked."""
        self.answers_at_once = inner.answers_at_once
        self.clock: Clock = inner.clock
        self.kind_of_error = inner.kind_of_error
        self.process = ProcessState()
        self.throttle = self.process.throttle
        self.between: Callable[[], None] = lambda: None
        """Called between two transactions of one call: others may go first."""
        self._transactions = 0
        """How many this call has begun."""
        self._fault: Fault | None = None
        self._fault_at = 0
        self._stays_away = False
        self._die_at_statement = 0
        self._dead = False
        self.has_failed = False
        """Whether something went wrong in this call."""

    def begin_call(
        self, fault: Fault | None = None, *, at: int = 0, statement: int = 0, stays_away: bool = False
    ) -> None:
        """A call begins; a fault strikes at one of its transactions, and may keep the database away after it."""
        self._transactions = 0
        self.has_failed = False
        self._fault, self._fault_at, self._stays_away = fault, at, stays_away
        self._die_at_statement = statement

    def transact(self, work: Callable[[Connection], T], *, rows: int = 1) -> T:  # noqa: ARG002 - here nobody gives way
        """Run work in one transaction, unless something goes wrong before, in or after it."""
        fault = self._next_fault()
        if fault is Fault.BUSY:
            raise _unavailable("busy", unknown=False)
        if fault is Fault.DIE_INSIDE:
            self._inner.transact(lambda connection: self._die_inside(connection, work))
        value = self._inner.transact(lambda connection: work(_Watched(connection, self._touched)))
        if fault is Fault.DIE_AFTER:
            self._die()
        if fault is Fault.LOSE_REPLY:
            raise _unavailable("reply lost", unknown=True)
        return value

    def run_single(
        self, entry: Entry, params: Params, columns: Columns | None = None, *, rows: int | None = None
    ) -> list[Row]:
        """Run one entry as a transaction of its own: it may go wrong in the same ways."""
        return self.transact(lambda connection: run(connection, entry, params, columns), rows=rows or 1)

    def run_nondurable(
        self, entry: Entry, params: Params, columns: Columns | None = None, *, waiting: bool = True
    ) -> list[Row] | None:
        """Run one entry: where its caller could wait, it may go wrong in the same ways."""
        return self.run_single(entry, params, columns) if waiting else None

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run work that reads: it may be refused, and has nothing to leave half done."""
        fault = self._next_fault()
        if fault in {Fault.BUSY, Fault.LOSE_REPLY}:
            raise _unavailable(str(fault), unknown=False)
        if fault is not None:
            self._die()
        return self._inner.read(work)

    def require_unchanged(self) -> None:
        """The file stays as it is here."""
        self._inner.require_unchanged()

    def listen(self) -> Listener:
        """What rings when somebody writes; nobody listens here, for the seed decides who goes on."""
        return self._inner.listen()

    def close(self) -> None:
        """Close what is open."""

    def require_alive(self) -> None:
        """Raise where this process has died, although somebody in it went on."""
        if self._dead:
            raise Died

    def _next_fault(self) -> Fault | None:
        """What goes wrong at the transaction that begins now."""
        self.require_alive()
        if self._transactions:
            self.between()
        self._transactions += 1
        place = self._transactions - 1
        fault = self._fault if place == self._fault_at else None
        if self._fault is not None and self._stays_away and place > self._fault_at:
            fault = Fault.BUSY
        self.has_failed = self.has_failed or fault is not None
        return fault

    def _die_inside(self, connection: Connection, work: Callable[[Connection], Any]) -> None:
        work(_Dying(connection, self._die_at_statement))
        self._die()

    def _die(self) -> None:
        self._dead = True
        raise Died


class _Watched:
    """A connection that notes which tables are written to, by the text of each statement."""

    dialect = "sqlite"

    def __init__(self, inner: Connection, touched: set[str]) -> None:
        self._inner = inner
        self._touched = touched

    def run(self, entry: Entry, params: Params) -> list[Row]:
        self._touched |= _tables(entry)
        return self._inner.run(entry, params)

    def run_batch(self, entry: Entry, columns: Columns, common: Params) -> list[Row]:
        self._touched |= _tables(entry)
        return self._inner.run_batch(entry, columns, common)

    def bulk_insert(self, entry: Entry, rows: Any) -> None:
        self._touched |= _tables(entry)
        self._inner.bulk_insert(entry, rows)

    def execute(self, sql: str, params: Any = None) -> list[Row]:
        self._touched |= _tables((sql,))
        return self._inner.execute(sql, params)

    def script(self, sql: str) -> None:
        self._touched |= _tables((sql,))
        self._inner.script(sql)

    def usable(self) -> bool:
        return cast("Closeable", self._inner).usable()

    def close(self) -> None:
        self._inner.close()


@cache
def _tables(entry: Entry) -> frozenset[str]:
    """The tables that the statements of an entry write to."""
    return frozenset(name for statement in entry for name in _WRITTEN.findall(statement))


class _Dying:
    """A connection whose process dies before a statement."""

    dialect = "sqlite"

    def __init__(self, inner: Connection, statements: int) -> None:
        self._inner = inner
        self._left = statements

    def usable(self) -> bool:
        return cast("Closeable", self._inner).usable()

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
