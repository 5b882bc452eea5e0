"""Stages: how far a job's domain object has come. A stage machine only ever moves forward."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from haulwright.errors import IllegalStage, InvalidValue

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")


@dataclass(frozen=True, eq=False)
class StageMachine:
    """The stages of one kind of object and the moves between them, checked when it is declared."""

    name: str
    """What errors call it."""
    start: str
    """Where every object begins."""
    moves: Mapping[str, Collection[str]]
    """From each stage that is not final to the stages that may follow."""
    final: Collection[str]
    """The stages that nothing follows."""
    failed: str | None = None
    """The final stage that every stage before the end may move to, if there is one."""
    _passed: Mapping[str, frozenset[str]] = field(init=False, repr=False)
    """From each stage to all those on a way to it, itself included."""
    _rank: Mapping[str, int] = field(init=False, repr=False)
    """From each stage to the number of moves on the longest way to it."""

    def __post_init__(self) -> None:
        """Take copies that nobody can change, and refuse a machine that could turn back or get stuck."""
        moves = {stage: frozenset(following) for stage, following in self.moves.items()}
        final = frozenset(self.final) | ({self.failed} if self.failed is not None else frozenset())
        object.__setattr__(self, "moves", MappingProxyType(moves))
        object.__setattr__(self, "final", final)
        # Failing is no progress: the ways forward are those without it.
        forward = {stage: following - {self.failed} for stage, following in moves.items()}
        _check_names(self.name, {self.name, self.start, *forward, *final}.union(*forward.values()))
        _check_ends(self.name, self.start, forward, final)
        passed, rank = _survey(self.name, self.start, forward, final - {self.failed})
        if self.failed is not None:
            passed[self.failed], rank[self.failed] = frozenset({self.failed}), max(rank.values()) + 1
        object.__setattr__(self, "_passed", passed)
        object.__setattr__(self, "_rank", rank)

    @property
    def stages(self) -> tuple[str, ...]:
        """Every stage, earlier ones first."""
        return tuple(sorted(self._rank, key=lambda stage: (self._rank[stage], stage)))

    def is_final(self, stage: str) -> bool:
        """Tell whether nothing follows this stage."""
        return stage in self.final

    def allows(self, stage: str, to: str) -> bool:
        """Tell whether the machine has this move."""
        return stage in self.moves and (to in self.moves[stage] or to == self.failed)

    def check(self, stage: str, to: str) -> None:
        """Raise IllegalStage unless the machine has this move."""
        if not self.allows(stage, to):
            raise IllegalStage(self.name, stage, to)

    def in_one_step(self) -> StageMachine:
        """Return the same stages with a move from each to all that lie ahead: for a run that does several at once."""
        ahead = {stage: {to for to in self._rank if stage in self._passed[to] and to != stage} for stage in self.moves}
        return StageMachine(self.name, self.start, ahead, self.final, self.failed)

    def reached(self, stage: str, target: str) -> bool:
        """Tell whether an object at `stage` is at or past `target`, so that moving there again is no error.

        A failed object is past nothing: only its failure is certain.
        """
        return target in self._passed.get(stage, ())

    def rank(self, stage: str) -> int:
        """Return how far along a stage is: the number of moves on the longest way to it."""
        if stage not in self._rank:
            raise InvalidValue("stage", stage, f"is no stage of the machine {self.name!r}")
        return self._rank[stage]


def _survey(
    machine: str, start: str, forward: Mapping[str, frozenset[str]], final: frozenset[str]
) -> tuple[dict[str, frozenset[str]], dict[str, int]]:
    """Return what lies on the ways to each stage and how long they are; refuse a stage without a way to it."""
    before: dict[str, set[str]] = {stage: set() for stage in (*forward, *final)}
    for stage, following in forward.items():
        for after in following:
            before[after].add(stage)
    passed: dict[str, frozenset[str]] = {}
    rank: dict[str, int] = {}
    for stage in _in_order(machine, before):
        passed[stage] = frozenset({stage}).union(*(passed[earlier] for earlier in before[stage]))
        rank[stage] = max((rank[earlier] + 1 for earlier in before[stage]), default=0)
        if start not in passed[stage]:
            raise InvalidValue(f"Stage machine {machine!r}", stage, f"cannot be reached from {start}")
    return passed, rank


def _check_names(machine: str, names: Iterable[object]) -> None:
    for name in names:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            hint = "Use letters, digits and underscores, at most 64."
            raise InvalidValue(f"Stage machine {machine!r}", name, "is not a name", hint=hint)


def _check_ends(machine: str, start: str, forward: Mapping[str, frozenset[str]], final: frozenset[str]) -> None:
    """Refuse a machine with a stage that is stuck, or final and yet followed by others."""
    what = f"Stage machine {machine!r}"
    if start not in forward:
        raise InvalidValue(what, start, "is the start and has no moves")
    for stage, following in forward.items():
        if stage in final:
            raise InvalidValue(what, stage, "is final and has moves")
        if not following:
            raise InvalidValue(what, stage, "is not final and leads nowhere")
        for after in sorted(following - forward.keys() - final):
            raise InvalidValue(what, after, f"follows {stage} but is neither final nor has moves")


def _in_order(machine: str, before: Mapping[str, set[str]]) -> tuple[str, ...]:
    try:
        return tuple(TopologicalSorter(before).static_order())
    except CycleError as error:
        circle = " -> ".join(error.args[1])
        raise InvalidValue(f"Stage machine {machine!r}", circle, "goes in a circle") from None
