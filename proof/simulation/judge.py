"""The judge: after every call the tables are compared with what they were, row by row.

Nothing is believed that the store says about itself. Each check is named after the invariant that it stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from haulwright.engine.job import LeaseKey
from proof.simulation.acts import Act
from proof.simulation.snapshot import EventRow, JobRow, Snapshot
from proof.simulation.world import World

_EVENTS = "select seq, name, job_id, fence, actor from haulwright_events where seq > ? order by seq"


@dataclass(frozen=True, slots=True)
class Change:
    """One call of the store: what the tables were before it, and what they are."""

    act: Act
    before: Snapshot
    after: Snapshot
    now: int
    events: list[EventRow]
    """What was told meanwhile."""
    completed: bool
    """Whether the call came to its end."""


@dataclass(frozen=True, slots=True)
class Check:
    """What must be true of every change."""

    invariant: str
    name: str
    promise: str
    find: Callable[[Change], Iterator[str]]


CHECKS: list[Check] = []


def check(invariant: str) -> Callable[[Callable[[Change], Iterator[str]]], Callable[[Change], Iterator[str]]]:
    """A check of every change, named after its function; what it promises is the first line of its docstring."""

    def register(find: Callable[[Change], Iterator[str]]) -> Callable[[Change], Iterator[str]]:
        promise = (find.__doc__ or "").splitlines()[0]
        CHECKS.append(Check(invariant, find.__name__, promise, find))
        return find

    return register


class Judge:
    """Looks at each call, and remembers what must not have happened."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.wrong: list[str] = []
        self._latest = world.clock.time
        """The latest time that the clock has shown: it may be set back."""
        self.begin()

    def begin(self) -> None:
        """Look at everything anew: the database is another one."""
        self._last: Snapshot = self._world.database.read(Snapshot.of)
        self._seq = self._world.database.read(_last_event)
        self._unwoken = self._forgotten(self._last)
        """Who waits for jobs that have all ended, because the call that had to wake it broke off."""
        self._world.touched.clear()

    def look(self, act: Act, *, completed: bool) -> None:
        """Compare the tables with what they were before this call."""
        world, before = self._world, self._last
        stale = sum(not before.holds(lease.key) for lease in act.leases)
        if stale and act.verb in {"run", "renew", "settle", "pass"}:
            world.seen["a stale write was refused"] += stale
        touched = {*world.touched}
        world.touched.clear()
        after, events = before, []
        if touched:
            after = self._last = world.database.read(lambda connection: before.again(connection, touched))
            events = self._new_events() if "haulwright_events" in touched else []
        if after is not before or events:
            change = Change(act, before, after, world.clock.time, events, completed)
            for one in CHECKS:
                for what in one.find(change):
                    self.wrong.append(f"{one.invariant} {one.name}: {act.verb}: {what}")
            self._note(change)
        self._look_for_unwoken(act, after, completed=completed)

    def _new_events(self) -> list[EventRow]:
        events = [EventRow._make(row) for row in self._world.database.read(self._events_since)]
        self._seq = events[-1].seq if events else self._seq
        return events

    def _events_since(self, connection: Any) -> list[Any]:
        return list(connection.execute(_EVENTS, (self._seq,)))

    def _look_for_unwoken(self, act: Act, after: Snapshot, *, completed: bool) -> None:
        """Who waits for jobs that have all ended is due, unless the call that had to wake it broke off."""
        forgotten = self._forgotten(after)
        if not completed:
            self._unwoken |= forgotten
        for job in forgotten - self._unwoken:
            self.wrong.append(f"I18 parents_are_woken: {act.verb}: {job} waits for jobs that have all ended")
        self._unwoken &= forgotten

    def _forgotten(self, after: Snapshot) -> set[str]:
        """Those who were woken before the clock was set back are due when it has caught up, and not forgotten."""
        latest = self._latest = max(self._latest, self._world.clock.time)
        waiting = {job.id for job in after.jobs.values() if job.waiting_on == "join" and job.run_at > latest}
        return waiting and waiting - {parent for child, parent in after.joins if child in after.jobs}

    def _note(self, change: Change) -> None:
        """Count the rare things that can be seen in the tables."""
        seen, before, after = self._world.seen, change.before, change.after
        if change.act.verb in {"settle", "run"}:  # a commit may settle its job, and its reply be lost
            self._world.settled |= {lease.key for lease in change.act.leases if _ended(change, lease.key)}
        for key, new in after.sources.items() if after.sources is not before.sources else ():
            old = before.sources.get(key)
            if old is not None and old.breaker != new.breaker:
                seen[f"a breaker went from {old.breaker} to {new.breaker}"] += 1
        for slot in after.slots.keys() - before.slots.keys() if after.slots is not before.slots else ():
            seen[f"a slot was {after.slots[slot].disposition}"] += 1
        for job, old_row in before.jobs.items():
            row, past = after.jobs.get(job), after.past.get(job)
            if row is not None:
                self._note_job(change, old_row, row)
            elif past is not None:
                seen[f"a job ended {past.state}{f' ({past.reason})' if past.state == 'dead' else ''}"] += 1

    def _note_job(self, change: Change, before: JobRow, after: JobRow) -> None:
        seen = self._world.seen
        if change.act.verb == "run" and after.lease_expires_at != before.lease_expires_at:
            seen["a long commit renewed its own lease"] += 1
        elif after.waiting_on and after.waiting_on != before.waiting_on:
            seen[f"a job waited for {_gate(after.waiting_on)}"] += 1
        elif after.waiting_on == "join" and after.run_at < before.run_at:
            seen["a job was woken by the last that it waited for"] += 1


def _ended(change: Change, lease: LeaseKey) -> bool:
    return change.before.holds(lease) and not change.after.holds(lease)


def _gate(waiting_on: str) -> str:
    kind, _, rest = waiting_on.partition(":")
    return f"the {rest.rpartition(':')[2]} of a source" if kind == "source" else kind


def _last_event(connection: Any) -> int:
    return int(connection.execute("select coalesce(max(seq), 0) from haulwright_events")[0][0])
