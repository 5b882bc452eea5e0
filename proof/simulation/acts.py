"""What actors do: they stop before each call of the store, and say what they are about to do."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from haulwright.client.context import Context
from haulwright.client.steps import CommitStep, StoreStep
from haulwright.engine.job import Lease
from proof.simulation.riding import Ride, board

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Act:
    """The call that an actor makes when it goes on."""

    verb: str
    leases: tuple[Lease, ...] = ()
    """The leases that it acts under."""
    workers: tuple[str, ...] = ()
    """The workers that it knows to be gone, or that it is."""
    ride: Ride | None = None
    """A commit that waits to be written with others: then the call is that of their worker."""


Acts = Generator[Act, None, T]


def call(verb: str, act: Callable[[], T], leases: Sequence[Lease] = (), workers: Sequence[str] = ()) -> Acts[T]:
    """Stop, and then make one call."""
    yield Act(verb, tuple(leases), tuple(workers))
    return act()


class SteppedContext(Context):
    """A run's context that stops before each step that the store takes."""

    def take(self, door: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Acts[T]:
        """Go through one of its doors, a step at a time."""
        steps: Any = door(*args, **kwargs)
        answer: T = yield from steps
        return answer

    def progress(self, done: float, of: float = 1.0, note: str = "") -> Any:
        """The one door that returns nothing: here it returns its steps, as the others do."""
        return self._walk(self._progress(done, of, note))

    def _walk(self, steps: Generator[Any, Any, T]) -> Any:
        return self._stepped(steps)  # what a plain context would do at once

    def _stepped(self, steps: Generator[Any, Any, T]) -> Acts[T]:
        try:
            step = next(steps)
            while True:
                try:
                    answer = yield from self._take(step)
                except Exception as error:  # noqa: BLE001 - the steps decide what an error means
                    step = steps.throw(error)
                else:
                    step = steps.send(answer)
        except StopIteration as end:
            value: T = end.value
            return value

    def _take(self, step: Any) -> Acts[Any]:
        if isinstance(step, CommitStep):
            ride = board(step.queue, step.request)
            if ride is not None:
                yield Act("run", (self.job,), ride=ride)
                if not ride.goes_alone:
                    return ride.text()
            yield Act("run", (self.job,))
            return self.store.commits.commit(step.request)
        if isinstance(step, StoreStep):
            yield Act("run", (self.job,))
        return step.act()
