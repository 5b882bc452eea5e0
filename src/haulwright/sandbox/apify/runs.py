"""A run, and how it stands at a moment. Nothing moves it but the clock and those who abort or resurrect it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from haulwright.sandbox.apify.actors import Actor

Ending = Literal["SUCCEEDED", "FAILED", "TIMED-OUT", "ABORTED", "NEVER"]
TERMINAL = frozenset({"SUCCEEDED", "FAILED", "TIMED-OUT", "ABORTED"})
GRACE_SECONDS = 30.0
READY_SHARE = 0.05
"""The part of its time that a run waits for a machine."""


@dataclass(frozen=True, slots=True)
class RunScript:
    """How the next runs of an actor go."""

    actor: str = "*"
    containing: str = ""
    """Only runs with these words in their input."""
    times: int | None = 1
    """How many runs; None is every one."""
    ending: Ending = "SUCCEEDED"
    duration_seconds: float | None = None
    partial: float = 0.5
    """The part of the items that a run leaves behind which does not succeed."""
    items: int | None = None
    """How many items each subject has, whatever was asked for."""
    broken: int = 0
    """How many items of the run are unusable in one way or another."""
    message: str = ""

    def __post_init__(self) -> None:
        if self.ending not in {*TERMINAL, "NEVER"}:
            raise ValueError(
                f"a run cannot end with {self.ending!r}; it can with: {', '.join(sorted(TERMINAL))}, NEVER"
            )

    def fits(self, actor: Actor, text: str) -> bool:
        """Whether it is about this run."""
        return self.actor in {"*", actor.name, actor.name.replace("~", "/")} and self.containing in text


@dataclass(slots=True)
class SandboxRun:
    """One run. It began, so it is paid for."""

    id: str
    actor: Actor
    user: str
    input_body: bytes
    input_type: str
    started: float
    duration: float
    timeout: float
    """0 is no limit."""
    memory: int
    max_items: int | None
    max_charge: float | None
    script: RunScript
    items: list[dict[str, Any]]
    began: float
    """The same as `started`, until it is resurrected."""
    abort_asked: float | None = None
    abort_grace: float = 0.0
    resurrections: int = 0
    kept_items: int = 0

    @property
    def finishes(self) -> float:
        """When it ends, as things are."""
        own = math.inf if self.script.ending == "NEVER" else self.began + self.duration
        limit = self.began + self.timeout if self.timeout else math.inf
        aborted = math.inf if self.abort_asked is None else self.abort_asked + self.abort_grace
        return min(own, limit, aborted)

    def status(self, now: float) -> str:
        """Where it stands."""
        if now >= self.finishes:
            return self._ending()
        if self.abort_asked is not None:
            return "ABORTING"
        return "READY" if now < self.began + self.duration * READY_SHARE else "RUNNING"

    def is_over(self, now: float) -> bool:
        """Whether nothing more will happen."""
        return now >= self.finishes

    def abort(self, now: float, *, gracefully: bool) -> None:
        """Stop it, at once or within a grace; one that is over stays as it is."""
        if not self.is_over(now) and self.abort_asked is None:
            self.abort_asked = now
            self.abort_grace = GRACE_SECONDS if gracefully else 0.0

    def resurrect(self, now: float) -> None:
        """Let it go on with what it has, to a good end."""
        self.kept_items = self.visible_items(now)
        self.began, self.abort_asked = now, None
        self.script = RunScript()
        self.resurrections += 1

    def visible_items(self, now: float) -> int:
        """How many items its dataset holds by now."""
        if self.status(now) == "SUCCEEDED":
            return len(self.items)
        share = self.script.partial if self.is_over(now) and self.script.ending != "SUCCEEDED" else self._progress(now)
        return max(self.kept_items, int(len(self.items) * share))

    def cost(self, now: float) -> float:
        """What it costs by now."""
        charged = self.visible_items(now)
        if self.max_items is not None:
            charged = min(charged, self.max_items)
        total = round(self.actor.start_usd + charged * self.actor.item_usd, 6)
        return total if self.max_charge is None else min(total, self.max_charge)

    def _ending(self) -> str:
        own = math.inf if self.script.ending == "NEVER" else self.began + self.duration
        if self.abort_asked is not None and self.abort_asked + self.abort_grace == self.finishes:
            return "ABORTED"
        return self.script.ending if own == self.finishes else "TIMED-OUT"

    def _progress(self, now: float) -> float:
        if not self.duration:
            return 1.0
        ready = self.duration * READY_SHARE
        return min(1.0, max(0.0, (min(now, self.finishes) - self.began - ready) / (self.duration - ready)))
