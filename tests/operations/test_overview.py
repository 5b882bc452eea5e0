"""The overview: everything at one moment for staff, and what is its own for a tenant."""

from __future__ import annotations

import pytest

from haulwright import Haulwright
from haulwright.clock import SECOND
from haulwright.errors import NotFound
from haulwright.operations import overview
from tests.operations.fleet import ACME, ADMIN, SUPPORT, app, worker
from tests.stores.scenes import START, bury, claim, new_job


@pytest.fixture(autouse=True)
def on_the_bench(bench):
    bench.use(app)


@pytest.fixture
def busy():
    """A worker that buried a job of each tenant, has one of each in hand, and serves an idle queue as well."""
    busy = worker()
    app.store.workers.register(busy, ["default", "idle"], ["tick"])
    for tenant in ("acme", "globex"):
        bury(app.store, busy.id, tenant=tenant)
    app.store.jobs.enqueue([new_job(tenant=tenant) for tenant in ("acme", "globex", "globex")])
    claim(app.store, busy.id, 2)
    return busy


def test_recoveries_are_counted_by_how_they_were_found_and_for_a_tenant_alone(bench, busy):
    recovered = app.store.recovery.recover([busy.id])
    bench.clock.advance(5)

    (all_tenants,) = app.operations(ADMIN).overview.recoveries()
    assert all_tenants == ("worker_startup_recovery", len(recovered), START)
    assert [count.jobs for count in app.operations(ACME).overview.recoveries()] == [1]
    bench.clock.advance(3600)
    assert app.operations(ADMIN).overview.recoveries() == []
    assert [count.jobs for count in app.operations(ADMIN).overview.recoveries(86_400)] == [len(recovered)]


def test_a_frame_has_queues_workers_throughput_and_the_last_failures(bench, busy):
    bench.clock.advance(5)
    frame = app.operations(ADMIN).overview.frame()

    assert (frame.at, frame.seconds) == (START + 5 * SECOND, 10.0)
    assert [(queue.name, queue.due, queue.running, queue.workers) for queue in frame.queues] == [
        ("default", 1, 2, 1), ("idle", 0, 0, 1),
    ]  # fmt: skip
    assert frame.per_second() == frame.per_second("default") == (0.0, 0.2)
    assert frame.per_second("idle") == (0.0, 0.0)
    assert [(worker.row.id, worker.running) for worker in frame.workers] == [(busy.id, 2)]
    assert {trouble.tenant for trouble in frame.troubles} == {"acme", "globex"}


@pytest.mark.usefixtures("busy")
def test_a_tenant_sees_its_own_jobs_and_failures_and_no_workers(bench):
    bench.clock.advance(5)
    frame = app.operations(ACME).overview.frame()

    assert [(queue.name, queue.due, queue.running) for queue in frame.queues] == [("default", 0, 1)]
    assert frame.per_second() == (0.0, 0.1)
    assert frame.workers == []
    assert [trouble.tenant for trouble in frame.troubles] == ["acme"]


@pytest.mark.usefixtures("busy")
def test_support_sees_the_workers_and_what_they_hold_of_its_tenant():
    frame = app.operations(SUPPORT).overview.frame()

    assert [worker.running for worker in frame.workers] == [1]
    assert {trouble.tenant for trouble in frame.troubles} == {"acme"}


@pytest.mark.usefixtures("busy")
def test_a_frame_of_one_queue_leaves_the_others_out():
    app.store.jobs.enqueue([new_job(queue="other")])

    frame = app.operations(ADMIN).overview.frame("idle")

    assert [queue.name for queue in frame.queues] == ["idle"]
    assert [worker.row.name for worker in frame.workers] == ["w1"]
    assert frame.troubles == []


@pytest.mark.usefixtures("busy")
def test_each_frame_of_a_watch_tells_what_happened_since_the_one_before(bench):
    with app.operations(ADMIN).overview.watch() as watch:
        bench.clock.advance(5)
        first = watch.look()
        bench.clock.advance(5)
        second = watch.look()

    assert (first.seconds, first.ended["default"].dead) == (10.0, 2)
    assert (second.seconds, second.ended) == (5.0, {})


@pytest.mark.parametrize(("principal", "done", "left"), [(ADMIN, 2, 3), (ACME, 1, 1)])
def test_a_tally_counts_what_ended_since_and_what_is_left(bench, principal, done, left):
    bench.clock.advance(1)
    with app.operations(principal).overview.tally({"default"}) as tally:
        bench.clock.advance(1)
        hands = worker()
        for tenant in ("acme", "globex"):
            bury(app.store, hands.id, tenant=tenant)
        app.store.jobs.enqueue([new_job(tenant=tenant) for tenant in ("acme", "globex", "globex")])
        bench.clock.advance(1)
        progress = tally.look(at_last=True)

    assert (progress.failed, progress.left, progress.counted) == (done, left, True)
    assert progress.eta_seconds == pytest.approx(left / (done / 2))


def test_a_look_at_a_database_that_is_not_there_makes_none(tmp_path):
    missing = Haulwright(f"sqlite:///{tmp_path}/none.db")
    with pytest.raises(NotFound):
        missing.operations(ADMIN).overview.frame()

    assert not (tmp_path / "none.db").exists()


def test_a_look_shows_so_many_queues_the_busy_ones_first_and_says_that_there_are_more(monkeypatch):
    monkeypatch.setattr(overview, "FRAME_QUEUES", 3)
    app.store.jobs.enqueue([new_job(queue=name) for name in ("a", "b", "c", "z")])
    app.store.workers.register(worker(), ["y", "z"], [])

    frame = app.operations(ADMIN).overview.frame()

    assert ([queue.name for queue in frame.queues], frame.more_queues) == (["a", "y", "z"], True)
    monkeypatch.setattr(overview, "FRAME_QUEUES", 5)
    assert not app.operations(ADMIN).overview.frame().more_queues
