"""Joins: who waits for whom. A row is written under the fence of the job that waits, and goes when the other ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from haulwright.clock import Instant
from haulwright.engine.job import Lease
from haulwright.engine.join import JOIN_GATE, WaitedFor
from haulwright.engine.transitions import State
from haulwright.errors import LeaseLost, Refused
from haulwright.stores.books import book
from haulwright.stores.connection import Connection, Database, Params, Row, first

LIVES = 100
"""How often a dead letter may have been requeued one after the other; the last of them is taken as it is."""
SHOWN = 3
"""How many of the jobs that a job waits for are named."""
OUTCOMES_AT_ONCE = 200
FAMILY_LIMIT = 1000
"""How many of the jobs that one waits for are looked at together."""


class JoinedRow(NamedTuple):
    """How a job ended."""

    id: str
    state: State
    reason: str | None
    result: str | None
    error_class: str | None
    error_code: str | None
    error_message: str | None


@dataclass(frozen=True, slots=True)
class Standing:
    """How the jobs stand that somebody wants to wait for."""

    lives: dict[str, str]
    """The job that stands for each today: itself, or the last one that it was requeued as."""
    unfinished: list[str]
    """Those of them that still are to end."""
    states: dict[str, State] = field(default_factory=dict)
    """Of those, how each stands."""


class FamilyMember(NamedTuple):
    """A job that has not ended, of those that one waits for."""

    id: str
    state: str
    run_at: Instant

    @property
    def is_queued(self) -> bool:
        """Whether it waits to run."""
        return self.state == State.QUEUED


class Joins:
    """Jobs that wait for others, and are woken by the last of them."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._book = book("haulwright.stores", database.dialect, "joins")
        self._jobs = book("haulwright.stores", database.dialect, "jobs")

    def standing(self, tenant: str | None, ids: Sequence[str]) -> Standing:
        """How jobs of a tenant stand, or of all. Any other is in no row, and so it is not waited for."""
        return self._db.read(partial(self._standing, tenant=tenant, ids=ids))

    def _standing(self, connection: Connection, tenant: str | None, ids: Sequence[str]) -> Standing:
        lives = {job_id: job_id for job_id in ids}
        states: dict[str, State] = {}
        for _ in range(LIVES):
            names = {"tenant": tenant, "ids": sorted(set(lives.values()))}
            waiting: dict[str, str] = dict(connection.run(self._book["unfinished"], names))
            # After those that are not: a job only moves that way, and one that moved in between is finished.
            successors: dict[str, str | None] = dict(connection.run(self._book["finished"], names))
            states = {job_id: State(state) for job_id, state in waiting.items() if job_id not in successors}
            if not any(successors.values()):
                break
            lives = {job_id: successors.get(life) or life for job_id, life in lives.items()}
        return Standing(lives, sorted(states), states)

    def unfinished(self, tenant: str | None, ids: Sequence[str]) -> set[str]:
        """Those of some jobs of a tenant, or of all, that still are to end."""
        rows = self._db.read(partial(self._run, "unfinished", {"tenant": tenant, "ids": sorted(ids)}))
        return {str(job_id) for job_id, _ in rows}

    def wait(self, lease: Lease, ids: Sequence[str], *, any_tenant: bool = False) -> bool:
        """Write, under the fence of a run, whom its job waits for; False where all of them have ended meanwhile."""
        names = {"parent": lease.id, "tenant": None if any_tenant else lease.tenant, "ids": sorted(ids)}

        def work(connection: Connection) -> bool:
            if not connection.run(self._jobs["lock"], lease.key._asdict()):
                raise LeaseLost(lease.id, lease.fence, "join")
            waiting = first(connection.run(self._book["waits_for_me"], names))
            if waiting is not None:
                message = f"Job {lease.id} cannot wait for job {waiting[0]}, which waits for it."
                raise Refused(message, hint="One of the two must go on by itself.")
            connection.run(self._book["forget_others"], names)
            connection.run(self._book["wait_for"], names)
            connection.run(self._book["bell"], {})
            return bool(connection.run(self._book["left"], names))

        return self._db.transact(work, rows=len(ids))

    def outcomes(self, tenant: str | None, ids: Sequence[str], limit_bytes: int) -> dict[str, JoinedRow]:
        """How finished jobs of a tenant ended, or of all, up to a limit for all their results together."""
        rows: dict[str, JoinedRow] = {}
        size = 0
        for start in range(0, len(ids), OUTCOMES_AT_ONCE):
            names = {"tenant": tenant, "ids": ids[start : start + OUTCOMES_AT_ONCE]}
            for row in self._db.read(partial(self._run, "outcomes", names)):
                outcome = JoinedRow._make(row)
                rows[outcome.id] = outcome._replace(state=State(outcome.state))
                size += len(outcome.result or "")
            if size > limit_bytes:
                message = f"The results of {len(ids)} joined jobs are over {limit_bytes} bytes together."
                raise Refused(message, hint="Let the jobs return a reference to what they made, or join fewer of them.")
        return rows

    def wake(self, connection: Connection, ended: Sequence[str]) -> None:
        """Some jobs have ended that take part in a join: who waited for the last of its jobs is due."""
        parents = sorted({parent for (parent,) in connection.run(self._book["ended"], {"ids": list(ended)})})
        if parents:
            self._wake_ready(connection, parents)

    def settle_in(self, connection: Connection, parents: Sequence[str]) -> None:
        """Some jobs have gone to wait: who has nobody left to wait for is due at once, for nobody else will wake it."""
        ready = [parent for parent in parents if not connection.run(self._book["left"], {"parent": parent})]
        if ready:
            self._wake_ready(connection, ready)

    def waited_for(self, job_id: str) -> WaitedFor:
        """The jobs that a job waits for."""
        params = {"parent": job_id, "limit": SHOWN}
        rows = self._db.read(partial(self._run, "waited_for", params))
        return WaitedFor(rows[0][1] if rows else 0, tuple(child for child, _ in rows))

    def relatives(self, job_id: str, limit: int) -> tuple[list[str], list[str]]:
        """Who waits for a job, and for whom it waits: the first of each, by their ids."""
        rows = self._db.read(partial(self._run, "relatives", {"id": job_id, "limit": limit}))
        parents = [str(parent) for parent, child in rows if str(child) == job_id]
        return parents, [str(child) for parent, child in rows if str(parent) == job_id]

    def family(self, job_id: str) -> list[FamilyMember]:
        """A job and all that it waits for, if only through others, as far as they have not ended."""
        params = {"id": job_id, "limit": FAMILY_LIMIT}
        return [FamilyMember._make(row) for row in self._db.read(partial(self._run, "family", params))]

    def _run(self, entry: str, params: Params, connection: Connection) -> list[Row]:
        return connection.run(self._book[entry], params)

    def _wake_ready(self, connection: Connection, parents: list[str]) -> None:
        params = {"parents": parents, "gate": JOIN_GATE, "now": self._db.clock.now()}
        connection.run(self._book["lock_parents"], params)
        connection.run(self._book["wake_parents"], params)
