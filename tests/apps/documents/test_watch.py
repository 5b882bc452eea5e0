"""Documents are reconciled when a worker starts, when many leases were lost, and when nobody did it for an hour."""

from __future__ import annotations

import json

import pytest

from haulwright.apps.documents.application import UPKEEP
from haulwright.apps.documents.watching import reasons_for


def reconciled(world):
    return len(world.events("documents.reconciled"))


def reasons(world):
    """What the newest watch found."""
    return json.loads(world.bench.all_enqueued(world.documents.watch_task)[-1].result)


@pytest.mark.proves("RC-05")
def test_a_worker_that_starts_reconciles_first(world):
    world.documents.app.run_worker(queues=(UPKEEP,), until_empty=True)

    assert reconciled(world) == 1


@pytest.mark.proves("RC-05")
def test_an_hour_without_is_a_reason(world):
    world.bench.advance("5 min")
    world.bench.drain()
    assert (reconciled(world), reasons(world)) == (1, ["time passed"])

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
    ("last", "losses", "reasons"),
    [
        (None, 0, ["time passed"]),
        (11, 0, []),
        (10, 0, ["time passed"]),
        (11, 4, []),
        (11, 5, ["leases lost"]),
    ],
)
def test_the_reasons(last, losses, reasons):
    assert reasons_for(last, losses, since=10) == reasons
