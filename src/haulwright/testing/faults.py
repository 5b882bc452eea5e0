"""Faults that a test plans: where a run dies, and which effects fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from haulwright.client.blocking import is_async
from haulwright.client.context import Context
from haulwright.client.handle import Handle
from haulwright.client.join import JobOutcome
from haulwright.client.signals import Signals
from haulwright.client.steps import Steps
from haulwright.engine.job import Lease
from haulwright.errors import Suspended

When = Literal["after", "before"]


class Killed(BaseException):
    """The process of this run was killed here. What its code still does in `finally` reaches nobody."""


@dataclass(slots=True)
class Crash:
    """One death: of a run of this task, at this moment."""

    task: str
    when: When
    moment: str
    """The name of an effect or a commit, or `claim`, `join` or `settle`."""
    happened: bool = False


@dataclass(slots=True)
class FailingEffect:
    """An effect that fails a few times instead of acting."""

    name: str
    error: BaseException | type[BaseException]
    times: int


@dataclass(slots=True)
class Faults:
    """What is planned, and has not happened yet."""

    crashes: list[Crash] = field(default_factory=list)
    failing: list[FailingEffect] = field(default_factory=list)

    def crashes_at(self, task: str, when: When, moment: str) -> bool:
        """Whether a run of this task dies here and now; it does so once."""
        for crash in self.crashes:
            if (crash.task, crash.when, crash.moment) == (task, when, moment) and not crash.happened:
                crash.happened = True
                return True
        return False

    def raise_for(self, effect: str) -> None:
        """Raise what is planned for this effect, as often as it is planned."""
        for fault in self.failing:
            if fault.name == effect and fault.times > 0:
                fault.times -= 1
                raise fault.error


@dataclass(slots=True)
class MortalSignals(Signals):
    """Signals of a run that may have been killed."""

    dead: bool = False

    def check(self, lease: Lease, verb: str) -> None:
        """A dead run can do nothing at all."""
        if self.dead:
            raise Killed
        Signals.check(self, lease, verb)


@dataclass
class MortalContext(Context):
    """The context of a run that meets planned faults. In everything else it is the real one."""

    signals: MortalSignals = field(default_factory=MortalSignals)
    faults: Faults = field(default_factory=Faults)

    def meet(self, when: When, moment: str) -> None:
        """Die here, if that is planned."""
        if self.faults.crashes_at(self.job.task, when, moment):
            self.signals.dead = True
            raise Killed

    def _effect(self, how: Any, key: str | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Steps[Any]:
        return super()._effect(replace(how, act=self._mortal(how.name, how.act)), key, args, kwargs)

    def _commit(self, commit: Any) -> Steps[Any]:
        self.meet("before", commit.name)
        if commit.settle:
            self.meet("before", "settle")
        result = yield from super()._commit(commit)
        self.meet("after", commit.name)
        return result

    def _join(
        self, jobs: Iterable[Handle[Any] | str], *, any_tenant: bool, until: datetime | None
    ) -> Steps[list[JobOutcome[Any]]]:
        self.meet("before", "join")
        try:
            return (yield from super()._join(jobs, any_tenant=any_tenant, until=until))
        except Suspended:
            self.meet("after", "join")
            raise

    def _mortal(self, name: str, act: Callable[[], Any]) -> Callable[[], Any]:
        """The effect's own function with the faults around it: after it acted, nothing is recorded yet."""

        def before() -> None:
            self.meet("before", name)
            self.faults.raise_for(name)

        def plain() -> Any:
            before()
            value = act()
            self.meet("after", name)
            return value

        async def awaited() -> Any:
            before()
            value = await act()
            self.meet("after", name)
            return value

        return awaited if is_async(act) else plain
