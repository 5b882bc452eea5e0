"""Observers are called in their order, cost nothing where there are none, and what they raise hurts nobody."""

from __future__ import annotations

import asyncio
import logging
from contextvars import ContextVar

import pytest

from haulwright import Observer
from haulwright.errors import HaulwrightError
from haulwright.runtime import observers
from tests.runtime.recorder import CANARY, Recorder, drain

span: ContextVar[str] = ContextVar("span", default="none")


class Raising(Observer):
    """Fails in every way an observer can fail."""

    def claimed(self, _run, /):
        raise ValueError(f"token={CANARY}")

    def started(self, _run, /):
        raise SystemExit(3)

    def ended(self, _event, /):
        raise asyncio.CancelledError

    def settled(self, _event, /):
        raise RuntimeError

    def enqueued(self, _event, /):
        raise KeyError("job")


@pytest.mark.parametrize("kind", ["plain", "asynchronous"])
def test_an_observer_that_raises_hurts_nobody_and_is_told_of_once(app, kind, caplog):
    recorder = Recorder()
    app.observe(Raising())
    app.observe(recorder)

    if kind == "plain":

        @app.task()
        def work(n: int) -> int:
            return n

    else:

        @app.task()
        async def work(n: int) -> int:
            return n

    with caplog.at_level(logging.INFO, logger="haulwright.observer"):
        handles = [work.enqueue(n) for n in range(5)]
        drain(app)

    assert [handle.result(0) for handle in handles] == [0, 1, 2, 3, 4]
    assert {call: len(recorder.of(call)) for call in ("enqueued", "claimed", "started", "ended", "settled")} == {
        "enqueued": 5, "claimed": 5, "started": 5, "ended": 5, "settled": 5,
    }  # fmt: skip
    failures = [record.facts["observer"] for record in caplog.records if "an observer failed" in record.getMessage()]
    assert sorted(failures) == [f"Raising.{call}" for call in ("claimed", "ended", "enqueued", "settled", "started")]
    assert CANARY not in str([record.__dict__ for record in caplog.records])


def test_two_observers_are_called_in_the_order_in_which_they_came(app):
    order: list[str] = []

    class Named(Observer):
        def __init__(self, name: str) -> None:
            self.name = name

        def settled(self, _event, /):
            order.append(self.name)

    @app.task()
    def work() -> None: ...

    app.observe(Named("first"))
    app.observe(Named("second"))
    work.enqueue()
    drain(app)

    assert order == ["first", "second"]


class Tracing(Observer):
    """Opens a span around each run, as a tracing library would."""

    def started(self, run, /):
        span.set(run.job_id)

    def ended(self, _event, /):
        span.set("none")


def test_what_an_observer_puts_into_context_variables_is_seen_by_the_run_alone(app):
    app.observe(Tracing())

    @app.task()
    def plain() -> str:
        return span.get()

    @app.task()
    async def asynchronous() -> str:
        await asyncio.sleep(0.01)
        return span.get()

    handles = [task.enqueue() for task in (plain, asynchronous) for _ in range(3)]
    app.run_worker(until_empty=True, concurrency=4)

    assert [handle.result(0) for handle in handles] == [handle.id for handle in handles]


def test_nothing_is_built_for_a_job_that_nobody_listens_to(app, monkeypatch, caplog):
    caplog.set_level(logging.WARNING, logger="haulwright")
    built: list[str] = []
    for name in ("JobRun", "JobEnqueued", "RunEnded", "RunSettled"):
        value = getattr(observers, name)
        monkeypatch.setattr(observers, name, lambda *, name=name, value=value, **kw: built.append(name) or value(**kw))

    @app.task()
    def work() -> None: ...

    work.enqueue()
    drain(app)
    assert built == []

    caplog.set_level(logging.INFO, logger="haulwright")
    work.enqueue()
    drain(app)
    assert built == ["JobRun", "RunSettled"]


def test_what_is_no_observer_is_refused(app):
    with pytest.raises(HaulwrightError, match="is not an Observer") as refusal:
        app.observe(Observer)

    assert "Subclass haulwright.Observer" in refusal.value.hint
