"""A lease is taken back by what was seen, not by one clock: both clocks are the test's here."""

from __future__ import annotations

from contextlib import closing, suppress

import pytest

from haulwright.engine.ids import new_id
from haulwright.errors import DatabaseUnavailable
from haulwright.runtime.identity import this_process
from haulwright.runtime.lease_watch import CALM_SECONDS, LeaseWatch
from haulwright.testing.harness import Harness
from tests.stores.scenes import new_job
from tests.support.outages import full_disk, read_only_server

HOUR = 3600.0
LEASE = 120
WATCHED = 30
"""For how long the heartbeat of such a lease is watched."""


class Moments:
    """The monotonic clock of who watches."""

    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now


@pytest.fixture
def moments(monkeypatch):
    moments = Moments()
    monkeypatch.setattr("haulwright.runtime.lease_watch.time", moments)
    return moments


class Scene:
    """Somebody who watches, beside a worker that holds leases."""

    def __init__(self, bench, moments):
        self._bench, self._moments = bench, moments
        self.store = bench.store
        self.watch = self.another_watch()
        self.taken = []

    def another_watch(self):
        identity = this_process("watch")
        self.store.workers.register(identity, ["other"], [])
        return LeaseWatch(self.store, identity.id)

    def claim(self, seconds=LEASE, jobs=1):
        self.store.jobs.enqueue([new_job(lease_us=round(seconds * 1_000_000)) for _ in range(jobs)])
        return self.store.leases.claim(new_id(), ["default"], jobs)

    def pass_time(self, seconds, *, jump=0.0):
        self._moments.now += seconds
        self._bench.clock.advance(seconds + jump)

    def look_for(self, seconds, *, watch=None, renew=()):
        """Look as often as is planned; a worker that lives renews these leases every 20 s. What was taken back."""
        watch, taken, until = watch or self.watch, [], self._moments.now + seconds
        renewed = self._moments.now
        while self._moments.now < until:
            taken += watch.reap()
            self.pass_time(max(0.01, watch.wait_seconds))
            if renew and self._moments.now - renewed >= 20:
                self.store.leases.renew(renew)
                renewed = self._moments.now
        return [reaped.id for reaped in taken]


@pytest.fixture
def scene(bench, moments):
    return Scene(bench, moments)


@pytest.mark.parametrize("seconds", [1, 3, 30, 120, 3600])
def test_a_lease_of_a_dead_worker_is_taken_back_as_soon_as_it_runs_out(scene, seconds):
    """It is watched before its end: within two seconds of that it is taken back."""
    (lease,) = scene.claim(seconds)

    assert scene.look_for(seconds - 0.1) == []
    assert scene.look_for(1.9) == [lease.id]


def test_a_lease_that_is_left_between_two_looks_is_taken_back_in_time(scene):
    scene.look_for(10)
    scene.pass_time(0.5)
    (lease,) = scene.claim(3)

    assert scene.look_for(4.9) == [lease.id]


@pytest.mark.parametrize("jump", [HOUR, -HOUR], ids=["ahead", "back"])
def test_a_jump_of_the_databases_clock_takes_nothing_from_a_worker_that_lives(scene, jump):
    leases = scene.claim(jobs=8)
    assert scene.look_for(50, renew=leases) == []

    scene.pass_time(0.5, jump=jump)

    assert scene.look_for(19) == []
    scene.store.leases.renew(leases)
    assert scene.look_for(200, renew=leases) == []


def test_a_jump_of_the_databases_clock_ends_no_lease_that_was_about_to_be_renewed(scene):
    """It was watched for as long as it takes, and had a second left: what was seen before the jump is void."""
    (lease,) = scene.claim()
    assert scene.look_for(LEASE - 1.5) == []

    scene.pass_time(0.5, jump=HOUR)

    assert scene.look_for(WATCHED - 2) == []
    scene.store.leases.renew([lease])
    assert scene.look_for(40, renew=[lease]) == []


def test_who_comes_late_watches_a_lease_that_ran_out_before_it_is_taken_back(scene):
    (lease,) = scene.claim()
    scene.pass_time(10 * LEASE)

    assert scene.look_for(WATCHED - 1) == []
    assert scene.look_for(3) == [lease.id]


def test_a_lease_that_is_renewed_while_it_is_watched_is_left_to_its_worker(scene):
    (lease,) = scene.claim()
    scene.pass_time(10 * LEASE)
    assert scene.look_for(WATCHED - 1) == []

    scene.store.leases.renew([lease])

    assert scene.look_for(40, renew=[lease]) == []


def test_who_stood_still_itself_has_seen_nobody_stand_still(scene):
    """All processes of a host were frozen for a minute: they go on together, and the worker renews."""
    (lease,) = scene.claim()
    assert scene.look_for(LEASE - 20) == []

    scene.pass_time(60)

    assert scene.watch.reap() == []
    scene.pass_time(1)
    assert scene.watch.reap() == []
    scene.store.leases.renew([lease])
    assert scene.look_for(40, renew=[lease]) == []


def test_a_lease_that_ended_long_ago_is_found_by_a_whole_look(scene):
    scene.look_for(5)
    (lease,) = scene.claim(3)
    longest = "update haulwright_jobs set lease_expires_at = 1"
    scene.store.database.transact(lambda connection: connection.execute(longest))

    assert scene.look_for(5) == []
    assert scene.watch.reap(whole=True) == []
    assert scene.look_for(3) == [lease.id]


def test_many_leases_are_taken_back_together(scene):
    leases = scene.claim(30, jobs=250)

    taken = scene.look_for(32)

    assert sorted(taken) == sorted(lease.id for lease in leases)
    assert scene.store.listing.get(taken[0]).losses == 1


def test_a_watch_that_the_database_does_not_know_takes_back_nothing(scene):
    """Its writes would say nothing about those of others: its row was lost with what the database forgot."""
    scene.claim(3)

    assert scene.look_for(20, watch=LeaseWatch(scene.store, new_id())) == []


@pytest.fixture(params=["full disk", pytest.param("read-only server", marks=pytest.mark.postgres)])
def troubled_scene(request, tmp_path, moments):
    """The same on a database that can stop taking writes."""
    if request.param == "full disk":
        outages = full_disk(tmp_path)
    else:
        outages = read_only_server(request.getfixturevalue("postgres_server"))
    with outages as outage, closing(Harness(outage.url, tmp_path)) as bench:
        yield Scene(bench, moments), outage


def test_what_ran_out_while_the_database_took_no_writes_is_watched_anew(troubled_scene):
    """Nobody could renew, although everybody could look."""
    scene, outage = troubled_scene
    (lease,) = scene.claim()
    scene.pass_time(LEASE + 1)
    outage.begin()
    for _ in range(WATCHED - 1):
        with suppress(DatabaseUnavailable):
            scene.watch.reap()
        scene.pass_time(1)
    outage.end()

    assert scene.look_for(WATCHED - 2) == []
    assert scene.look_for(WATCHED) == [lease.id]


def test_after_trouble_even_the_shortest_lease_waits_until_everybody_has_tried_again(troubled_scene):
    scene, outage = troubled_scene
    (lease,) = scene.claim(1)
    scene.pass_time(2)
    outage.begin()
    with pytest.raises(DatabaseUnavailable):
        scene.watch.reap()
    outage.end()

    assert scene.look_for(CALM_SECONDS - 1) == []
    assert scene.look_for(3) == [lease.id]
