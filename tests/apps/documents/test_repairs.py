"""What the reconciler has fetched or indexed again ends well, and what failed for good is left in peace."""

from __future__ import annotations

import pytest

from haulwright.engine.transitions import State
from haulwright.operations.principal import Principal
from haulwright.sources.download.disk import holds
from tests.apps.documents.scenes import TENANT

TIDES = "Tide tables of the northern harbours. " * 20


def search(world, query="tide"):
    return [file.key for file in world.documents.artifacts.search(TENANT, query)]


@pytest.fixture
def dead_repair(world, stored):
    """A document whose file was lost, and that could not be fetched again so far."""
    planned, path = stored
    path.unlink()
    world.sandbox.faults.add("status", code=410, path="/files/report.txt", times=None)
    world.documents.reconcile(Principal.system())
    world.finish()
    world.sandbox.faults.clear()
    return planned


@pytest.mark.proves("RC-06")
@pytest.mark.parametrize("fresh", [False, True])
def test_a_repair_that_died_and_is_requeued_is_shown_as_what_comes_of_it(world, dead_repair, fresh):
    failed = world.standing(dead_repair)
    assert failed["state"] == "FAILED"

    again = world.app.operations().dead_letters.requeue(str(failed["job_id"]), fresh=fresh)
    assert (world.state(dead_repair), str(world.standing(dead_repair)["job_id"])) == ("PLANNED", again.id)
    world.finish()

    sha256 = world.sandbox.files.sha256("report.txt")
    assert (world.state(dead_repair), world.standing(dead_repair)["sha256"]) == ("INDEXED", sha256)
    assert holds(world.documents.folders.place(TENANT, sha256), sha256)
    assert world.documents.reconcile(Principal.system()).agrees


def test_what_failed_or_was_cancelled_stays_so_when_its_job_is_forgotten(world):
    world.sandbox.faults.add("status", code=404, path="/files/gone.txt", times=None)
    failed, cancelled = world.add("gone.txt"), world.add("unwanted.txt")
    world.app.operations().jobs.cancel(cancelled.job_id)
    world.bench.drain()
    world.bench.advance("100 days")
    pruned = [world.bench.store.jobs.prune(state, 3_600.0) for state in (State.DEAD, State.CANCELLED)]

    report = world.documents.reconcile(Principal.system())

    assert (pruned, report.agrees, world.active()) == ([1, 1], True, [])
    assert (world.state(failed), world.state(cancelled)) == ("FAILED", "FAILED")


def test_a_content_whose_first_document_was_cancelled_is_found_for_the_sake_of_the_second(steps):
    world = steps
    for name in ("a.txt", "b.txt"):
        world.sandbox.files.put(name, TIDES.encode())
    first = world.add("a.txt")
    with world.bench.crash("documents.fetch", before="INDEX"):
        world.bench.drain()
    second = world.add("b.txt")
    world.bench.drain()
    world.bench.advance("3 min")
    world.bench.store.recovery.reap()
    world.app.operations().jobs.cancel(first.job_id)
    assert (world.state(first), world.state(second), search(world)) == ("FAILED", "SKIPPED_DUPLICATE", [])

    report = world.documents.reconcile(Principal.system())
    world.bench.drain()

    assert dict(report.counts) == {"not_indexed": 1}
    assert (search(world), world.asked("b.txt")) == ([first.key], 1)
    assert world.documents.reconcile(Principal.system()).agrees


def test_a_file_that_nobody_wants_any_more_is_not_indexed(steps):
    world = steps
    planned = world.add("a.txt")
    with world.bench.crash("documents.fetch", before="INDEX"):
        world.bench.drain()
    world.bench.advance("3 min")
    world.bench.store.recovery.reap()
    world.app.operations().jobs.cancel(planned.job_id)

    assert world.documents.reconcile(Principal.system()).agrees


def test_a_document_that_said_the_same_as_a_lost_one_is_found_in_its_place(world):
    world.sandbox.files.put("a.txt", TIDES.encode())
    world.sandbox.files.put("b.txt", TIDES.replace(". ", ".\r\n").encode())
    first = world.add("a.txt")
    world.bench.drain()
    second = world.add("b.txt")
    world.bench.drain()
    assert (world.state(second), search(world)) == ("DEDUPED", [first.key])

    world.documents.folders.place(TENANT, world.standing(first)["sha256"]).unlink()
    world.sandbox.files.put("a.txt", b"Minutes of the meeting. " * 20)
    for _ in range(2):
        world.documents.reconcile(Principal.system())
        world.finish()

    assert (search(world), search(world, "minutes")) == ([second.key], [first.key])
    assert (world.state(first), world.state(second)) == ("INDEXED", "INDEXED")
    assert world.documents.reconcile(Principal.system()).agrees
