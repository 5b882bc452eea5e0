"""After a crash, a lost disk or a restored backup the database and the folders are brought to agree."""

from __future__ import annotations

from importlib import import_module

import pytest

from haulwright.operations.principal import Principal
from haulwright.sources.download.disk import holds
from tests.apps.documents.scenes import HOUR, TENANT, World, aged


@pytest.fixture
def hasty(bench, sandbox, tmp_path):
    """A world in which everything is stale at once: the time of a move cannot be set back."""
    return World.open(bench, sandbox, tmp_path / "content", stale_part_seconds=0.0, small_bytes=0)


def kinds(report):
    return dict(report.counts)


@pytest.mark.proves("RC-01")
@pytest.mark.usefixtures("stored")
def test_where_everything_agrees_nothing_is_found(world):
    report = world.documents.reconcile(Principal.system())

    assert report.agrees
    assert report.files == 1


@pytest.mark.proves("RC-01", "RC-06")
def test_a_file_that_is_gone_is_fetched_again(world, stored):
    planned, path = stored
    path.unlink()

    report = world.documents.reconcile(Principal.system())
    assert kinds(report) == {"row_without_file": 1}
    assert (world.state(planned), world.documents.artifacts.totals(TENANT)[2]) == ("PLANNED", 1)
    world.finish()

    assert (world.state(planned), holds(path, path.name)) == ("INDEXED", True)
    assert world.documents.reconcile(Principal.system()).agrees


def test_what_nobody_can_bring_back_is_asked_for_once_and_stays_on_record(world, stored):
    planned, path = stored
    path.unlink()
    world.sandbox.faults.add("status", code=410, path="/files/report.txt", times=None)
    world.documents.reconcile(Principal.system())
    world.finish()
    before = world.sandbox.books.count(service="files")

    report = world.documents.reconcile(Principal.system())
    world.finish()

    assert kinds(report) == {"row_without_file": 1}
    assert world.state(planned) == "FAILED"
    assert world.sandbox.books.count(service="files") == before


def test_another_content_in_the_place_of_a_lost_one_is_as_good(world, stored):
    planned, path = stored
    path.unlink()
    world.sandbox.files.change("report.txt")

    world.documents.reconcile(Principal.system())
    world.finish()

    assert world.standing(planned)["sha256"] == world.sandbox.files.sha256("report.txt") != path.name
    assert world.documents.reconcile(Principal.system()).agrees


@pytest.mark.parametrize(("deep", "damage"), [(False, lambda body: body[:-1]), (True, lambda body: body[:-1] + b"?")])
def test_a_damaged_file_is_set_aside_and_fetched_again(world, stored, deep, damage):
    _, path = stored
    path.write_bytes(damage(path.read_bytes()))

    report = world.documents.reconcile(Principal.system(), deep=deep)
    world.finish()

    assert kinds(report) == {"damaged_file": 1}
    assert holds(path, path.name)
    assert [file.name for file in world.staged()] == [path.name]


def test_what_is_set_aside_twice_is_there_twice(world, stored):
    _, path = stored
    for damaged in (b"once", b"and again"):
        path.write_bytes(damaged)
        world.documents.reconcile(Principal.system())
        world.finish()

    assert {file.read_bytes() for file in world.staged()} == {b"once", b"and again"}


@pytest.mark.proves("RC-01")
def test_a_file_that_nothing_is_known_of_is_set_aside_not_deleted(hasty):
    hasty.add("report.txt")
    hasty.bench.drain()
    stray = hasty.documents.folders.place(TENANT, "ab" * 32)
    stray.parent.mkdir(parents=True)
    stray.write_bytes(b"from a restored backup")

    report = hasty.documents.reconcile(Principal.system())

    assert kinds(report) == {"file_without_row": 1}
    assert [file.read_bytes() for file in hasty.staged()] == [b"from a restored backup"]
    assert not stray.exists()


@pytest.mark.usefixtures("stored")
def test_a_file_that_was_filed_a_moment_ago_is_left_alone(world):
    stray = world.documents.folders.place(TENANT, "ab" * 32)
    stray.parent.mkdir(parents=True)
    stray.write_bytes(b"of a run that is about to write it down")

    assert world.documents.reconcile(Principal.system()).agrees
    assert stray.exists()


@pytest.mark.proves("RC-04")
def test_parts_that_nobody_goes_on_with_are_removed_after_an_hour_and_no_others(world):
    world.sandbox.files.script(truncate_at=30_000, times=None)
    gone, waiting, young = world.add("gone.bin"), world.add("waiting.bin"), world.add("young.bin")
    world.bench.drain()
    for planned in (gone, young):
        world.app.operations().jobs.cancel(planned.job_id)
    for path in world.staged():
        if young.job_id not in path.with_suffix(".json").read_text("utf-8"):
            aged(path)

    report = world.documents.reconcile(Principal.system())

    assert kinds(report) == {"orphan_part": 1}
    kept = [path.read_text("utf-8") for path in world.staged() if path.suffix == ".json"]
    assert sorted(planned.job_id in "".join(kept) for planned in (gone, waiting, young)) == [False, True, True]


@pytest.mark.usefixtures("stored")
def test_a_part_of_nobody_is_removed_too(world):
    parts = world.documents.folders.staging(TENANT) / "parts"
    aged_part = parts / "unknown.unknown.1.part"
    aged_part.write_bytes(b"x")
    aged(aged_part, HOUR + 1)
    (parts / "young.unknown.1.part").write_bytes(b"x")

    world.documents.reconcile(Principal.system())

    assert [path.name for path in world.staged()] == ["young.unknown.1.part"]


def test_a_part_that_its_job_takes_away_between_two_looks_ends_no_pass(world, monkeypatch):
    gone = world.documents.folders.staging(TENANT) / "parts" / "gone.gone.1.part"
    world.add("report.txt")
    monkeypatch.setattr(import_module("haulwright.sources.download.orphans"), "_parts", lambda _: [gone])
    monkeypatch.setattr(type(gone), "exists", lambda _: True)  # so it was, a moment ago

    assert world.documents.reconcile(Principal.system()).agrees


def test_a_whole_file_that_no_job_will_file_is_removed_from_the_staging(hasty):
    planned = hasty.add("report.txt")
    with hasty.bench.crash("documents.fetch", before="FINALIZE"):
        hasty.bench.drain()
    assert hasty.documents.reconcile(Principal.system(), dry_run=True).agrees  # its job is under way

    hasty.bench.advance("3 min")
    hasty.bench.store.recovery.reap()
    hasty.app.operations().jobs.cancel(planned.job_id)

    assert kinds(hasty.documents.reconcile(Principal.system())) == {"orphan_staged": 1}
    assert hasty.staged() == []


@pytest.mark.proves("RC-01", "RC-02")
def test_leases_that_ran_out_are_taken_back(world):
    planned = world.add("report.txt")
    with world.bench.crash("documents.fetch", after="claim"):
        world.bench.drain()
    world.bench.advance("3 min")

    report = world.documents.reconcile(Principal.system())

    assert kinds(report) == {"stale_lease": 1}
    assert str(world.job(planned).state) == "queued"


@pytest.mark.proves("RC-02")
def test_a_lease_that_is_renewed_between_two_looks_is_not_taken_back(world, monkeypatch):
    planned = world.add("report.txt")
    with world.bench.crash("documents.fetch", after="claim"):
        world.bench.drain()
    world.bench.advance("3 min")
    renew = "update haulwright_jobs set lease_expires_at = lease_expires_at + 600000000"
    monkeypatch.setattr("haulwright.apps.documents.reconciling.sleep", lambda _: world.change(renew))

    assert world.documents.reconcile(Principal.system()).agrees
    assert str(world.job(planned).state) == "running"


@pytest.mark.proves("RC-03")
def test_an_effect_that_nobody_will_finish_is_shown(steps):
    world = steps
    planned = world.add("report.txt")
    with world.bench.crash("documents.fetch", before="STREAM"):
        world.bench.drain()
    world.bench.advance("10 min")
    world.bench.store.recovery.reap()
    world.app.operations().jobs.cancel(planned.job_id)

    (finding,) = world.documents.reconcile(Principal.system()).findings

    assert (finding.kind, finding.what) == ("abandoned_effect", f"STREAM of job {planned.job_id}")
    assert world.rows("select op_type from artifact_ops where state = 'abandoned'") == [("STREAM",)]


@pytest.mark.proves("RC-06")
@pytest.mark.parametrize(
    ("damage", "kind"),
    [
        ("delete from documents_files", "not_on_record"),
        ("update documents_artifacts set outcome = null, sha256 = null; ", "without_outcome"),
        ("delete from haulwright_keys; update documents_artifacts set outcome = null, sha256 = null;", "without_job"),
    ],
)
def test_a_document_that_no_path_leads_to_is_found_and_fetched_again(hasty, damage, kind):
    planned = hasty.add("report.txt")
    hasty.bench.drain()
    hasty.change("delete from haulwright_stages")
    for statement in filter(str.strip, damage.split(";")):
        hasty.change(statement)

    report = hasty.documents.reconcile(Principal.system())
    hasty.finish()

    assert report.counts[kind] == 1
    assert hasty.state(planned) == "INDEXED"
    assert hasty.documents.reconcile(Principal.system()).agrees


@pytest.mark.proves("RC-06")
def test_what_is_none_of_ours_is_shown_and_left_alone(world, stored):
    _, path = stored
    strangers = [path.with_name("notes.txt"), world.folder / "notes.txt", path.parents[2] / "x" / "y"]
    for stranger in strangers:
        stranger.parent.mkdir(exist_ok=True)
        stranger.write_text("mine")

    report = world.documents.reconcile(Principal.system())

    assert {finding.kind for finding in report.findings} == {"stranger"}
    assert all(str(stranger) in {finding.what for finding in report.findings} for stranger in strangers)
    assert all(stranger.exists() for stranger in strangers)


def test_a_dry_run_tells_everything_and_changes_nothing(world, stored):
    planned, path = stored
    path.unlink()
    part = world.documents.folders.staging(TENANT) / "parts" / "x.x.1.part"
    part.write_bytes(b"x")
    aged(part)
    events = len(world.events("documents.reconciled"))

    report = world.documents.reconcile(Principal.system(), dry_run=True)

    assert kinds(report) == {"row_without_file": 1, "orphan_part": 1}
    assert {finding.done for finding in report.findings} == {""}
    assert (part.exists(), world.state(planned), len(world.active())) == (True, "INDEXED", 0)
    assert len(world.events("documents.reconciled")) == events


def test_the_record_says_that_it_was_done_and_what_was_found(world, stored):
    _, path = stored
    path.unlink()

    world.documents.reconcile(Principal.admin("me"))

    (event, *_) = world.events("documents.reconciled")
    assert (event.actor, event.data) == ("admin:me", {"row_without_file": 1})


def test_where_a_whole_disk_is_missing_nothing_is_fetched_again_until_a_person_says_so(world, stored):
    planned, path = stored
    path.unlink()

    handle = world.documents.reconcile_task.enqueue()
    world.bench.drain()

    assert handle.result(timeout=0) == {"files": 1, "counts": {"row_without_file": 1}}
    assert (world.state(planned), world.active()) == ("INDEXED", [])
    world.documents.reconcile(Principal.system())
    assert len(world.active()) == 1
