"""Commits of several simulated runs in one transaction: the real queue and the real groups, without a writer's thread.

All that is drawn for it comes from a generator of its own, so that a seed in which no commits ride together is the
history that it always was.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, cast

from haulwright.client.commit_queue import Answer, CommitQueue, Committed, Failed, GoAlone, _Rider
from haulwright.stores.commit_groups import CommitRequest, code_of
from proof.simulation.options import Theme

if TYPE_CHECKING:
    from collections.abc import Callable

    from haulwright.engine.job import Lease
    from haulwright.stores.store import Store
    from proof.simulation.faults import FaultyDatabase
    from proof.simulation.world import World

WAITS = {True: 0.9, False: 0.3}
"""How often the writer is late: while others may still come, and when all are there, so that leases end meanwhile."""
FAILS = 0.06
"""How often a function raises after its rows, and takes a group back with it."""
KNOWS = 0.8
"""How often a worker knows its functions from the beginning, and not by a commit alone."""
STEPS = ((0.0, 0.9), (0.001, 0.04), (0.01, 0.03), (60.0, 0.03))
"""How much time passes between two looks at the clock, and how often: mostly none, rarely too much for company."""


class RidingWatch:
    """How long a function takes among others, on the monotonic clock."""

    def __init__(self, seed: int) -> None:
        self._rng = Random(f"time of commits in {seed}")
        self._time = 0.0

    def __call__(self) -> float:
        """The time, which may pass with a look at it."""
        seconds, weights = zip(*STEPS, strict=True)
        self._time += self._rng.choices(seconds, weights)[0]
        return self._time


class Ride:
    """A commit that waits in the queue of its worker, and in the end its answer."""

    def __init__(self, request: CommitRequest) -> None:
        self.request = request
        self.answer: Answer | None = None

    def set_result(self, answer: Answer) -> None:
        """The writer is done with it."""
        self.answer = answer

    def done(self) -> bool:
        """A thread that waits is not ended, whatever becomes of its lease."""
        return False

    def text(self) -> str | None:
        """What was committed; raises where nobody knows."""
        assert self.answer is not None
        if isinstance(self.answer, Failed):
            raise self.answer.error
        assert isinstance(self.answer, Committed)
        return self.answer.text

    @property
    def goes_alone(self) -> bool:
        """Whether it has to be committed by itself after all."""
        return isinstance(self.answer, GoAlone)


class Rides:
    """The commits of one worker that wait for its writer."""

    def __init__(self, world: World, store: Store, functions: list[Callable[..., object]]) -> None:
        self._world = world
        self._database = cast("FaultyDatabase", store.database)
        self.queue: CommitQueue | None = None
        if Theme.COMPANY in world.options.themes:
            self.queue = CommitQueue(store.commits)
            self.queue.open()
            for code in map(code_of, functions) if world.company.random() < KNOWS else ():
                assert code is not None
                store.commits._alone_until[code] = 0.0

    @property
    def leases(self) -> tuple[Lease, ...]:
        """Under which those would be written that wait."""
        assert self.queue is not None
        return tuple(rider.request.lease for rider in self.queue._waiting)

    def is_late(self, *, may_come: bool) -> bool:
        """Whether the writer lets those wait who are there; `may_come` says whether there are runs that are not."""
        return not self._world.is_draining and self._world.company.random() < WAITS[may_come]

    def write(self) -> None:
        """Write those together who wait, and note how that went."""
        assert self.queue is not None
        rides = [rider.future for rider in self.queue._waiting if isinstance(rider.future, Ride)]
        self.queue.write_next()
        self._database.require_alive()
        answers = [ride.answer for ride in rides if ride.answer is not None]
        committed = sum(isinstance(answer, Committed) for answer in answers)
        left_out = sum(isinstance(answer, GoAlone) for answer in answers)
        seen = self._world.seen
        seen["commits rode together"] += committed > 1
        seen["a commit was left out of its group"] += bool(committed and left_out)
        seen["a group was taken back"] += not committed and left_out > 1
        seen["nobody knew what became of a group"] += committed + left_out == 0 and len(answers) > 1


def fails_in_company(world: World) -> bool:
    """Whether the function of a commit raises where its neighbours would feel it."""
    in_company = Theme.COMPANY in world.options.themes and not world.is_draining
    return in_company and world.company.random() < FAILS


def board(queue: CommitQueue, request: CommitRequest) -> Ride | None:
    """Have a commit wait with others, where it may go with them."""
    if not queue._may_join(request):
        return None
    ride = Ride(request)
    queue._put(_Rider(request, None, ride))  # type: ignore[arg-type] # a future, as far as the writer looks at it
    return ride
