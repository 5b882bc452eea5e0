"""A small document: one request, one transaction, and the same promises as step by step."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path

import pytest

from haulwright import Permanent
from haulwright.apps.documents import small
from haulwright.apps.documents.settings import DocumentSettings
from haulwright.apps.documents.small import SmallFiles
from haulwright.operations.principal import Principal
from haulwright.sources.download.disk import holds
from tests.apps.documents.scenes import TENANT, World

STEPS = ["DEDUPE", "FINALIZE", "HEAD", "INDEX", "STREAM"]
MEBIBYTE = 1024 * 1024
MOMENTS = [({"after": "claim"}, 1), ({"before": "INDEX"}, 2), ({"before": "settle"}, 2), ({"after": "INDEX"}, 1)]


def operations(world):
    return [op for (op,) in world.rows("select op_type from artifact_ops where state = 'done' order by op_type")]


@pytest.mark.proves("EF-05", "SM-10")
def test_it_is_asked_for_once_and_all_its_steps_are_on_record(world):
    planned = world.add("report.txt")

    world.bench.drain()

    sha256 = world.sandbox.files.sha256("report.txt")
    assert (world.state(planned), world.job(planned).stage, operations(world)) == ("INDEXED", "INDEXED", STEPS)
    assert holds(world.documents.folders.place(TENANT, sha256), sha256)
    assert (world.asked("report.txt", "HEAD"), world.asked("report.txt"), world.staged()) == (0, 1, [])


@pytest.mark.parametrize("small_bytes", [MEBIBYTE, 0], ids=["at once", "step by step"])
def test_what_its_steps_came_to_is_the_same_as_step_by_step(bench, sandbox, tmp_path, small_bytes):
    world = World.open(bench, sandbox, tmp_path / "content", small_bytes=small_bytes)
    planned = world.add("report.bin?size=5000")
    world.bench.drain()

    sha256 = sandbox.files.sha256("report.bin", 5_000)
    rows = world.rows("select op_type, result_json from artifact_ops where op_type <> 'INDEX'")
    assert {op: json.loads(result) for op, result in rows} == {
        "HEAD": {"code": "OK", "bytes": 5_000, "content_type": "application/octet-stream", "resumable": True},
        "STREAM": {"code": "OK", "sha256": sha256, "bytes": 5_000, "resumed_from": 0},
        "FINALIZE": {"code": "OK", "sha256": sha256},
        "DEDUPE": {"sha256": sha256, "kind": "application/octet-stream", "first": planned.key},
    }


def test_its_bytes_are_on_disk_before_it_has_its_name_and_its_name_before_it_is_on_record(world, monkeypatch):
    acts = []
    fsync, replace, write = os.fsync, Path.replace, SmallFiles._write
    monkeypatch.setattr(os, "fsync", lambda handle: (acts.append(os.fstat(handle).st_ino), fsync(handle)))
    monkeypatch.setattr(Path, "replace", lambda path, to: (acts.append(to.name), replace(path, to)))
    monkeypatch.setattr(SmallFiles, "_write", lambda *args: (acts.append("on record"), write(*args))[1])

    world.add("report.txt")
    world.bench.drain()

    (place,) = world.stored()
    awaited = [place.stat().st_ino, place.name, place.parent.stat().st_ino, "on record"]
    assert [act for act in acts[acts.index(awaited[0]) :] if act in awaited] == awaited


@pytest.mark.proves("GU-02", "TS-06")
@pytest.mark.parametrize(("moment", "requests"), MOMENTS, ids=str)
def test_a_run_that_dies_at_any_moment_leaves_nothing_half_done(world, moment, requests):
    planned = world.add("report.txt")
    with world.bench.crash("documents.fetch", **moment):
        world.bench.drain()
    assert world.state(planned) in {"LEASED", "INDEXED"}

    world.bench.advance("3 min")
    world.finish()

    assert (world.state(planned), len(world.stored()), world.staged()) == ("INDEXED", 1, [])
    assert (world.asked("report.txt"), operations(world)) == (requests, STEPS)
    assert world.documents.reconcile(Principal.system(), deep=True).agrees


def test_one_whose_content_is_there_already_has_each_of_its_steps_on_record_once(world):
    for name in ("a.bin", "b.bin"):
        world.sandbox.files.put(name, b"the very same" * 100)
        world.add(name)

    world.bench.drain()

    assert operations(world) == [
        "DEDUPE",
        "DEDUPE",
        "FINALIZE",
        "FINALIZE",
        "HEAD",
        "HEAD",
        "INDEX",
        "STREAM",
        "STREAM",
    ]


@pytest.mark.parametrize("later_small_bytes", [MEBIBYTE, 0], ids=["at once", "step by step"])
@pytest.mark.parametrize("moment", [{"before": "settle"}, {"after": "DEDUPE"}, {"before": "DEDUPE"}], ids=str)
def test_a_duplicate_whose_run_dies_ends_as_one(world, moment, later_small_bytes):
    body = b"the very same" * 100
    for name in ("a.bin", "b.bin"):
        world.sandbox.files.put(name, body)
    first = world.add("a.bin")
    world.bench.drain()
    copy = world.add("b.bin")
    at = {when: name if name == "settle" else f"{name}:{sha256(body).hexdigest()}" for when, name in moment.items()}
    with world.bench.crash("documents.fetch", **at):
        world.bench.drain()

    world = World.open(world.bench, world.sandbox, world.folder, small_bytes=later_small_bytes)
    world.bench.advance("3 min")
    world.bench.drain()

    job = world.job(copy)
    assert (job.state, job.reason, job.attempts) == ("skipped", f"duplicate of {first.key}", 2)
    assert (world.state(copy), len(world.stored()), world.staged()) == ("SKIPPED_DUPLICATE", 1, [])
    assert operations(world).count("DEDUPE") == 2
    assert world.documents.reconcile(Principal.system(), deep=True).agrees


def test_what_arrived_of_one_that_breaks_off_is_kept_and_gone_on_with(world):
    world.sandbox.files.script(name="cut.bin", times=1, truncate_at=300_000)
    planned = world.add("cut.bin?size=400000")

    world.bench.drain()
    assert (world.job(planned).attempts, len(world.staged())) == (1, 2)
    world.finish()

    assert world.standing(planned)["sha256"] == world.sandbox.files.sha256("cut.bin", 400_000)
    assert (world.sandbox.files.bytes_sent("cut.bin") < 420_000, world.staged()) == (True, [])


def test_a_larger_one_is_brought_step_by_step_by_the_answer_to_the_same_request(world):
    planned = world.add(f"large.bin?size={MEBIBYTE + 1}")
    with world.bench.crash("documents.fetch", before="FINALIZE"):
        world.bench.drain()
    assert world.state(planned) == "STREAMING"

    world.bench.advance("3 min")
    world.finish()

    assert (world.state(planned), operations(world)) == ("INDEXED", STEPS)
    assert (world.asked("large.bin"), world.asked("large.bin", "HEAD")) == (1, 0)


def test_a_larger_one_that_is_requeued_goes_on_from_what_is_on_record(world):
    planned = world.add(f"large.bin?size={MEBIBYTE + 1}")
    world.bench.fail_effect("FINALIZE", Permanent("no"))
    world.bench.drain()
    assert world.state(planned) == "FAILED"

    world.app.operations().dead_letters.requeue(planned.job_id)
    world.finish()

    assert (world.state(planned), operations(world)) == ("INDEXED", STEPS)
    assert world.asked("large.bin") == 1


def test_a_duplicate_whose_first_is_gone_in_the_meantime_takes_its_place(world, monkeypatch):
    planned = world.add("report.txt")
    with monkeypatch.context() as patch:
        patch.setattr(SmallFiles, "_write", lambda *_: _raise(small._StoredBefore))
        world.bench.drain()
    job = world.job(planned)
    assert (job.state, job.attempts) == ("queued", 0)

    world.finish()

    assert (world.state(planned), len(world.stored()), world.staged()) == ("INDEXED", 1, [])


def _raise(error):
    raise error


def test_one_whose_length_is_not_announced_is_compared_with_what_head_says(world):
    world.sandbox.files.script(name="report.txt", announced=False, ends_at=50)
    planned = world.add("report.txt")

    world.finish()

    assert (world.state(planned), world.job(planned).error_code) == ("FAILED", "truncated")
    assert (world.stored(), world.staged()) == ([], [])


@pytest.mark.parametrize("limit", [5000, 4999])
def test_how_small_is_small_is_a_setting(bench, sandbox, tmp_path, monkeypatch, limit):
    """Where it is small, none of its steps is on record before the last; else those that it has taken."""
    assert DocumentSettings.load().small_bytes == MEBIBYTE
    monkeypatch.setenv("HAULWRIGHT_DOCUMENTS_SMALL_BYTES", str(limit))
    world = World.open(bench, sandbox, tmp_path / "content")
    world.add("report.bin?size=5000")

    with world.bench.crash("documents.fetch", before="INDEX"):
        world.bench.drain()

    assert operations(world) == ([] if limit == 5000 else [step for step in STEPS if step != "INDEX"])
