"""Workers are rows: seen, stopped, or provably gone. Nothing is decided by a name."""

from __future__ import annotations

import pytest

from haulwright import events
from haulwright.engine.ids import new_id
from haulwright.stores.workers import Identity
from tests.stores.scenes import START, claim_one, settle


def identity(**words):
    plain = {"name": "web-1", "host": "alpha", "boot_id": "b1", "pid": 7, "pid_started": "100", "version": "0.1"}
    return Identity(**{"id": new_id(), **plain, **words})


@pytest.fixture
def one(store):
    worker = identity()
    store.workers.register(worker, ["default", "slow"], ["work"])
    return worker


def test_a_started_worker_is_listed_with_what_it_serves(store, one):
    (row,) = store.workers.list()

    assert (row.id, row.name, row.host, row.pid, row.version) == (one.id, "web-1", "alpha", 7, "0.1")
    assert (row.queues, row.tasks, row.refused) == (["default", "slow"], ["work"], 0)
    assert (row.started_at, row.seen_at, row.stopped_at) == (START, START, None)
    (told,) = store.events.latest(name=events.WORKER_STARTED)
    assert (told.worker, told.data["queues"]) == (one.id, ["default", "slow"])


def test_a_worker_that_is_silent_is_not_listed_among_the_living(store, clock, one):
    silent = identity(name="silent")
    store.workers.register(silent, ["default"], [])
    clock.advance(100)
    store.workers.seen(one.id, refused=3)
    clock.advance(100)

    (alive,) = store.workers.list(within_seconds=120)

    assert (alive.id, alive.refused) == (one.id, 3)
    assert len(store.workers.list(everyone=True)) == 2


def test_a_worker_that_stopped_says_so_once(store, one):
    store.workers.stopped(one, refused=1)
    store.workers.stopped(one, refused=1)

    assert store.workers.list() == []
    assert len(store.events.latest(name=events.WORKER_STOPPED)) == 1


@pytest.mark.proves("CLM-06")
@pytest.mark.usefixtures("a_job")
def test_two_workers_of_one_name_are_two_workers(store, one):
    twin = identity(name=one.name)
    store.workers.register(twin, ["default"], [])
    lease = claim_one(store, one.id)

    assert store.recovery.recover([twin.id]) == []
    assert settle(store, lease)


def test_a_worker_that_tries_whether_it_can_write_was_seen_and_its_heartbeats_are_not_counted(store, clock, one):
    beats = store.workers.seen(one.id, 0)
    clock.advance(5)

    assert store.workers.touch(one.id)

    assert store.workers.list()[0].seen_at == clock.now()
    assert store.workers.seen(one.id, 0) == beats + 1
    assert not store.workers.touch(identity().id)


@pytest.mark.proves("SR-01")
def test_only_processes_of_this_host_that_are_provably_gone_are_found(store, one):
    gone, alive = identity(pid=1), identity(pid=2)
    elsewhere, stopped = identity(host="beta", pid=1), identity(pid=1)
    for worker in (gone, alive, elsewhere, stopped):
        store.workers.register(worker, ["default"], [])
    store.workers.stopped(stopped, refused=0)
    asked = []

    def is_gone(boot_id, pid, started):
        asked.append((boot_id, pid, started))
        return pid == 1

    assert store.workers.gone_from(one, is_gone) == [gone.id]
    assert sorted(asked) == [("b1", 1, "100"), ("b1", 2, "100")]


@pytest.mark.proves("SR-03")
def test_a_recovery_is_told_and_the_gone_are_not_found_again(store, one):
    gone = identity(pid=1)
    store.workers.register(gone, ["default"], [])

    store.workers.recovered(one, [gone.id], jobs=2)

    assert store.workers.gone_from(one, lambda *_: True) == []
    (told,) = store.events.latest(name=events.WORKER_RECOVERED)
    assert told.worker == one.id
    assert (told.data["jobs"], told.data["gone"], told.data["reason"]) == (2, [gone.id], "worker_startup_recovery")


def test_the_owner_of_a_lease_is_shown_by_name(store, one, a_job):
    claim_one(store, one.id)

    assert store.listing.get(a_job.id).lease_owner == "web-1"


@pytest.mark.usefixtures("a_job")
def test_workers_are_forgotten_when_they_are_long_gone_and_hold_nothing(store, clock, one):
    idle = identity(name="idle")
    store.workers.register(idle, ["default"], [])
    lease = claim_one(store, one.id)
    clock.advance(3601)

    assert store.workers.prune(3600) == 1
    assert [row.id for row in store.workers.list(everyone=True)] == [one.id]
    settle(store, lease)
    assert store.workers.prune(3600) == 1
