"""What a first page adds up: what ended minute by minute, what needs somebody, and who waits for whom."""

from __future__ import annotations

import pytest

from haulwright.clock import SECOND
from haulwright.operations import pulse as pulses
from tests.operations.fleet import ACME, ADMIN, app, worker
from tests.stores.scenes import START, bury, claim, new_job, settle


@pytest.fixture(autouse=True)
def on_the_bench(bench):
    bench.use(app)


@pytest.fixture
def at_work():
    """A worker that serves the default queue."""
    at_work = worker()
    app.store.workers.register(at_work, ["default"], ["tick", "work"])
    return at_work


def run(bench, at_work, seconds, **words):
    """A job that waits for two seconds and runs for so many."""
    app.store.jobs.enqueue([new_job(**words)])
    bench.clock.advance(2)
    (lease,) = claim(app.store, at_work.id)
    bench.clock.advance(seconds)
    assert settle(app.store, lease)


def test_the_pulse_counts_what_ended_by_minute_and_outcome_for_all_or_for_one_tenant(bench, at_work):
    run(bench, at_work, 3, tenant="acme")
    bench.clock.advance(60)
    run(bench, at_work, 10, tenant="globex")
    bury(app.store, at_work.id, tenant="acme")

    whole, own = app.operations(ADMIN).overview.pulse(), app.operations(ACME).overview.pulse()

    assert [sum(counts.values()) for counts in whole.stretches][-2:] == [1, 2]
    assert whole.stretches[-1] == {"succeeded": 1, "dead": 1}
    assert [sum(counts.values()) for counts in own.stretches][-2:] == [1, 1]
    assert (whole.run.p95_seconds, whole.wait.p95_seconds, whole.is_cut) == (10.0, 2.0, False)
    assert own.run.p95_seconds == 3.0
    assert (whole.since % (60 * SECOND), len(whole.stretches)) == (0, 60)


def test_of_one_tenant_fewer_are_counted_than_of_all(bench, at_work, monkeypatch):
    monkeypatch.setattr(pulses, "MOST_OF_TENANT", 2)
    for _ in range(3):
        run(bench, at_work, 1, tenant="acme")

    whole, own = app.operations(ADMIN).overview.pulse(), app.operations(ACME).overview.pulse()

    assert [sum(sum(counts.values()) for counts in pulse.stretches) for pulse in (whole, own)] == [3, 2]
    assert (whole.is_cut, own.is_cut) == (False, True)


def test_of_very_many_the_pulse_has_the_newest_and_says_so(bench, at_work, monkeypatch):
    monkeypatch.setattr(pulses, "MOST_COUNTED", 2)
    for _ in range(3):
        bench.clock.advance(60)
        run(bench, at_work, 1, tenant="acme")

    for principal in (ADMIN, ACME):
        pulse = app.operations(principal).overview.pulse()
        assert sum(sum(counts.values()) for counts in pulse.stretches) == 2
        assert pulse.is_cut


@pytest.mark.usefixtures("bench")
def test_where_nothing_ended_there_is_no_length():
    pulse = app.operations(ADMIN).overview.pulse()

    assert (pulse.run, pulse.wait, pulse.is_cut) == (None, None, False)
    assert not any(pulse.stretches)


def kinds(principal):
    overview = app.operations(principal).overview
    return [(concern.kind, concern.name) for concern in overview.concerns(overview.frame())]


def test_what_needs_somebody_is_named_and_what_stands_still_comes_first(bench, at_work):
    assert kinds(ADMIN) == []
    bury(app.store, at_work.id, tenant="acme")
    app.store.jobs.enqueue([new_job(tenant="globex", queue="nobody"), new_job(tenant="acme")])
    claim(app.store, at_work.id)
    app.operations(ADMIN).queues.pause("held")
    app.store.jobs.enqueue([new_job(tenant="acme")])
    assert kinds(ADMIN)[0] == ("unserved", "nobody")

    bench.clock.advance(400)

    seen = kinds(ADMIN)
    assert seen[:2] == [("unserved", "default"), ("unserved", "nobody")]  # its worker was silent for too long
    assert {kind for kind, _ in seen} == {"unserved", "lease", "paused", "dead"}
    assert {name for kind, name in kinds(ACME) if kind == "unserved"} == {"default"}


def test_a_source_that_is_closed_is_named_to_staff_alone(bench):
    source = app.source("shop.example", rate="1/s")
    app.declare_sources()
    app.operations(ADMIN).sources.pause(source.key, seconds=60)

    assert ("source", "shop.example") in kinds(ADMIN)
    assert kinds(ACME) == []
    bench.clock.advance(61)
    assert kinds(ADMIN) == []


def test_relatives_are_those_that_wait_and_the_lives_before_and_after(at_work):
    first, second = new_job(tenant="acme"), new_job(tenant="acme")
    parent, foreign = new_job(tenant="acme"), new_job(tenant="globex", queue="other")
    app.store.jobs.enqueue([parent])
    (lease,) = claim(app.store, at_work.id)
    app.store.jobs.enqueue([first, second, foreign])
    assert app.store.joins.wait(lease, [first.id, second.id, foreign.id], any_tenant=True)
    jobs = app.operations(ACME).jobs

    assert {job.id for job in jobs.relatives(parent.id).waits_for} == {first.id, second.id}
    assert [job.id for job in jobs.relatives(first.id).waited_by] == [parent.id]
    assert len(app.operations(ADMIN).jobs.relatives(parent.id).waits_for) == 3
    assert len(app.operations(ADMIN).jobs.relatives(parent.id, limit=2).waits_for) == 2

    dead = bury(app.store, at_work.id, tenant="acme")
    after = app.operations(ADMIN).dead_letters.requeue(dead).id
    assert jobs.relatives(dead).successor.id == after
    assert jobs.relatives(after).predecessor.id == dead


def test_the_clock_of_the_bench_begins_in_a_whole_minute():
    """The figures above count minutes from there."""
    assert START % (60 * SECOND) == 0
