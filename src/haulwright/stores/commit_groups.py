"""Commits of several runs in one transaction: one wait for the disk, and few statements, for all of them.

It is tried once, and for the best. The jobs are held under their fences, each function does its work, and the results
are recorded together. Whatever raises in there takes the whole transaction back, and each commit goes alone. A function
may therefore be called once more, as after a lost race; no neighbour is harmed, for nothing of it was acknowledged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextvars import Context
from dataclasses import dataclass, replace
from functools import partial
from types import CodeType
from typing import TYPE_CHECKING, Any, Final, cast

from haulwright.engine.job import Lease
from haulwright.engine.lease import is_worth_renewal
from haulwright.engine.settlement import Settlement
from haulwright.stores.batches import batches, size_of_text
from haulwright.stores.books import book
from haulwright.stores.connection import Connection, Database, as_columns
from haulwright.stores.effects import Effects
from haulwright.stores.group_connection import GroupConnection
from haulwright.stores.job_rows import fenced
from haulwright.stores.leases import Leases
from haulwright.stores.settlements import Settlements

if TYPE_CHECKING:
    from haulwright.stores.pool import Closeable

SLOW_SECONDS: Final = 0.005
"""A function that took longer goes alone: its neighbours would wait for it."""
ALONE_SECONDS: Final = 1.0
"""How long a function goes alone by which a group was broken."""
KNOWN_FUNCTIONS: Final = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class CommitRequest:
    """What a run wants committed."""

    lease: Lease
    key: str
    name: str
    """As the ledger has it."""
    act: Callable[[Connection], str]
    """The user's function; its result as JSON."""
    code: CodeType | None
    """By which the function is known again."""
    worker: str
    settlement: Callable[[str | None], Settlement] | None = None
    """The end of the job, from that result, where the commit is that too."""

    def within(self, context: Context) -> CommitRequest:
        """The same for another thread: the function sees the context variables of its run."""
        return replace(self, act=lambda connection: context.run(self.act, connection))


class GroupBroken(Exception):
    """A group cannot be committed together: each of its commits goes alone."""


class CommitGroups:
    """Commits, alone and together."""

    _monotonic = staticmethod(time.monotonic)  # a seam, as that of the effects

    def __init__(self, database: Database, effects: Effects, leases: Leases, settlements: Settlements) -> None:
        self._db = database
        self._effects = effects
        self._leases = leases
        self._settlements = settlements
        self._book = book("haulwright.stores", database.dialect, "effects")
        self._alone_until: dict[CodeType, float] = {}
        """Until when a function goes alone, on the monotonic clock; one that is not known yet does too."""

    def may_join(self, request: CommitRequest) -> bool:
        """Whether its function is known to be quick, so that it may go with others."""
        return request.code is not None and self._alone_until.get(request.code, float("inf")) <= self._monotonic()

    def commit(self, request: CommitRequest) -> str | None:
        """Commit one alone, and return its result: of this run, or of the one that was first."""

        def work(connection: Connection) -> str | None:
            lease, key = request.lease, request.key
            _, text = self._effects.commit_on(connection, lease, key, request.name, lambda c: self._call(request, c))
            if request.settlement is not None:
                self._settlements.settle_on(connection, [request.settlement(text)], request.worker)
            return text

        return self._effects.under(request.lease, "commit", work)

    def commit_together(self, requests: Sequence[CommitRequest]) -> dict[CommitRequest, str]:
        """Commit several of different jobs and keys in one transaction; their results, once all are on disk.

        Left out, and to go alone, are those whose lease is gone and those that were done before. Raises where the
        others cannot be committed together either: then nothing of them is.
        """

        def work(connection: Connection) -> dict[CommitRequest, str]:
            began = self._monotonic()
            held = self._hold(connection, requests)
            texts = {request: self._call_in_group(request, connection) for request in held}
            self._record(connection, texts)
            self._settle(connection, texts)
            for request in held:
                if is_worth_renewal(self._monotonic() - began, request.lease.lease_us):
                    self._leases.renew_on(connection, request.lease)
            return texts

        def once(connection: Connection) -> dict[CommitRequest, str]:
            try:
                return work(connection)
            except Exception as error:
                raise GroupBroken from error  # not to be tried again, as a transaction of one would be

        return self._db.transact(once)

    def _hold(self, connection: Connection, requests: Sequence[CommitRequest]) -> list[CommitRequest]:
        """Lock the jobs under their fences: those that are held and whose commit is not in the ledger."""
        if len(requests) > 1:
            connection.run(self._book["begin_group"], {})
        columns = {
            **fenced([request.lease for request in requests]),
            "tenant": [request.lease.tenant for request in requests],
            "key": [request.key for request in requests],
        }
        rows = connection.run_batch(self._book["hold_commits"], columns, {})
        held = {(job_id, fence, worker_id) for job_id, fence, worker_id, is_new in rows if is_new}
        return [request for request in requests if request.lease.key in held]

    def _call_in_group(self, request: CommitRequest, connection: Connection) -> str:
        shared = GroupConnection(connection)
        try:
            text = self._call(request, shared)
        except BaseException:
            self._send_alone(request)
            raise
        if shared.is_refused or _has_ended(connection):
            self._send_alone(request)
            raise GroupBroken
        return text

    def _call(self, request: CommitRequest, connection: Connection) -> str:
        """Call the function, and note how long it took."""
        began = self._monotonic()
        text = request.act(connection)
        ended = self._monotonic()
        if request.code is not None:
            if len(self._alone_until) >= KNOWN_FUNCTIONS:
                self._alone_until.clear()
            self._alone_until[request.code] = float("inf") if ended - began > SLOW_SECONDS else 0.0
        return text

    def _send_alone(self, request: CommitRequest) -> None:
        if request.code is not None:
            self._alone_until[request.code] = self._monotonic() + ALONE_SECONDS

    def _record(self, connection: Connection, texts: dict[CommitRequest, str]) -> None:
        """Write what was done into the ledger; where one is there already, another job was faster under its key."""
        rows = [self._row(connection, request, text) for request, text in texts.items()]
        for batch in batches(rows, len(rows), lambda row: size_of_text(row["result"])):
            written = connection.run_batch(self._book["record_commits"], as_columns(batch), self._now())
            if len(written) < len(batch):
                raise GroupBroken

    def _row(self, connection: Connection, request: CommitRequest, text: str) -> dict[str, Any]:
        lease = request.lease
        named = {"tenant": lease.tenant, "key": request.key}
        owner = {"job_key": lease.job_key, "job_id": lease.id, "fence": lease.fence, "worker_id": lease.worker_id}
        return {**named, **owner, "name": request.name, **self._effects.keep(connection, named, text)}

    def _settle(self, connection: Connection, texts: dict[CommitRequest, str]) -> None:
        ends = [request.settlement(text) for request, text in texts.items() if request.settlement is not None]
        if ends:
            self._settlements.settle_on(connection, ends, next(iter(texts)).worker)

    def _now(self) -> dict[str, object]:
        return {"now": self._db.clock.now()}


def code_of(function: Callable[..., object]) -> CodeType | None:
    """By what a function is known again that may be made anew for each call, as methods and lambdas are."""
    while isinstance(function, partial):
        function = function.func
    code = getattr(function, "__code__", None)
    return code if isinstance(code, CodeType) else None


def _has_ended(connection: Connection) -> bool:
    """Whether the function, or the database under it, has ended the transaction: it is no longer that of the group."""
    return cast("Closeable", connection).usable()
