"""A manifest that somebody else writes: whatever is in it, and whoever holds it, nothing of ours is read or lost."""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import closing

import pytest

from haulwright.apps.documents import live_manifest
from haulwright.errors import DatabaseUnavailable
from haulwright.operations.principal import Principal
from tests.apps.documents.scenes import TENANT
from tests.apps.documents.team import TEXT, Team

WHO = Principal.of_tenant(TENANT)


@pytest.fixture
def team(tmp_path):
    return Team(tmp_path / "theirs")


@pytest.fixture
def elsewhere(team):
    """A file of somebody else, beside the folder of the files, whose content the manifest knows."""
    path = team.files.parent / "secret.bin"
    path.write_bytes(TEXT)
    return path


def take_over(world, team, **options):
    return world.documents.move_in(WHO, team.path, files=team.files, **options)


@pytest.mark.parametrize("way", ["relative", "absolute", "link", "linked folder", "null", "long", "loop"])
def test_no_path_of_a_manifest_leads_out_of_the_folder_of_its_files(world, team, elsewhere, way):
    (team.files / "link.bin").symlink_to(elsewhere)
    (team.files / "folder").symlink_to(elsewhere.parent)
    (team.files / "loop").symlink_to("loop")
    paths = {
        "relative": f"../{elsewhere.name}",
        "absolute": str(elsewhere),
        "link": "link.bin",
        "linked folder": f"folder/{elsewhere.name}",
        "null": "a\0b",
        "long": "a" * 300,
        "loop": "loop/a",
    }
    team.job("done", "INDEXED", world.url("report.txt"), TEXT, path=paths[way], is_there=False)

    dry, wet = take_over(world, team, dry_run=True), take_over(world, team)

    assert dry.counts == wet.counts
    assert (wet.counts["without_file"], wet.counts["planned"], world.staged()) == (1, 1, [])


def test_a_recorded_path_that_leads_into_the_folder_is_taken_however_it_is_written(world, team):
    team.job("done", "INDEXED", world.url("report.txt"), TEXT, path=str(team.files / "x" / ".." / "done.bin"))
    link = team.files.parent / "also"
    link.symlink_to(team.files)

    assert world.documents.move_in(WHO, team.path, files=link, dry_run=True).counts["adopted"] == 1
    assert take_over(world, team).counts["adopted"] == 1


def test_without_a_folder_no_file_of_a_manifest_is_looked_for(world, team, elsewhere):
    team.job("done", "INDEXED", world.url("report.txt"), TEXT, path=str(elsewhere), is_there=False)

    assert world.documents.move_in(WHO, team.path).counts["without_file"] == 1


def test_what_is_no_plain_file_is_not_opened(world, team, monkeypatch):
    """Whoever opens a pipe waits for somebody to write to it."""
    opened = []
    monkeypatch.setattr(live_manifest, "holds", lambda path, _: opened.append(path))
    team.job("done", "INDEXED", world.url("report.txt"), TEXT, is_there=False)
    os.mkfifo(team.files / "done.bin")

    assert take_over(world, team).counts["without_file"] == 1
    assert opened == []


@pytest.mark.parametrize("when", ["compared", "copied"])
def test_a_file_that_cannot_be_read_is_told_and_neither_adopted_nor_fetched_anew(world, team, monkeypatch, when):
    """Whoever owns it may still let it be read; the others go on."""
    team.job("closed", "INDEXED", world.url("report.txt"), TEXT)
    team.job("open", "INDEXED", world.url("report.txt?2"), TEXT + b"More.")
    holds = live_manifest.holds

    def close_one(path, sha256):
        if path.name == "closed.bin":
            if when == "compared":
                raise PermissionError(errno.EACCES, "Permission denied")
            path.unlink()
            path.mkdir()
            return True
        return holds(path, sha256)

    monkeypatch.setattr(live_manifest, "holds", close_one)

    result = take_over(world, team)

    (refusal,) = result.refused
    assert (result.counts["adopted"], result.counts["planned"], len(world.staged())) == (1, 1, 1)
    assert "closed.bin' cannot be read: " in refusal.why


def test_a_manifest_that_somebody_holds_for_writing_alone_is_asked_for_later(world, team, monkeypatch):
    """Without a write-ahead log, readers wait for whoever commits."""
    monkeypatch.setattr(live_manifest, "PATIENCE_SECONDS", 0.0)
    team.job("done", "INDEXED", world.url("report.txt"), TEXT)
    with closing(team.connect()) as connection:
        connection.execute("pragma journal_mode = delete")
        connection.execute("begin exclusive")
        with pytest.raises(DatabaseUnavailable, match="in use") as refusal:
            take_over(world, team)

    assert "again" in refusal.value.hint
    assert take_over(world, team).counts["adopted"] == 1


def test_a_manifest_that_is_held_in_the_middle_says_the_same_and_goes_on_later(world, team, monkeypatch):
    monkeypatch.setattr(live_manifest, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(live_manifest, "PAGE", 1)
    for number in range(3):
        team.job(f"job-{number}", "PLANNED", world.url(f"report.txt?{number}"))
    with closing(team.connect()) as connection:
        connection.execute("pragma journal_mode = delete")
        jobs = live_manifest.read_live_jobs(team.path)
        next(jobs)
        connection.execute("begin exclusive")
        with pytest.raises(DatabaseUnavailable):
            next(jobs)

    assert take_over(world, team).counts["planned"] == 3


def test_tables_without_rowid_are_read_like_others(world, team, monkeypatch):
    monkeypatch.setattr(live_manifest, "PAGE", 2)
    team.remake("without rowid")
    for number in range(5):
        team.job(f"job-{number}", "PLANNED", world.url(f"report.txt?{number}"))
    team.job("wrong", "PLANNED", "no address")

    result = take_over(world, team)

    assert (result.counts["planned"], [line.number for line in result.refused]) == (5, [6])


def test_bytes_that_are_no_text_harm_their_own_row_alone(world, team):
    team.job("good", "PLANNED", world.url("report.txt"))
    with closing(sqlite3.connect(team.path)) as connection, connection:
        connection.execute(
            "insert into artifact_jobs select 'bad', work_id, cast(x'ff' as text), canonical_url, state, null, null,"
            " 0, 0, 'bad' from artifact_jobs"
        )

    assert take_over(world, team).counts["planned"] == 2
