"""A way in for a team that has a manifest.sqlite3 in use: it is only read, and no file of it is fetched again."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from haulwright.apps.documents import live_manifest
from haulwright.apps.documents.identity import host_of
from haulwright.errors import NotFound, Refused
from haulwright.operations.principal import Principal
from tests.apps.documents.scenes import TENANT, World
from tests.apps.documents.team import TEXT, Team

WHO = Principal.of_tenant(TENANT)


@pytest.fixture
def team(tmp_path):
    return Team(tmp_path / "theirs")


def states(world):
    rows = world.rows(f"select artifact_id, state from haulwright_v_artifact_jobs where tenant = '{TENANT}'")  # noqa: S608
    return dict(rows)


def test_what_is_finished_is_adopted_and_nobody_is_asked_for_it(world, team):
    team.job("done", "INDEXED", world.url("report.txt"), TEXT)

    result = world.documents.move_in(WHO, team.path, files=team.files)
    world.finish()

    assert (result.counts["planned"], result.counts["adopted"]) == (1, 1)
    assert states(world) == {"done": "INDEXED"}
    assert world.asked("report.txt", "HEAD") == world.asked("report.txt") == 0
    (hit,) = world.documents.search_hits(WHO, "ardmouth cranes")
    assert hit.path.read_bytes() == TEXT
    assert (team.files / "done.bin").read_bytes() == TEXT


def test_what_is_under_way_there_is_planned_here(world, team):
    for number, state in enumerate(("PLANNED", "LEASED", "HEAD_DONE", "RESUME_OK", "STREAMING")):
        team.job(state.lower(), state, world.url(f"report.txt?part={number}"))

    result = world.documents.move_in(WHO, team.path)

    assert result.counts["under_way"] == result.counts["planned"] == 5
    assert set(states(world).values()) == {"PLANNED"}


@pytest.mark.parametrize("harm", ["gone", "damaged", "unknown"])
def test_a_finished_one_whose_file_is_not_what_its_hash_says_is_fetched_anew(world, team, harm):
    team.job("done", "FINALIZED", world.url("report.txt"), None if harm == "unknown" else TEXT)
    if harm == "gone":
        (team.files / "done.bin").unlink()
    elif harm == "damaged":
        (team.files / "done.bin").write_bytes(TEXT[:-1])

    dry = world.documents.move_in(WHO, team.path, files=team.files, dry_run=True)
    result = world.documents.move_in(WHO, team.path, files=team.files)
    world.finish()

    assert dry.counts == result.counts
    assert (result.counts["without_file"], result.counts["adopted"]) == (1, 0)
    assert states(world) == {"done": "INDEXED"}
    assert world.asked("report.txt") == 1


def test_a_file_that_changes_while_it_is_copied_is_not_adopted(world, team, monkeypatch):
    team.job("done", "INDEXED", world.url("report.txt"), TEXT)
    monkeypatch.setattr(live_manifest, "holds", lambda path, _: bool(path.write_bytes(b"something else")))

    result = world.documents.move_in(WHO, team.path, files=team.files)

    assert result.counts["without_file"] == 1
    assert world.staged() == []


def test_taken_over_again_nothing_is_planned_twice_and_what_is_finished_meanwhile_is_adopted(world, team):
    team.job("one", "INDEXED", world.url("report.txt"), TEXT)
    team.job("two", "STREAMING", world.url("report.txt?2"))
    world.documents.move_in(WHO, team.path, files=team.files)
    with closing(team.connect()) as connection:
        connection.execute("delete from artifact_jobs where job_id = 'two'")
    team.job("two", "INDEXED", world.url("report.txt?2"), TEXT + b"More.")

    again = world.documents.move_in(WHO, team.path, files=team.files)
    world.finish()

    assert (again.counts["known"], again.counts["planned"], again.counts["adopted"]) == (2, 0, 2)
    assert set(states(world)) == {"one", "two"}
    assert world.asked("report.txt") == 0


def test_two_that_have_the_same_content_are_one_file(world, team):
    team.job("one", "INDEXED", world.url("report.txt"), TEXT)
    team.job("two", "SKIPPED_DUPLICATE", world.url("report.txt?2"), TEXT)

    world.documents.move_in(WHO, team.path, files=team.files)
    world.finish()

    assert sorted(states(world).values()) == ["INDEXED", "SKIPPED_DUPLICATE"]
    assert len(world.stored()) == 1
    assert world.asked("report.txt") == 0


def test_the_file_of_the_team_is_only_read_also_while_they_write(world, team):
    team.job("one", "INDEXED", world.url("report.txt"), TEXT)
    with closing(team.connect()) as connection:
        before = connection.execute("select * from artifact_jobs").fetchall()
        connection.execute("begin immediate")
        connection.execute("update artifact_jobs set state = 'FAILED'")
        result = world.documents.move_in(WHO, team.path, files=team.files)
        connection.execute("rollback")
        assert connection.execute("select * from artifact_jobs").fetchall() == before

    assert result.counts["adopted"] == 1


def test_a_dry_run_says_the_same_and_writes_nothing(world, team):
    team.job("one", "INDEXED", world.url("report.txt"), TEXT)
    team.job("two", "LEASED", world.url("report.txt?2"))
    team.job("three", "FAILED", world.url("report.txt?3"))
    team.job("four", "PLANNED", "ftp://a.example/x")

    dry = world.documents.move_in(WHO, team.path, files=team.files, dry_run=True)
    assert (states(world), world.staged()) == ({}, [])
    wet = world.documents.move_in(WHO, team.path, files=team.files)
    after = world.documents.move_in(WHO, team.path, files=team.files, dry_run=True)

    assert dry.counts == wet.counts
    assert (dry.counts["planned"], dry.counts["refused"], dry.counts["failed"]) == (2, 1, 1)
    assert (after.counts["planned"], after.counts["known"]) == (0, 2)


def test_politeness_is_told_of_those_that_are_fetched_also_by_a_dry_run(world, team):
    team.job("done", "INDEXED", world.url("report.txt"), TEXT)
    for number in range(3):
        team.job(f"new-{number}", "PLANNED", world.url(f"report.txt?{number}"))

    dry = world.documents.move_in(WHO, team.path, files=team.files, dry_run=True)
    wet = world.documents.move_in(WHO, team.path, files=team.files)
    again = world.documents.move_in(WHO, team.path, files=team.files, dry_run=True)

    assert dry.politeness == wet.politeness
    assert (wet.politeness.host, wet.politeness.documents) == (host_of(world.url("report.txt")), 3)
    assert again.politeness is None


def test_what_failed_there_is_left_out_unless_it_is_asked_for(world, team):
    team.job("bad", "FAILED", world.url("report.txt"))

    assert world.documents.move_in(WHO, team.path).counts["failed"] == 1
    assert states(world) == {}
    assert world.documents.move_in(WHO, team.path, with_failed=True).counts["planned"] == 1


def test_a_reconciler_leaves_what_was_brought_for_a_waiting_job(bench, sandbox, tmp_path, team):
    hasty = World.open(bench, sandbox, tmp_path / "content", stale_part_seconds=0.0)
    team.job("done", "INDEXED", hasty.url("report.txt"), TEXT)
    hasty.documents.move_in(WHO, team.path, files=team.files)

    report = hasty.documents.reconcile(Principal.admin("root"))
    hasty.finish()

    assert report.counts["orphan_staged"] == 0
    assert hasty.asked("report.txt") == 0


@pytest.mark.parametrize("content", [b"no database", None])
def test_what_is_no_manifest_is_refused_with_what_to_do(world, tmp_path, content):
    path = tmp_path / "other.db"
    if content is None:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("create table artifact_jobs (id integer)")
    else:
        path.write_bytes(content)

    with pytest.raises(Refused, match=r"manifest of the document|cannot be read"):
        world.documents.move_in(WHO, path)
    with pytest.raises(NotFound):
        world.documents.move_in(WHO, tmp_path / "nothing.db")
