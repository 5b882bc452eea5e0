"""The context: what a running task may do. Every write goes under the fence of its lease.

A plain name blocks its thread; the same name with an `a` in front is for the event loop. Both walk through the same
steps, written once as generators: a step is either an act of the store, or a call of the user's own function.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, overload

from haulwright.client.arguments import Values, values_of_result
from haulwright.client.blocking import is_async, require_off_loop
from haulwright.client.event_fields import event_fields_of
from haulwright.client.job_log import JobLogger
from haulwright.client.join import JobOutcome, handles_of, join_steps, note_recorded, write_calls
from haulwright.client.ledger_calls import CommitCall, EffectCall
from haulwright.client.ledger_keys import COMMIT, LedgerKeys
from haulwright.client.signals import Signals
from haulwright.client.steps import CallStep, CommitStep, Steps, StoreStep, awalk, walk
from haulwright.client.transaction import Tx
from haulwright.engine.headers import parse_headers
from haulwright.engine.payload import EFFECT_LIMIT_BYTES, PROGRESS_LIMIT_BYTES, RESULT_LIMIT_BYTES, check
from haulwright.engine.settlement import Finish, Settlement
from haulwright.engine.transitions import State
from haulwright.errors import (
    BlockingCall,
    EffectUnknown,
    InvalidPayload,
    LeaseLost,
    Permanent,
    ResultTooLarge,
)
from haulwright.stores.commit_groups import CommitRequest, code_of
from haulwright.stores.error_kinds import statements_of_caller

if TYPE_CHECKING:
    from datetime import datetime

    from haulwright.client.commit_queue import CommitQueue
    from haulwright.client.handle import Handle
    from haulwright.client.task import Call
    from haulwright.engine.job import Lease
    from haulwright.engine.stages import StageMachine
    from haulwright.stores.connection import Connection
    from haulwright.stores.store import Store

T = TypeVar("T")
R = TypeVar("R")

current: ContextVar[Context | None] = ContextVar("haulwright_context", default=None)
"""The context of the run that this code is part of, if any."""


@dataclass(slots=True)
class Context:
    """One run of one job."""

    __haulwright_context__: ClassVar[bool] = True
    _walk = staticmethod(walk)  # a seam: the simulation stops between two steps

    job: Lease
    """The job that runs, and the right to run it."""
    store: Store
    signals: Signals = field(default_factory=Signals)
    worker: str = ""
    commit_queue: CommitQueue | None = None
    """Where commits meet those of other runs of this worker, if there is one."""
    settled: bool = False
    """The job was settled by a commit of its own."""
    settled_fields: str | None = None
    """What the events of that settlement carry, as JSON."""
    event_fields: tuple[str, ...] = ()
    """The fields of its result that the events of the job carry."""
    started: float = 0.0
    """When the run began, on the monotonic clock."""
    enqueued_anew: set[str] = field(default_factory=set)
    """Jobs that this run enqueued and that a later one would enqueue again."""
    _ledger_keys: LedgerKeys | None = field(default=None, repr=False)

    @property
    def _keys(self) -> LedgerKeys:
        """Made when it is first needed: most runs of a drain need none."""
        if self._ledger_keys is None:
            self._ledger_keys = LedgerKeys(self.job.job_key)
        return self._ledger_keys

    @property
    def log(self) -> JobLogger:
        """A logger of the task whose lines name the job: `ctx.log.info("%s pages", count)`."""
        return JobLogger(self.job)

    @property
    def headers(self) -> dict[str, str]:
        """What travels with the job, such as a trace context; jobs that this run enqueues get it too."""
        return parse_headers(self.job.headers)

    def effect(  # noqa: PLR0913 - what an effect may need, each with a name
        self,
        name: str,
        function: Callable[..., R],
        *args: Any,
        key: str | None = None,
        recover: Callable[[str], R | None] | None = None,
        verify: Callable[[R], bool] | None = None,
        at_most_once: bool = False,
        **kwargs: Any,
    ) -> R:
        """Do something once: the recorded result is returned where it was done before.

        The name and the arguments are its key: the same name with other arguments is another effect, and a second call
        with the same ones, in a later run or in this one, gets the recorded result. `key` stands in for both. What a
        lambda has captured is no argument: another one under the same name in the same run is refused.

        After a crash in the middle, `recover(key)` may ask the outside whether it happened and return the result, or
        None. Without one the function runs again under the same key, or, `at_most_once`, a person has to find out.
        `verify(result)` may say that a recorded result does not hold any more, and the effect is done again.
        """
        self._off_loop("effect")
        for each in (function, recover, verify):
            _refuse_async(name, each)
        effect = EffectCall(name, partial(function, *args, **kwargs), function, recover, verify, at_most_once)
        done: R = self._walk(self._effect(effect, key, args, kwargs))
        return done

    @overload
    async def aeffect(
        self, name: str, function: Callable[..., Coroutine[Any, Any, R]], *args: Any, **options: Any
    ) -> R: ...
    @overload
    async def aeffect(self, name: str, function: Callable[..., R], *args: Any, **options: Any) -> R: ...
    async def aeffect(  # noqa: PLR0913 - as above
        self,
        name: str,
        function: Callable[..., Any],
        *args: Any,
        key: str | None = None,
        recover: Callable[[str], Any] | None = None,
        verify: Callable[[Any], Any] | None = None,
        at_most_once: bool = False,
        **kwargs: Any,
    ) -> Any:
        """The same on the event loop; the functions may be `async def` or `def`."""
        effect = EffectCall(name, partial(function, *args, **kwargs), function, recover, verify, at_most_once)
        return await awalk(self._effect(effect, key, args, kwargs))

    def commit(
        self,
        name: str,
        function: Callable[..., R],
        *args: Any,
        key: str | None = None,
        settle: bool = False,
        **kwargs: Any,
    ) -> R:
        """Run `function(tx, ...)` in one transaction that holds the job, once; its rows and its result go together.

        The name and the arguments are its key, as with an effect: the same name with other arguments is another commit.
        `key` stands in for the arguments, where these have no JSON form or are not the same in every run.
        With `settle` the job is finished in the same transaction, with this result.

        Commits of several runs may share a transaction. Where that, or one that lost a race, has to be taken back, the
        function is called again: let it read and write rows through `tx`, and do nothing else.
        """
        self._off_loop("commit")
        commit = CommitCall(name, function, key, args, kwargs, settle)
        done: R = self._walk(self._commit(commit))
        return done

    async def acommit(
        self,
        name: str,
        function: Callable[..., R],
        *args: Any,
        key: str | None = None,
        settle: bool = False,
        **kwargs: Any,
    ) -> R:
        """The same on the event loop; the function is plain and runs on a thread of the store."""
        done: R = await awalk(self._commit(CommitCall(name, function, key, args, kwargs, settle)))
        return done

    @overload
    def join(
        self, jobs: Iterable[Handle[R]], *, any_tenant: bool = False, until: datetime | None = None
    ) -> list[JobOutcome[R]]: ...
    @overload
    def join(
        self, jobs: Iterable[Handle[Any] | str], *, any_tenant: bool = False, until: datetime | None = None
    ) -> list[JobOutcome[Any]]: ...
    def join(
        self, jobs: Iterable[Handle[Any] | str], *, any_tenant: bool = False, until: datetime | None = None
    ) -> list[JobOutcome[Any]]:
        """Wait for jobs, and return how they ended, in order; they are given as handles or ids.

        Where some have not ended, the run is over: it holds no worker, and no attempt is burnt. The end of the last of
        them runs the task again from its beginning; recorded effects and commits are reused, and this returns at once.
        `until` is when it returns anyway: take it from a recorded commit, so that it is the same in every run. Jobs of
        another tenant are as if they were not there, unless `any_tenant` is for a task that works for all of them.
        """
        self._off_loop("join")
        return self._walk(self._join(jobs, any_tenant=any_tenant, until=until))

    @overload
    async def ajoin(
        self, jobs: Iterable[Handle[R]], *, any_tenant: bool = False, until: datetime | None = None
    ) -> list[JobOutcome[R]]: ...
    @overload
    async def ajoin(
        self, jobs: Iterable[Handle[Any] | str], *, any_tenant: bool = False, until: datetime | None = None
    ) -> list[JobOutcome[Any]]: ...
    async def ajoin(
        self, jobs: Iterable[Handle[Any] | str], *, any_tenant: bool = False, until: datetime | None = None
    ) -> list[JobOutcome[Any]]:
        """The same on the event loop."""
        return await awalk(self._join(jobs, any_tenant=any_tenant, until=until))

    def enqueue_many(self, name: str, calls: Iterable[Call[R]]) -> list[Handle[R]]:
        """Enqueue jobs once, in a commit of this name: every run of this job gets the same handles, in order.

        The name alone is the key. Other jobs under a name that this run has used are refused.
        """
        self._off_loop("enqueue_many")
        return self._walk(self._enqueue_many(name, list(calls)))

    async def aenqueue_many(self, name: str, calls: Iterable[Call[R]]) -> list[Handle[R]]:
        """The same on the event loop."""
        return await awalk(self._enqueue_many(name, list(calls)))

    def stage(self, to: str, machine: StageMachine) -> str:
        """Move the stage of the job's object; being there already is no error."""
        self._off_loop("stage")
        return self._walk(self._stage(to, machine))

    async def astage(self, to: str, machine: StageMachine) -> str:
        """The same on the event loop."""
        return await awalk(self._stage(to, machine))

    def progress(self, done: float, of: float = 1.0, note: str = "") -> None:
        """Say how far the run has come."""
        self._off_loop("progress")
        self._walk(self._progress(done, of, note))

    async def aprogress(self, done: float, of: float = 1.0, note: str = "") -> None:
        """The same on the event loop."""
        await awalk(self._progress(done, of, note))

    def key_for(self, name: str, *args: Any, key: str | None = None, **kwargs: Any) -> str:
        """The key of an effect, the same in every run: to send along, so that the other side knows it again."""
        return self._keys.effect(name, key, (args, kwargs))

    def check(self) -> None:
        """Raise where the run has been cancelled, has timed out, or has lost its lease."""
        self.signals.check(self.job, "check")

    def _effect(self, effect: EffectCall, key: str | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Steps[Any]:
        self.signals.check(self.job, "effect")
        values = values_of_result(effect.function)
        is_bare = key is None and not args and not kwargs
        key = self._keys.effect(effect.name, key, (args, kwargs))
        if is_bare:
            self._keys.require_same_function("effect", effect.name, key, effect.function)
        begun = yield StoreStep(partial(self.store.effects.begin, self.job, key, effect.name))
        if begun.state == "unknown":
            raise _unknown(effect.name, key)
        if begun.state == "done":
            value = _replayed(begun.dropped, begun.result, effect.name, values)
            if effect.verify is None or (yield CallStep(partial(effect.verify, value))):
                return value
            yield StoreStep(partial(self.store.effects.forget, self.job, key, begun))
        if begun.state == "in_doubt":
            recovered = (yield CallStep(partial(effect.recover, key))) if effect.recover is not None else None
            if recovered is not None:
                return (yield from self._record(key, recovered, effect.name, values))
            if effect.recover is None and effect.at_most_once:
                yield StoreStep(partial(self.store.effects.mark_unknown, self.job, key, effect.name))
                raise _unknown(effect.name, key)
        return (yield from self._record(key, (yield CallStep(effect.act)), effect.name, values))

    def _record(self, key: str, value: Any, name: str, values: Values) -> Steps[Any]:
        """Record a result, and return it as a replay would: the first run sees what every later one will."""
        try:
            text = values.dump(value, limit_bytes=2**31)
        except InvalidPayload as error:
            message = f"The effect {name!r} is done, but its result cannot be recorded: {error}"
            raise Permanent(message, hint="Give its function a return annotation that its result fits.") from error
        yield StoreStep(partial(self.store.effects.settle, self.job, key, text))
        note_recorded(self, text)
        if len(text.encode()) > EFFECT_LIMIT_BYTES:
            raise _too_large(name)
        return values.load(text)

    def _commit(self, commit: CommitCall) -> Steps[Any]:
        self.signals.check(self.job, "commit")
        name, function, settle = commit.name, commit.function, commit.settle
        if inspect.iscoroutinefunction(function):
            message = f"The function of the commit {name!r} is asynchronous."
            raise BlockingCall(message, hint="Make it a plain def: it runs inside a transaction and must not wait.")
        values = values_of_result(function)
        key = self._keys.commit(name, commit.key, (commit.args, commit.kwargs), settle=settle)
        if commit.is_bare:
            self._keys.require_same_function("commit", name, key, function)
        limit = RESULT_LIMIT_BYTES if settle else EFFECT_LIMIT_BYTES

        def act(connection: Connection) -> str:
            with statements_of_caller():
                value = function(Tx(connection, self), *commit.args, **commit.kwargs)
            return values.dump(value, limit_bytes=limit)

        settlement = self._settlement if settle else None
        request = CommitRequest(self.job, key, f"{COMMIT}{name}", act, code_of(function), self.worker, settlement)
        queue = self.commit_queue
        text: str | None = yield (
            StoreStep(partial(self.store.commits.commit, request)) if queue is None else CommitStep(request, queue)
        )
        self.settled = self.settled or settle
        note_recorded(self, text or "")
        return None if text is None else values.load(text)

    def _join(
        self, jobs: Iterable[Handle[Any] | str], *, any_tenant: bool, until: datetime | None
    ) -> Steps[list[JobOutcome[Any]]]:
        return join_steps(self, jobs, any_tenant=any_tenant, until=until)

    def _enqueue_many(self, name: str, calls: Sequence[Call[R]]) -> Steps[list[Handle[R]]]:
        self._keys.require_same_jobs(name, [call.job for call in calls])
        recorded = yield from self._commit(CommitCall(name, write_calls, "jobs", (calls,), {}, settle=False))
        return handles_of(self.store, name, calls, recorded)

    def _settlement(self, text: str | None) -> Settlement:
        """The success of this run with the result of its commit."""
        self.settled_fields = event_fields_of(self.event_fields, self.job.event_fields, text)
        step = Finish(State.SUCCEEDED, result=text, event_fields=self.settled_fields)
        return Settlement(self.job, step, time.monotonic() - self.started if self.started else None)

    def _stage(self, to: str, machine: StageMachine) -> Steps[str]:
        self.signals.check(self.job, "stage")
        moved: str = yield StoreStep(partial(self.store.effects.move, self.job, machine, to))
        return moved

    def _progress(self, done: float, of: float, note: str) -> Steps[None]:
        self.signals.check(self.job, "progress")
        value = {"done": done, "of": of, "note": note}
        text = check(value, root="progress", limit_bytes=PROGRESS_LIMIT_BYTES)
        held = yield StoreStep(partial(self.store.leases.progress, self.job, text))
        if not held:
            raise LeaseLost(self.job.id, self.job.fence, "progress")

    def _off_loop(self, door: str) -> None:
        require_off_loop(f"ctx.{door}", f"ctx.a{door}(...)")


def _refuse_async(name: str, function: Callable[..., Any] | None) -> None:
    if function is not None and is_async(function):
        message = f"An asynchronous function was given to the plain effect {name!r}."
        raise BlockingCall(message, hint="Make the task async def and write: await ctx.aeffect(...)")


def _replayed(dropped: bool, text: str | None, name: str, values: Values) -> Any:  # noqa: FBT001 - a fact, not a switch
    if dropped:
        raise _too_large(name)
    return None if text is None else values.load(text)


def _unknown(name: str, key: str) -> EffectUnknown:
    message = f"The effect {name!r} was interrupted, and may happen at most once."
    return EffectUnknown(message, hint=f"Find out whether it happened, then: haulwright effect resolve {key}")


def _too_large(name: str) -> ResultTooLarge:
    message = f"The effect {name!r} is done, but its result is over {EFFECT_LIMIT_BYTES} bytes and was not kept."
    return ResultTooLarge(message, hint="Return a reference to it, not the thing itself.")
