"""Orders that cost money elsewhere: a worker dies while it gives one, and the next one has to make it good."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from haulwright import Haulwright, Retry
from haulwright.client.handle import Handle
from haulwright.sandbox import Sandbox, SandboxClock
from proof.support.site import NTH_VARIABLE, POINT_VARIABLE, SHORT_LEASE, Site

WORKER = "proof.support.connector_worker"
SANDBOX_VARIABLE = "PROOF_SANDBOX"
"""The address of the outside world, for the worker."""
POLICY = Retry(5, base="10 s", jitter=0)
PAST_THE_LEASE_SECONDS = 121
PATIENCE_SECONDS = 120.0

POINTS = (
    "before effects.begin",
    "before the commit of effects.begin",
    "after the commit of effects.begin",
    "before effects.settle",
    "before the commit of effects.settle",
    "after the commit of effects.settle",
)
"""Where a worker kills itself: around the intent, and around the record of what was begun."""
MOMENTS = {
    "during the request, before it is carried out": {"kind": "hang", "seconds": 60},
    "during the request, after it was carried out": {"kind": "hang", "seconds": 60, "carried_out": True},
}
"""When a worker is killed from outside, and the fault that holds it there."""
FAULTS: dict[str, dict[str, Any]] = {
    "the reply is lost": {"kind": "lost_reply"},
    "500 after it began": {"kind": "status", "code": 500, "carried_out": True},
    "500 before it began": {"kind": "status", "code": 500},
    "dropped before it began": {"kind": "refuse"},
}


@dataclass(frozen=True)
class Market:
    """A site, the outside world beside it, and what is ordered there."""

    site: Site
    sandbox: Sandbox
    app: Haulwright
    starts: str
    """The path that orders are sent to."""
    begun: Callable[[], Sequence[Any]]
    """What was begun, and has to be paid for."""

    def order(self, task: str, wanted: str) -> Handle[Any]:
        """Enqueue a job, as a process does that only knows the task by name."""

        def elsewhere(wanted: str) -> str:
            raise AssertionError(wanted)

        return self.app.task(name=task, retry=POLICY, lease=SHORT_LEASE)(elsewhere).enqueue(wanted)

    def finish(self) -> None:
        """Let a fresh worker finish everything."""
        self.site.clock.advance(PAST_THE_LEASE_SECONDS)
        assert self.site.run(WORKER, **self._words()) == 0, "the fresh worker could not finish the work"

    def die_at(self, point: str, nth: int = 1) -> None:
        """Let a worker kill itself when it comes to a point for the n-th time."""
        code = self.site.run(WORKER, **self._words(), **{POINT_VARIABLE: point, NTH_VARIABLE: str(nth)})
        assert code == -signal.SIGKILL, f"the worker never came to this point: it ended with {code}"

    def kill_at(self, moment: str) -> None:
        """Kill a worker from outside while its request is under way, which is carried out all the same."""
        self.fail(**MOMENTS[moment])
        worker = self.site.spawn(WORKER, **self._words())
        carried_out = MOMENTS[moment].get("carried_out")
        self.sandbox.books.wait_for(lambda _: self.begun() if carried_out else self._is_held(), PATIENCE_SECONDS)
        worker.kill()
        assert worker.wait() == -signal.SIGKILL
        self.sandbox.faults.release()
        self.sandbox.books.wait_for(lambda _: self.begun(), PATIENCE_SECONDS)

    def fail(self, **fault: Any) -> None:
        """Let the next order meet a fault."""
        self.sandbox.faults.add(path=self.starts, method="POST", **fault)

    def _is_held(self) -> bool:
        return any(entry.fault for entry in self.sandbox.books.requests(path=self.starts, method="POST"))

    def _words(self) -> dict[str, str]:
        return {SANDBOX_VARIABLE: self.sandbox.url}


@contextmanager
def apify(site: Site) -> Iterator[Market]:
    """Where runs of actors are paid for."""
    with _outside(site) as sandbox, closing(Haulwright(site.url, clock=site.clock)) as app:
        sandbox.apify.longest_wait_seconds = 0.05
        yield Market(site, sandbox, app, "/apify/v2/actors/*/runs", sandbox.books.paid_runs)


@contextmanager
def airbyte(site: Site) -> Iterator[Market]:
    """Where syncs of connections are started."""
    with _outside(site) as sandbox, closing(Haulwright(site.url, clock=site.clock)) as app:
        yield Market(site, sandbox, app, "/airbyte/v1/jobs", sandbox.airbyte.jobs)


def _outside(site: Site) -> Sandbox:
    """The outside world, on the clock of the site."""
    return Sandbox(seed=7, clock=SandboxClock(lambda: site.clock.now() / 1_000_000))
