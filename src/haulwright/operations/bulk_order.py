"""What a bulk action is about: one act, the jobs of a filter up to a moment, and how far it has come. Values only."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, Self, cast, get_args

from haulwright.engine.payload import read_json
from haulwright.engine.transitions import State
from haulwright.errors import InvalidValue
from haulwright.operations.filters import require_filter
from haulwright.stores.listing import Condition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from haulwright.clock import Instant
    from haulwright.operations.filters import JobQuery
    from haulwright.stores.listing import JobFilter

BULK_TASK: Final = "haulwright.bulk"
"""The task that every app has. Its jobs are bulk actions."""
Act = Literal["requeue", "cancel", "retry"]
ACTS: Final[tuple[Act, ...]] = get_args(Act)
ACT_VERBS: Final[dict[Act, str]] = {"requeue": "dead.requeue", "cancel": "job.cancel", "retry": "job.retry"}
"""Who may do a thing to one job may have it done to many."""
_STATES: Final[dict[Act, tuple[State, ...]]] = {
    "requeue": (State.DEAD,),
    "cancel": (State.QUEUED, State.RUNNING),
    "retry": (State.QUEUED,),
}
SHOWN_REFUSALS: Final = 20
"""So many of the jobs that were left as they are an action names; it counts all of them."""
SHOWN_CHARS: Final = 500


def require_act(act: str) -> Act:
    """An act by its name; another one is refused."""
    if act not in ACTS:
        raise InvalidValue("act", act, f"is none of {', '.join(ACTS)}")
    return act


def acts_for(query: JobQuery) -> list[Act]:
    """The acts for which the jobs of a filter may be in a state."""
    state = query.job_filter(0).state
    return [act for act in ACTS if state is None or state in _STATES[act]]


@dataclass(frozen=True, slots=True)
class BulkOrder:
    """One act on the jobs of a filter."""

    act: Act
    where: str
    """The filter as text. Its ages count from `up_to`, so that it means the same in every run."""
    up_to: Instant
    """Jobs that came, or died, after this moment are none of its business."""
    fresh: bool = False
    """Of a requeue: do the effects again."""
    correlation_id: str | None = None
    """Of a requeue: the ticket or trace of the new jobs."""

    @classmethod
    def of(cls, act: str, where: str, up_to: Instant, *, fresh: bool, correlation_id: str | None) -> Self:
        """An order that can be carried out; what cannot be is refused."""
        order = cls(require_act(act), str(require_filter(where)), up_to, fresh, correlation_id)
        if act != "requeue" and (fresh or correlation_id is not None):
            name = "fresh" if fresh else "correlation_id"
            raise InvalidValue(name, correlation_id or "true", f"goes with requeue, and this is to {act}")
        order.job_filter(None)
        return order

    def job_filter(self, tenant: str | None) -> JobFilter:
        """Which jobs it takes, of this tenant alone; None is of all of them."""
        job_filter = require_filter(self.where).job_filter(self.up_to)
        states = _STATES[self.act]
        if job_filter.state is not None and job_filter.state not in states:
            why = f"is no state of jobs to {self.act}"
            raise InvalidValue("filter", f"state:{job_filter.state}", why, hint=f"They are {' or '.join(states)}.")
        conditions = [*job_filter.conditions, Condition("task", "in", (BULK_TASK,), negated=True)]
        conditions.append(Condition("finished_at" if self.act == "requeue" else "created_at", "<", (self.up_to + 1,)))
        if self.act == "retry":
            conditions.append(Condition("run_at", ">", (self.up_to,)))  # others are due already
        if len(states) == 1:
            job_filter = replace(job_filter, state=states[0], not_requeued=self.act == "requeue")
        elif job_filter.state is None:
            conditions.append(Condition("state", "in", tuple(str(state) for state in states)))
        return replace(job_filter, tenant=tenant or job_filter.tenant, conditions=tuple(conditions))


@dataclass(frozen=True, slots=True)
class BulkRefusal:
    """A job that was left as it is, and why."""

    id: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class BulkProgress:
    """How far a bulk action has come: the progress of its job, from which its next run goes on."""

    done: int = 0
    of: int | None = None
    """How many jobs it found when it began to run; None before that."""
    refused: int = 0
    refusals: tuple[BulkRefusal, ...] = ()
    """The first of those."""
    after: str | None = None
    """The last job that it came to."""
    ended: Literal["", "finished", "stopped"] = ""
    more: bool = False
    """There were more jobs than one action takes."""

    @classmethod
    def read(cls, text: str | None) -> Self:
        """What stands in the row of its job; nothing yet where that cannot be read."""
        values: dict[str, Any] = read_json(text, dict) or {} if text is not None else {}
        refusals = tuple(BulkRefusal(**refusal) for refusal in values.get("refusals", ()))
        return cls(
            values.get("done", 0), values.get("of"), values.get("refused", 0), refusals, values.get("after"),
            cast("Any", values.get("ended", "")), values.get("more", False),
        )  # fmt: skip

    def text(self) -> str:
        """The same as it is written."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @property
    def seen(self) -> int:
        """How many jobs it came to, whatever became of them."""
        return self.done + self.refused

    def plus(self, outcomes: Sequence[BulkRefusal | None], after: str | None) -> BulkProgress:
        """The progress behind a page: None stands for a job with which it went well."""
        refusals = [outcome for outcome in outcomes if outcome is not None]
        return replace(
            self,
            done=self.done + len(outcomes) - len(refusals),
            refused=self.refused + len(refusals),
            refusals=(*self.refusals, *refusals)[:SHOWN_REFUSALS],
            after=after or self.after,
        )

    def counts(self) -> dict[str, int]:
        """How many of each, as events and results say it."""
        return {"done": self.done, "refused": self.refused}
