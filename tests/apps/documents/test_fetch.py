"""From an address to a file that is found: each step once, in order, and as far as it came after a crash."""

from __future__ import annotations

import pytest

from haulwright import State
from haulwright.apps.documents.folders import Folders
from haulwright.sources.download.disk import holds
from tests.apps.documents.scenes import TENANT

STEPS = ("HEAD", "STREAM", "FINALIZE", "INDEX")
MOMENTS = [*({when: step} for step in STEPS for when in ("before", "after")), {"after": "claim"}, {"before": "settle"}]


@pytest.mark.proves("EF-05", "EF-07", "SM-10", "SM-01", "EF-06")
def test_a_document_goes_from_its_address_to_its_place_step_by_step(steps):
    world = steps
    planned = world.add("report.txt")
    assert world.state(planned) == "PLANNED"

    world.bench.drain()

    sha256 = world.sandbox.files.sha256("report.txt")
    assert (world.state(planned), world.job(planned).stage) == ("INDEXED", "INDEXED")
    assert holds(world.documents.folders.place(TENANT, sha256), sha256)
    assert world.effects(planned) == dict.fromkeys(("HEAD", "STREAM", "FINALIZE", "DEDUPE", "INDEX"), "done")
    assert (world.staged(), world.asked("report.txt", "HEAD"), world.asked("report.txt")) == ([], 1, 1)


@pytest.mark.proves("EF-05", "SM-10", "GU-02", "TS-06")
@pytest.mark.parametrize("moment", MOMENTS, ids=str)
def test_a_run_that_dies_at_any_moment_is_gone_on_with(steps, moment):
    world = steps
    planned = world.add("report.txt")
    with world.bench.crash("documents.fetch", **moment):
        world.bench.drain()

    world.bench.advance("3 min")
    world.finish()

    sha256 = world.sandbox.files.sha256("report.txt")
    assert world.state(planned) == "INDEXED"
    assert [path.name for path in world.stored()] == [sha256]
    assert world.staged() == []
    assert world.asked("report.txt") == (2 if moment == {"after": "STREAM"} else 1)


def test_a_stage_is_never_ahead_of_what_was_done(steps):
    world = steps
    planned = world.add("report.txt")
    with world.bench.crash("documents.fetch", before="FINALIZE"):
        world.bench.drain()

    assert world.state(planned) == "STREAMING"
    assert world.stored() == []


@pytest.mark.proves("SM-08", "EF-05")
def test_the_same_bytes_from_elsewhere_are_stored_once_and_point_to_the_first(world):
    world.sandbox.files.put("a.bin", b"the very same" * 100)
    world.sandbox.files.put("b.bin", b"the very same" * 100)
    first, second = world.add("a.bin"), world.add("b.bin")

    world.bench.drain()

    standing = world.standing(second)
    assert world.state(first) == "INDEXED"
    assert (standing["state"], standing["duplicate_of"]) == ("SKIPPED_DUPLICATE", first.key)
    assert (str(world.job(second).state), world.job(second).reason) == ("skipped", f"duplicate of {first.key}")
    assert len(world.stored()) == 1
    assert world.staged() == []


def test_what_is_known_by_its_hash_is_not_asked_for(world):
    first = world.add("a.bin")
    world.bench.drain()
    sha256 = world.sandbox.files.sha256("a.bin")

    second = world.add("copy.bin", sha256=sha256)
    world.bench.drain()

    assert (world.state(second), world.standing(second)["duplicate_of"]) == ("SKIPPED_DUPLICATE", first.key)
    assert (world.asked("copy.bin"), world.asked("copy.bin", "HEAD")) == (0, 0)


@pytest.mark.proves("SM-06")
def test_what_is_known_by_its_hash_is_asked_for_where_its_file_is_gone(world, stored):
    _, path = stored
    path.unlink()

    world.add("report.txt?copy", sha256=path.name)
    world.finish()

    assert world.stored() == [path]
    assert world.asked("report.txt") == 2


def test_other_bytes_with_the_same_text_are_kept_and_found_once(world):
    text = "Tide tables of the northern harbours. " * 20
    world.sandbox.files.put("a.txt", text.encode())
    world.sandbox.files.put("b.txt", text.replace(". ", ".\r\n").encode())
    first = world.add("a.txt")
    world.bench.drain()
    second = world.add("b.txt")
    world.bench.drain()

    assert (world.state(second), world.standing(second)["duplicate_of"]) == ("DEDUPED", first.key)
    assert len(world.stored()) == 2
    assert [file.key for file in world.documents.artifacts.search(TENANT, "tide")] == [first.key]


def test_texts_that_only_begin_alike_are_not_the_same(world):
    text = b"Tide tables of the northern harbours. " * 6_000
    world.sandbox.files.put("a.txt", text)
    world.sandbox.files.put("b.txt", text + b"One more line.")
    first = world.add("a.txt")
    world.bench.drain()
    second = world.add("b.txt")
    world.bench.drain()

    assert (world.state(first), world.state(second)) == ("INDEXED", "INDEXED")
    assert len(world.documents.artifacts.search(TENANT, "tide")) == 2


def test_tenants_do_not_share_files(world):
    ours, theirs = world.add("report.txt"), world.add("report.txt", "globex")

    world.bench.drain()

    assert (world.state(ours), world.state(theirs, "globex")) == ("INDEXED", "INDEXED")
    assert len(world.stored()) == 2
    assert len(world.documents.artifacts.search("globex", "report")) == 1
    assert world.documents.artifacts.search("initech", "report") == []


@pytest.mark.parametrize("head", ["refused", "lying"])
def test_a_head_that_is_refused_or_lies_harms_nobody(world, head):
    world.sandbox.files.script(head=head)
    planned = world.add("report.txt")

    world.bench.drain()

    assert world.state(planned) == "INDEXED"


def test_a_dead_document_goes_on_where_it_stood_when_it_is_requeued(world):
    world.sandbox.faults.add("status", code=404, path="/files/late.pdf", times=None)
    planned = world.add("late.pdf")
    world.bench.drain()
    assert world.state(planned) == "FAILED"

    world.sandbox.faults.clear()
    world.app.operations().dead_letters.requeue(planned.job_id)
    assert world.state(planned) == "PLANNED"
    world.bench.drain()

    assert world.state(planned) == "INDEXED"


def test_a_download_says_how_far_it_is(steps, monkeypatch):
    world = steps
    monkeypatch.setattr("haulwright.apps.documents.fetching.LOOK_SECONDS", 0.01)
    world.sandbox.files.script(pause_seconds=0.05, chunk_bytes=20_000)
    planned = world.add("slow.bin")

    world.bench.drain()

    progress = world.job(planned).progress
    assert progress is not None
    assert "slow.bin" in progress


def test_a_file_that_is_taken_away_under_a_run_is_fetched_again_without_burning_an_attempt(steps, monkeypatch):
    world = steps
    planned = world.add("report.txt")
    finalize, paths = world.documents.folders.finalize, []

    def robbed(tenant, sha256):
        if not paths:
            paths.append(world.documents.folders.staged(tenant, sha256))
            paths[0].unlink()
        finalize(tenant, sha256)

    monkeypatch.setattr(world.documents.folders, "finalize", robbed)
    world.bench.drain()
    assert (world.job(planned).waiting_on, world.job(planned).attempts) == ("staging", 0)
    world.finish()

    assert (world.state(planned), world.job(planned).attempts) == ("INDEXED", 1)


def test_the_operations_of_a_document_are_on_record_for_as_long_as_it_is(world):
    planned = world.add("report.txt")
    world.bench.drain()
    before = world.rows("select op_type, state, result_code from artifact_ops order by op_type")

    world.bench.store.jobs.prune(State.SUCCEEDED, 0)

    after = world.rows("select op_type, state, result_code, job_id from artifact_ops order by op_type")
    assert [op for op, *_ in before] == ["DEDUPE", "FINALIZE", "HEAD", "INDEX", "STREAM"]
    assert [row[:3] for row in after] == before
    assert {str(row[3]) for row in after} == {planned.job_id}


def test_a_duplicate_whose_run_dies_while_it_is_filed_leaves_nothing_in_the_staging(steps, monkeypatch):
    for name in ("a.bin", "b.bin"):
        steps.sandbox.files.put(name, b"the very same" * 100)
    steps.add("a.bin")
    steps.finish()
    copy = steps.add("b.bin")
    with monkeypatch.context() as patch, steps.bench.crash("documents.fetch", after="FINALIZE"):
        patch.setattr(Folders, "finalize", lambda *_: None)
        steps.bench.drain()
    assert len(steps.staged()) == 1

    steps.bench.advance("3 min")
    steps.finish()

    assert (steps.state(copy), steps.staged(), len(steps.stored())) == ("SKIPPED_DUPLICATE", [], 1)
