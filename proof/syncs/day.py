"""A simulated day: tenants and connections of every plan, faults of Airbyte, killed workers, one revoked credential."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from haulwright.engine.job import Job
from haulwright.engine.transitions import State
from haulwright.errors import Conflict
from haulwright.stores.listing import JobFilter
from haulwright.stores.paging import PAGE_LIMIT
from haulwright.testing.faults import Crash, When
from tests.apps.syncs.scenes import World, support

REVOKED: Final = "acme"
"""The tenant with a credential of its own that is revoked for a while."""
OWN_CREDENTIAL: Final = "own-acme"
JOBS: Final = "/airbyte/v1/jobs"
ACCOUNTS_SHARED: Final = 7
"""Every so-manieth connection reads an account that one of another tenant reads as well."""
MOMENTS: Final[tuple[tuple[str, When, str], ...]] = (
    ("syncs.sync", "after", "claim"),
    ("syncs.sync", "before", "trigger"),
    ("syncs.sync", "after", "trigger"),
    ("syncs.sync", "before", "begun:0"),
    ("syncs.sync", "after", "begun:0"),
    ("syncs.sync", "before", "settle"),
    ("syncs.poll", "after", "claim"),
    ("syncs.poll", "before", "settle"),
    ("syncs.dispatch", "after", "page:0"),
)
"""Where a worker may be killed."""
FAULTS: Final[tuple[dict[str, Any], ...]] = (
    {"kind": "lost_reply", "method": "POST"},
    {"kind": "status", "code": 500, "carried_out": True, "method": "POST"},
    {"kind": "status", "code": 503, "method": "POST"},
    {"kind": "refuse", "method": "POST"},
    {"kind": "rate_limit", "retry_after": 30, "method": "POST"},
    {"kind": "status", "code": 502, "method": "GET"},
    {"kind": "refuse", "method": "GET"},
)


MOST_WAITING: Final = 2
"""Faults and deaths that wait for their moment; more would meet one sync after another until its budget is spent."""


@dataclass(frozen=True)
class Size:
    """How much happens."""

    tenants: int
    connections: int
    hours: float = 24
    step_seconds: int = 60
    fault_share: float = 0.2
    """In how many of the steps Airbyte does something wrong."""
    kill_share: float = 0.05
    """In how many of the steps a worker is killed."""


@dataclass
class Day:
    """One day of one world."""

    world: World
    size: Size
    seed: int
    kills: int = 0
    requeued: list[str] = field(default_factory=list)
    """The jobs that support made of dead letters."""

    def __post_init__(self) -> None:
        self._luck = Random(self.seed)

    def begin(self) -> None:
        """Tenants with plans, and connections in the workspaces, some of which share an account."""
        workspaces = list(self.world.sandbox.airbyte.workspaces)
        tenants = [REVOKED, *(f"tenant-{number:03}" for number in range(1, self.size.tenants))]
        for place, tenant in enumerate(tenants):
            plan = "enterprise" if place % 20 in {0, 2} else "growth" if place % 5 == 1 else "free"
            self.world.syncs.connections.set_plan(tenant, plan, actor="proof")
        for number in range(self.size.connections):
            tenant = tenants[number % len(tenants)]
            said = {"credential": OWN_CREDENTIAL} if tenant == REVOKED else {}
            if number % ACCOUNTS_SHARED == 0 and tenant != REVOKED:
                said["external_account_id"] = f"account-{number // ACCOUNTS_SHARED % 10}"
            workspace = workspaces[number % len(workspaces)]
            self.world.connect(tenant, f"connection-{number:04}", workspace=workspace, **said)

    def live(self) -> None:
        """Let the day pass. In its second third the credential of one tenant is refused; then support helps."""
        steps = int(self.size.hours * 3600 / self.size.step_seconds)
        for step in range(steps):
            if step == steps // 3:
                self.world.sandbox.airbyte.script(revoke=f"client-{OWN_CREDENTIAL}")
            if step == 2 * steps // 3:
                self.world.sandbox.airbyte.tokens.revoked.clear()
                self._requeue()
            self._step()

    def finish(self) -> None:
        """Without further faults or dispatches, let everything end that is under way."""
        self.world.sandbox.faults.clear()
        self.world.bench.store.schedules.pause("syncs", tenant=None, actor="proof")
        for _ in range(400):
            self.drain()
            if not list(self.jobs(State.QUEUED)):
                return
            self.world.bench.advance(60)

    def drain(self) -> None:
        """Do what is due; where a worker is killed, another goes on."""
        self.world.bench.drain()
        while self._deaths():
            self.world.bench.drain()

    def jobs(self, state: State) -> Iterator[Job]:
        """The syncs in a state."""
        after = None
        while True:
            wanted = JobFilter(task="syncs.sync", state=state)
            page = self.world.bench.store.listing.page(wanted, after=after, limit=PAGE_LIMIT)
            yield from page.jobs
            after = page.next
            if after is None:
                return

    def _step(self) -> None:
        fault, moment = self._luck.choice(FAULTS), self._luck.choice(MOMENTS)
        if self._luck.random() < self.size.fault_share and len(self.world.sandbox.faults.waiting()) < MOST_WAITING:
            self.world.sandbox.faults.add(path=JOBS, **fault)
        if self._luck.random() < self.size.kill_share and len(self._crashes) < MOST_WAITING:
            self._crashes.append(Crash(*moment))
        self.drain()
        self.world.bench.advance(self.size.step_seconds)

    @property
    def _crashes(self) -> list[Crash]:
        return self.world.bench._faults.crashes

    def _deaths(self) -> int:
        """The deaths that happened since the last look; each is counted once."""
        died = [crash for crash in self._crashes if crash.happened]
        for crash in died:
            self._crashes.remove(crash)
        self.kills += len(died)
        return len(died)

    def _requeue(self) -> None:
        """Support gives every connection's newest dead letter another life; one that has an active sync needs none."""
        helped: set[str] = set()
        for job in self.jobs(State.DEAD):
            if job.unique_key in helped:
                continue
            helped.add(str(job.unique_key))
            try:
                made = self.world.syncs.requeue(support(job.tenant), job.id, correlation_id="ticket-4711")
            except Conflict:
                continue
            self.requeued.append(made.id)
