"""Leases are renewed whatever a neighbour does, and where they cannot be, the worker knows and says so."""

from __future__ import annotations

import asyncio
import logging
import threading
from dataclasses import replace

import pytest

from haulwright import Context, Haulwright, Observer, Retry
from haulwright.clock import SECOND
from haulwright.engine.ids import new_id
from haulwright.runtime.execution import Run
from haulwright.runtime.heartbeat import Heartbeat
from haulwright.runtime.observers import SILENT, Observers
from haulwright.runtime.watchdog import Watchdog
from haulwright.stores.leases import Leases, Renewal
from tests.runtime.importable import until_told
from tests.runtime.waiting import eventually


class Listening(Observer):
    """What was told of renewals and losses."""

    def __init__(self):
        self.lags, self.losses = [], []

    def renewals_lag(self, event):
        self.lags.append(event)

    def lost(self, event):
        self.losses.append(event)


@pytest.fixture
def listening(app):
    listening = Listening()
    app.observe(listening)
    return listening


@pytest.fixture
def let_go():
    """Set by a test to let what it holds up go on; at its end in any case."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def hung_renewals(let_go, monkeypatch, caplog):
    """What is logged while no renewal comes back."""
    monkeypatch.setattr(Leases, "renew", lambda *_: let_go.wait(90) and Renewal(frozenset(), {}))
    with caplog.at_level(logging.WARNING, "haulwright.worker"):
        yield caplog


def renewed_us(app, handle):
    """For how long a lease has been renewed, on the database's clock."""
    job = app.store.listing.get(handle.id)
    return (job.heartbeat_at or 0) - (job.leased_at or 0)


@pytest.mark.postgres
@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
@pytest.mark.proves("HB-01")
def test_a_long_commit_costs_neither_its_neighbours_nor_itself_the_lease(app, start_worker, let_go, listening):
    """It lasts longer than two leases; another worker sweeps meanwhile."""
    committing = threading.Event()

    def hold_on(_tx):
        committing.set()
        assert let_go.wait(90)

    @app.task(lease="1 s")
    def commits(ctx: Context) -> str:
        ctx.commit("slowly", hold_on)
        return "committed"

    @app.task(lease="1 s")
    def neighbour() -> str:
        assert let_go.wait(90)
        return "done"

    handles = [commits.enqueue(), neighbour.enqueue()]
    start_worker(grace=20)
    start_worker(queues=("other",))
    assert committing.wait(90)

    eventually(lambda: renewed_us(app, handles[1]) > 2.5 * SECOND)
    let_go.set()

    assert [handle.result(90) for handle in handles] == ["committed", "done"]
    assert [(handle.job().losses, handle.job().attempts) for handle in handles] == [(0, 1), (0, 1)]
    assert [run.job_id for event in listening.lags for run in event.runs] == [handles[0].id]


@pytest.mark.parametrize("name", ["plain", "asynchronous"])
def test_a_run_whose_lease_nobody_can_renew_is_told_of_and_ended(app, start_worker, hung_renewals, listening, name):
    """The renewals hang, as with a server that takes every statement and answers none."""

    @app.task(lease="1 s", retry=Retry(1))
    def plain(ctx: Context) -> None:
        until_told(ctx)

    @app.task(lease="1 s", retry=Retry(1))
    async def asynchronous() -> None:
        await asyncio.sleep(20)

    handle = app.tasks[name].enqueue()
    start_worker()
    eventually(lambda: listening.losses)

    assert listening.losses[0].run.job_id == handle.id
    assert [(run.job_id, run.fence) for run in listening.lags[0].runs] == [(handle.id, 1)]
    lines = [record for record in hung_renewals.records if record.message == "renewals lag"]
    assert (lines[0].facts["job"], lines[0].facts["leases"]) == (handle.id, 1)


class Moments:
    """A monotonic clock that a test moves."""

    now = 1000.0

    def monotonic(self):
        return self.now


@pytest.fixture
def moments(monkeypatch):
    moments = Moments()
    monkeypatch.setattr("haulwright.runtime.watchdog.time", moments)
    monkeypatch.setattr("haulwright.runtime.execution.time", moments)
    return moments


@pytest.fixture
def run(bench, moments):
    """A run whose lease of 60 s was claimed just now."""
    app = Haulwright()

    @app.task(lease="60 s")
    def work() -> None: ...

    bench.use(app)
    work.enqueue()
    (lease,) = bench.store.leases.claim("018f2f6e-7c1a-7abc-8def-0123456789ab", ["default"])
    run = Run.of(lease, work, bench.store, "w1")
    run.renewed_at = run.held_at = moments.now
    return run


@pytest.fixture
def watch(run, listening_alone):
    return Watchdog(Observers("w1", [listening_alone]), lambda: [run])


@pytest.fixture
def listening_alone():
    return Listening()


def test_a_lag_is_told_once_beyond_half_of_the_lease_and_again_after_a_renewal(watch, run, moments, listening_alone):
    told = []
    for moments.now in (1030, 1030.1, 1031, 1059):
        watch.check()
        told.append(len(listening_alone.lags))
    run.note_renewal(skipped=False)
    for moments.now in (1060, 1089.1):
        watch.check()
        told.append(len(listening_alone.lags))

    assert told == [0, 1, 1, 1, 1, 2]
    assert not run.context.signals.lost


def test_a_run_is_ended_when_its_lease_was_not_renewed_for_two_whole_leases_and_not_before(watch, run, moments):
    lost = []
    for moments.now in (1061, 1120, 1120.1):
        watch.check()
        lost.append(run.context.signals.lost)

    assert lost == [False, False, True]


def test_a_lease_that_is_skipped_lags_and_is_not_lost(watch, run, moments, listening_alone):
    for moments.now in (1040, 1100, 1200, 1300):
        run.note_renewal(skipped=True)
        watch.check()

    assert len(listening_alone.lags) == 1
    assert not run.context.signals.lost


@pytest.mark.parametrize("state", ["ended", "settled"])
def test_a_run_that_is_over_is_left_to_its_settlement(watch, run, moments, listening_alone, state):
    run.ended = 1001.0 if state == "ended" else 0.0
    run.context.settled = state == "settled"
    moments.now = 5000
    watch.check()

    assert (listening_alone.lags, run.context.signals.lost) == ([], False)


def test_leases_that_were_skipped_are_tried_again_soon_and_they_alone(bench, run, monkeypatch):
    """The next beat for all is an hour away."""
    monkeypatch.setattr("haulwright.engine.lease.LONGEST_INTERVAL_SECONDS", 3600.0)
    monkeypatch.setattr(type(run.lease), "lease_us", 36_000 * SECOND)
    neighbour = replace(run, lease=run.lease._replace(id=new_id()))
    calls = []

    def renew(leases):
        calls.append([lease.id for lease in leases])
        return Renewal(frozenset(), {}, frozenset({run.lease.id} if len(calls) < 3 else ()))

    monkeypatch.setattr(bench.store.leases, "renew", renew)
    heartbeat = Heartbeat(
        bench.store, new_id(), SILENT, lambda: [run, neighbour], abandon=lambda _: None, on_put_back=lambda *_: None
    )
    heartbeat.start()
    eventually(lambda: len(calls) == 3)
    heartbeat.stop()

    assert calls == [[run.lease.id, neighbour.lease.id], [run.lease.id], [run.lease.id]]
