"""A handle: what an enqueue returns, to ask later how the job went."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from haulwright.client.blocking import require_off_loop
from haulwright.client.waiting import pauses
from haulwright.engine.transitions import FINAL, State
from haulwright.engine.unknown_options import unknown_attribute
from haulwright.errors import JobFailed, ResultTimeout

if TYPE_CHECKING:
    from haulwright.client.arguments import Values
    from haulwright.engine.job import Job
    from haulwright.stores.store import Store

R_co = TypeVar("R_co", covariant=True)


class Handle(Generic[R_co]):
    """One job, as the one who enqueued it sees it."""

    __slots__ = ("__weakref__", "_store", "_values", "created", "id")

    def __init__(self, store: Store, job_id: str, *, created: bool, values: Values | None = None) -> None:
        self._store = store
        self._values = values
        self.id = job_id
        self.created = created
        """False where a job with the same unique key stood for the request already."""

    def __repr__(self) -> str:
        return f"<Handle {self.id} {'created' if self.created else 'existing'}>"

    @property
    def values(self) -> Values | None:
        """How its result is read, where its task is known."""
        return self._values

    def job(self) -> Job:
        """The job as it stands now."""
        require_off_loop("handle.job", "handle.ajob()")
        return self._read()

    async def ajob(self) -> Job:
        """The job as it stands now, without blocking the event loop."""
        return await asyncio.to_thread(self._read)

    def state(self) -> State:
        """Where the job is now."""
        require_off_loop("handle.state", "handle.astate()")
        return self._read().state

    async def astate(self) -> State:
        """Where the job is now, without blocking the event loop."""
        return (await self.ajob()).state

    def result(self, timeout: float | None = None) -> R_co:
        """Wait for the job and return its result; raises JobFailed where it has none."""
        require_off_loop("handle.result", "handle.aresult(...)")
        for pause in pauses(timeout):
            job = self.job()
            if job.state in FINAL:
                return self._value_of(job)
            if pause is None:
                raise ResultTimeout(self.id, job.state, timeout or 0)
            time.sleep(pause)
        raise AssertionError  # the pauses end with None

    async def aresult(self, timeout: float | None = None) -> R_co:  # noqa: ASYNC109 - the same word as its plain twin
        """Wait for the job without blocking the event loop."""
        for pause in pauses(timeout):
            job = await self.ajob()
            if job.state in FINAL:
                return self._value_of(job)
            if pause is None:
                raise ResultTimeout(self.id, job.state, timeout or 0)
            await asyncio.sleep(pause)
        raise AssertionError  # as above

    if not TYPE_CHECKING:  # a checker must go on to find names that are not there

        def __getattr__(self, name: str) -> Any:
            raise unknown_attribute(self, name)

    def _read(self) -> Job:
        return self._store.listing.get(self.id)

    def _value_of(self, job: Job) -> R_co:
        if job.state is not State.SUCCEEDED:
            raise JobFailed(job.id, job.state, job.reason, error_of(job))
        value: Any = None if job.result is None or self._values is None else self._values.load(job.result)
        return value  # type: ignore[no-any-return] # the task's own return type


def error_of(job: Job) -> dict[str, Any] | None:
    """The last error of a job, as programs read it."""
    if job.error_class is None and job.error_message is None:
        return None
    return {"class": job.error_class, "code": job.error_code, "message": job.error_message}
