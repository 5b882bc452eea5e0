"""The ledger: effects with their intents and results, the blobs of large results, and the stages of jobs.

Whatever a run writes here is written in a transaction that first holds its job under its fence.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from haulwright import events
from haulwright.clock import SECOND, Instant
from haulwright.engine.job import Lease
from haulwright.engine.lease import is_worth_renewal
from haulwright.engine.payload import EFFECT_INLINE_LIMIT_BYTES, EFFECT_LIMIT_BYTES
from haulwright.engine.stages import StageMachine
from haulwright.errors import EffectMismatch, LeaseLost, NotFound, Throttled
from haulwright.events import Event
from haulwright.stores.books import book
from haulwright.stores.connection import Connection, Database, Row, first
from haulwright.stores.events import Events
from haulwright.stores.leases import Leases

T = TypeVar("T")
LIST_LIMIT = 500
IN_HAND_SECONDS = 5.0
"""How long a job waits for another one that is at the same effect."""


@dataclass(frozen=True, slots=True)
class Begun:
    """What the ledger says about an effect that is about to happen."""

    state: Literal["new", "in_doubt", "done", "unknown"]
    result: str | None = None
    dropped: bool = False
    """It happened, and its result was too large to keep."""
    tries: int = 1
    """How often it was begun: by this a run knows again what it looked at."""


@dataclass(frozen=True, slots=True)
class EffectRow:
    """An effect as it stands in the ledger."""

    key: str
    name: str
    kind: str
    state: str
    fence: int
    tries: int
    started_at: Instant
    settled_at: Instant | None
    stored: str
    result: str | None


@dataclass(frozen=True, slots=True)
class OpenEffect:
    """An effect of which nobody knows whether it happened."""

    tenant: str
    key: str
    name: str
    job_id: str
    state: str
    """`unknown`: a person must find out. `in_doubt`: the next run of its job finds out, and there is none."""
    tries: int
    started_at: Instant


class Effects:
    """What runs have done, and mean to do."""

    _monotonic = staticmethod(time.monotonic)  # a seam: in the simulation a seed decides how long a commit takes

    def __init__(self, database: Database, record: Events, leases: Leases) -> None:
        self._db = database
        self._events = record
        self._leases = leases
        self._book = book("haulwright.stores", database.dialect, "effects")

    def begin(self, lease: Lease, key: str, name: str) -> Begun:
        """Write the intent of an effect, or learn that it is done, in doubt, or unknown."""

        def work(connection: Connection) -> Begun:
            if self._intend(connection, lease, key, name, "effect"):
                return Begun("new")
            named = self._named(lease, key)
            recorded = self._recorded(connection, named, name)
            if recorded.state == "in_doubt":
                # Held before it is decided: of two jobs that meet at a shared key, the second sees what the first did.
                recorded = self._recorded(connection, named, name, "hold")
            if recorded.state == "in_doubt":
                mine = named | {"fence": lease.fence, "job_id": lease.id, "worker_id": lease.worker_id}
                self._leave_to_others(connection, mine)
                connection.run(self._book["begin_again"], mine)
            return recorded

        return self.under(lease, "effect", work)

    def settle(self, lease: Lease, key: str, result: str) -> None:
        """Record the result of an effect that was begun."""
        self.under(lease, "effect", lambda connection: self._settle_on(connection, lease, key, result))

    def mark_unknown(self, lease: Lease, key: str, name: str) -> None:
        """Park an at-most-once effect that was interrupted: a person must find out whether it happened."""

        def work(connection: Connection) -> None:
            params = self._named(lease, key) | {"now": self._db.clock.now()}
            if connection.run(self._book["mark_unknown"], params):
                data = {"job_id": lease.id, "key": key, "effect": name}
                event = Event(events.EFFECT_UNKNOWN, lease.tenant, lease.id, lease.attempts, lease.fence, data=data)
                self._events.record(connection, [event])

        self.under(lease, "effect", work)

    def forget(self, lease: Lease, key: str, recorded: Begun) -> None:
        """Give up a recorded result whose artefact is gone: the effect is begun anew under the same key.

        Where another run was faster, this one comes back for its result.
        """
        mine = self._named(lease, key) | {"fence": lease.fence, "job_id": lease.id, "worker_id": lease.worker_id}

        def work(connection: Connection) -> None:
            if not connection.run(self._book["forget"], mine | {"tries": recorded.tries}):
                self._leave_to_others(connection, mine)
                raise _patience(key, "another run made this effect anew")

        self.under(lease, "effect", work)

    def commit_on(
        self, connection: Connection, lease: Lease, key: str, name: str, act: Callable[[Connection], str]
    ) -> tuple[bool, str | None]:
        """The body of a commit, inside a transaction that holds the job."""
        # The intent comes first: another job that commits under this key waits for it, and finds it done.
        if self._intend(connection, lease, key, name, "commit"):
            result = act(connection)
            self._settle_on(connection, lease, key, result)
            return True, result
        recorded = self._recorded(connection, self._named(lease, key), name)
        if recorded.state != "done":
            raise EffectMismatch(key, f"effect {name}", f"commit {name}")
        return False, recorded.result

    def under(self, lease: Lease, verb: str, work: Callable[[Connection], T]) -> T:
        """Run work in one transaction that first holds the job under its fence.

        Nobody else can renew the lease meanwhile. Where that takes long, it renews it: who watches sees it move.
        """

        def fenced(connection: Connection) -> T:
            began = self._monotonic()
            if not self._leases.hold(connection, lease):
                raise LeaseLost(lease.id, lease.fence, verb)
            value = work(connection)
            if is_worth_renewal(self._monotonic() - began, lease.lease_us):
                self._leases.renew_on(connection, lease)
            return value

        return self._db.transact(fenced)

    def of_job(
        self, tenant: str, job_key: str, limit: int = LIST_LIMIT, *, after: str | None = None
    ) -> list[EffectRow]:
        """The effects of a job, in the order of their beginning; those after the effect of a key."""
        params = {"tenant": tenant, "job_key": job_key, "after": after, "limit": limit}
        rows = self._db.read(lambda connection: connection.run(self._book["of_job"], params))
        return [EffectRow(*row) for row in rows]

    def open(
        self, tenant: str | None, age_seconds: float, *, after: tuple[str, str] | None = None, limit: int = LIST_LIMIT
    ) -> list[OpenEffect]:
        """Unknown effects, and intents of this age that no job will finish; those after a tenant and key."""
        params = {
            "tenant": tenant,
            "age_us": round(age_seconds * SECOND),
            "after_tenant": after[0] if after else None,
            "after_key": after[1] if after else None,
            "limit": limit,
            "now": self._db.clock.now(),
        }
        rows = self._db.read(lambda connection: connection.run(self._book["open"], params))
        return [OpenEffect(*row) for row in rows]

    def find(self, tenant: str, key: str) -> Begun | None:
        """What is recorded under a key, if anything."""
        named = {"tenant": tenant, "key": key}

        def work(connection: Connection) -> Begun | None:
            row = first(connection.run(self._book["find"], named))
            return None if row is None else self._begun(connection, named, row)

        return self._db.read(work)

    def abandoned(self, age_seconds: float, limit: int = LIST_LIMIT) -> list[Row]:
        """Intents that no job will finish: (tenant, key, name, job id, since)."""
        params = {"age_us": round(age_seconds * SECOND), "limit": limit, "now": self._db.clock.now()}
        return self._db.read(lambda connection: connection.run(self._book["abandoned"], params))

    def resolve(  # noqa: PLR0913 - a verdict: on which effect, what, by whom and why
        self, tenant: str, key: str, *, happened: bool, result: str | None, actor: str, reason: str
    ) -> None:
        """A person found out about an unknown effect: it happened, or it did not and may run again."""

        def work(connection: Connection) -> None:
            named = {"tenant": tenant, "key": key}
            confirmed = named | {"result": result, "now": self._db.clock.now()}
            entry, params = ("confirm_unknown", confirmed) if happened else ("deny_unknown", named)
            row = first(connection.run(self._book[entry], params))
            if row is None:
                raise NotFound("unknown effect", key)
            job_id, name = row
            resolution = "happened" if happened else "did_not_happen"
            data = {"job_id": job_id, "key": key, "effect": name, "resolution": resolution, "reason": reason}
            self._events.record(connection, [Event(events.EFFECT_RESOLVED, tenant, job_id, actor=actor, data=data)])

        self._db.transact(work)

    def prune(self, connection: Connection, job_keys: Sequence[tuple[str, str]]) -> None:
        """Remove what only pruned jobs needed."""
        if not job_keys:
            return
        columns = {"tenant": [tenant for tenant, _ in job_keys], "job_key": [key for _, key in job_keys]}
        for entry in ("prune_blobs", "prune", "prune_stages"):
            connection.run_batch(self._book[entry], columns, {})

    def stage(self, tenant: str, job_key: str) -> str | None:
        """The stage of a job key, if it has one."""
        return self._db.read(lambda connection: _stage_of(self._stage_row(connection, tenant, job_key)))

    def move(self, lease: Lease, machine: StageMachine, to: str) -> str:
        """Move a job's stage; an illegal move raises, and being there or past it already is no error."""
        return self.under(lease, "stage", lambda connection: self.move_on(connection, lease, machine, to))

    def move_on(self, connection: Connection, lease: Lease, machine: StageMachine, to: str) -> str:
        """The body of a move, inside a transaction that holds the job. Returns the stage that now holds."""
        generation, stage = self._generation(connection, lease, machine)
        if machine.reached(stage, to):
            return stage
        machine.check(stage, to)
        params = {
            "tenant": lease.tenant,
            "job_key": lease.job_key,
            "generation": generation,
            "machine": machine.name,
            "stage": to,
            "job_id": lease.id,
            "fence": lease.fence,
            "now": self._db.clock.now(),
        }
        connection.run(self._book["put_stage"], params)
        return to

    def _generation(self, connection: Connection, lease: Lease, machine: StageMachine) -> tuple[int, str]:
        """Where a job stands. A requeue starts a generation: where its dead letter stood, or anew if that was final."""
        row = self._stage_row(connection, lease.tenant, lease.job_key)
        if row is None:
            return 1, machine.start
        generation, _, stage, job_id, _ = row
        if job_id == lease.id:
            return generation, stage
        return generation + 1, machine.start if machine.is_final(stage) else stage

    def _stage_row(self, connection: Connection, tenant: str, job_key: str) -> Row | None:
        return first(connection.run(self._book["stage"], {"tenant": tenant, "job_key": job_key}))

    def _intend(self, connection: Connection, lease: Lease, key: str, name: str, kind: str) -> bool:
        """Write the intent; False where the key is in the ledger already."""
        owner = {"job_key": lease.job_key, "job_id": lease.id, "fence": lease.fence, "worker_id": lease.worker_id}
        intent = self._named(lease, key) | owner | {"name": name, "kind": kind, "now": self._db.clock.now()}
        return bool(connection.run(self._book["begin"], intent))

    def _leave_to_others(self, connection: Connection, mine: dict[str, Any]) -> None:
        """A key given by the task may be shared: while another job's run is at it, there is no doubt, only patience."""
        other = first(connection.run(self._book["in_hand"], mine))
        if other is not None:
            job_id, name = other
            raise _patience(mine["key"], f"job {job_id} is at the effect {name!r} under this key")

    def _settle_on(self, connection: Connection, lease: Lease, key: str, result: str) -> None:
        named = self._named(lease, key)
        kept = self.keep(connection, named, result)
        ended = {"fence": lease.fence, "worker_id": lease.worker_id, "now": self._db.clock.now()}
        if not connection.run(self._book["settle"], named | kept | ended):
            raise LeaseLost(lease.id, lease.fence, "effect")

    def _named(self, lease: Lease, key: str) -> dict[str, Any]:
        return {"tenant": lease.tenant, "key": key}

    def _recorded(self, connection: Connection, named: dict[str, Any], name: str, entry: str = "find") -> Begun:
        row = connection.run(self._book[entry], named)[0]
        if row[0] != name:
            raise EffectMismatch(named["key"], row[0], name)
        return self._begun(connection, named, row)

    def _begun(self, connection: Connection, named: dict[str, Any], row: Row) -> Begun:
        _, _, state, _, result, stored, tries, _ = row
        if state == "intent":
            return Begun("in_doubt", tries=tries)
        if stored == "blob":
            ((body,),) = connection.run(self._book["get_blob"], named)
            result = zlib.decompress(body).decode()
        return Begun(state, result, dropped=stored == "dropped", tries=tries)

    def keep(self, connection: Connection, named: dict[str, Any], result: str) -> dict[str, Any]:
        """Where a result is kept: in the row, compressed beside it, or nowhere. Writes what stands beside it."""
        size = len(result.encode())
        if size <= EFFECT_INLINE_LIMIT_BYTES:
            return {"result": result, "stored": "inline"}
        if size > EFFECT_LIMIT_BYTES:
            return {"result": None, "stored": "dropped"}
        connection.run(self._book["put_blob"], named | {"body": zlib.compress(result.encode())})
        return {"result": None, "stored": "blob"}


def _patience(key: str, message: str) -> Throttled:
    return Throttled(message, after=IN_HAND_SECONDS, gate=f"effect:{key[:16]}")


def _stage_of(row: Row | None) -> str | None:
    return None if row is None else row[2]
