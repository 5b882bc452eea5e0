"""Documents are reconciled when a worker began, when many leases were lost, and when nobody did it for an hour."""

from __future__ import annotations

import json

import pytest

from penstock.apps.documents.watching import reasons_for


def reconciled(world):
    return len(world.events("documents.reconciled"))


def reasons(world):
    """What the newest watch found."""
    return json.loads(world.bench.all_enqueued(world.documents.watch_task)[-1].result)


@pytest.mark.proves("RC-05")
def test_a_worker_that_began_is_a_reason_once_and_an_hour_is_another(world):
    world.bench.advance("5 min")
    world.bench.drain()
    assert (reconciled(world), "worker started" in reasons(world)) == (1, True)

    world.bench.advance("5 min")
    world.bench.drain()
    assert (reconciled(world), reasons(world)) == (1, [])

    world.bench.advance("1 h")
    world.bench.drain()
    assert (reconciled(world), reasons(world)) == (2, ["time passed"])


@pytest.mark.proves("RC-05")
def test_five_lost_leases_within_ten_minutes_are_a_reason(world):
    world.bench.advance("5 min")
    world.bench.drain()
    for number in range(5):
        world.add(f"{number}.txt")
    for _ in range(5):
        with world.bench.crash("documents.fetch", after="claim"):
            world.bench.drain()
    world.bench.advance("5 min")

    world.bench.drain()

    assert "leases lost" in reasons(world)
    assert reconciled(world) == 2
    assert world.documents.artifacts.states("acme") == {"INDEXED": 5}


def test_a_reconciler_that_waits_stands_for_all_who_ask(world):
    first, second = world.documents.reconcile_task.enqueue(), world.documents.reconcile_task.enqueue()

    assert (first.id, second.created) == (second.id, False)


@pytest.mark.parametrize(
    ("last", "started", "losses", "found"),
    [
        (None, 0, 0, ["time passed"]),
        (11, 0, 0, []),
        (10, 0, 0, ["time passed"]),
        (11, 1, 0, ["worker started"]),
        (11, 0, 4, []),
        (11, 0, 5, ["leases lost"]),
    ],
)
def test_the_reasons(last, started, losses, found):
    assert reasons_for(last, started, losses, since=10) == found
