"""What is older than it is kept goes as fast as it becomes due, in batches between which other work is done."""

from __future__ import annotations

import pytest

from haulwright.engine.ids import new_id
from haulwright.runtime import pruner
from haulwright.runtime.pruner import BREATH_SECONDS, Pruner
from haulwright.settings import Settings
from haulwright.stores.workers import Identity
from tests.stores.scenes import DAY, bury, claim, count, new_job, settle

BATCH = 4


@pytest.fixture
def kept(store, clock, monkeypatch):
    """Retention in small batches; nine succeeded jobs and a dead one are old, one is young."""
    monkeypatch.setattr(pruner, "BATCH_LIMIT", BATCH)
    worker = new_id()
    store.jobs.enqueue([new_job() for _ in range(9)])
    for lease in claim(store, worker, 9):
        settle(store, lease)
    bury(store, worker)
    clock.advance(100 * DAY // 1_000_000)
    store.jobs.enqueue([new_job()])
    settle(store, *claim(store, worker))
    return Pruner(store, Settings.load(environ={}))


def test_a_round_goes_on_in_bounded_batches_until_nothing_is_due(store, kept):
    in_batches = []
    while (removed := kept.prune()) is None:
        in_batches.append((count(store, "haulwright_history"), kept.wait_seconds))

    assert in_batches == [(11 - BATCH - 1, BREATH_SECONDS), (11 - 2 * BATCH - 1, BREATH_SECONDS)]
    assert removed == {"succeeded jobs": 9, "dead jobs": 1}
    assert count(store, "haulwright_history") == 1


def test_the_next_round_waits_for_its_time(kept):
    while kept.prune() is None:
        pass

    assert kept.step() is None
    assert kept.wait_seconds > BREATH_SECONDS


def test_others_are_left_room_between_batches(store, kept, monkeypatch):
    """Where somebody else writes too, a batch is as small as theirs are."""
    monkeypatch.setattr(type(store.database), "batch_size", 2)

    assert kept.prune() is None
    assert count(store, "haulwright_history") == 11 - 2 - 1


def test_workers_that_are_long_gone_are_forgotten_in_batches_too(store, clock, kept):
    for pid in range(BATCH + 1):
        store.workers.register(Identity(new_id(), "w", "h", "b", pid, "1", "0"), [], [])
    clock.advance(8 * DAY // 1_000_000)

    while (removed := kept.prune()) is None:
        pass

    assert removed["workers"] == BATCH + 1
