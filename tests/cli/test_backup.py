"""A backup of the database, made while others work, and put back."""

from __future__ import annotations

import os
import shlex
import shutil
import sqlite3
import subprocess
import threading
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from haulwright.errors import Conflict
from haulwright.stores.backup import whole_file
from haulwright.stores.postgres.backup import libpq_environment
from haulwright.stores.sqlite import backup as sqlite_backup
from haulwright.stores.store import Store
from tests.stores.scenes import count, new_job


@pytest.fixture
def target(tmp_path):
    return tmp_path / "copies" / "backup"


@pytest.fixture(autouse=True)
def folder(target):
    target.parent.mkdir()


def names_in(folder):
    return [path.name for path in folder.iterdir()]


def write_and(target, act):
    """Write a file by its side, do something, and give it its name."""
    with whole_file(target, force=False) as part:
        part.write_text("ours")
        act()


def put_back(answer, database_url):
    """Type the lines that the command said, as they stand; a password comes from where people keep it."""
    environment = libpq_environment(database_url) if database_url.startswith("postgres") else None
    for line in answer.json["restore"]:
        subprocess.run(shlex.split(line), env=environment, check=True)


def test_a_backup_has_what_was_there_and_can_be_put_back_by_the_line_it_says(haulwright, store, database_url, target):
    store.jobs.enqueue([new_job() for _ in range(30)])
    answer = haulwright("db", "backup", str(target), "--json")
    store.jobs.enqueue([new_job() for _ in range(5)])
    store.database.close()

    put_back(answer, database_url)

    with closing(Store.open(database_url)) as restored:
        assert count(restored, "haulwright_jobs") == 30
    assert haulwright("db", "verify").code == 0
    assert answer.json["contents"]["migrations"] > 0
    assert (target.stat().st_mode & 0o777, answer.json["size_bytes"]) == (0o600, target.stat().st_size)
    assert names_in(target.parent) == [target.name]


def test_a_file_that_is_there_is_left_alone_unless_that_is_forced(haulwright, target):
    target.write_text("dear diary")

    refused = haulwright("db", "backup", str(target))
    assert (refused.code, target.read_text()) == (4, "dear diary")
    assert "--force" in refused.err

    assert haulwright("db", "backup", str(target), "--force").code == 0
    assert target.stat().st_size > 100


def test_a_place_that_cannot_hold_a_backup_is_refused(haulwright, target, tmp_path):
    assert haulwright("db", "backup", str(target.parent)).code == 2
    assert haulwright("db", "backup", str(tmp_path / "nowhere" / "copy")).code == 2


def test_without_a_database_there_is_nothing_to_back_up(on_file, target, tmp_path):
    answer = on_file("db", "backup", str(target))

    assert (answer.code, target.exists(), (tmp_path / "haulwright.db").exists()) == (3, False, False)


def test_a_backup_is_not_written_over_the_database_itself(on_file, tmp_path):
    on_file("db", "migrate")
    for name in ("haulwright.db", "haulwright.db-wal"):
        assert on_file("db", "backup", str(tmp_path / name), "--force").code == 2

    assert on_file("db", "verify").code == 0


def test_a_backup_that_breaks_off_leaves_nothing(target):
    with pytest.raises(ZeroDivisionError):
        write_and(target, lambda: 1 / 0)

    assert names_in(target.parent) == []


def test_a_file_that_somebody_made_meanwhile_is_not_written_over(target):
    with pytest.raises(Conflict):
        write_and(target, lambda: target.write_text("theirs"))

    assert (target.read_text(), names_in(target.parent)) == ("theirs", [target.name])


def test_writers_go_on_while_a_file_is_copied_and_the_copy_is_one_moment(on_file, sqlite_url, target, monkeypatch):
    """With others' commits between its steps a copy would begin anew each time, and never end."""
    monkeypatch.setattr(sqlite_backup, "STEP_PAGES", 1)
    on_file("db", "migrate")
    with closing(Store.open(sqlite_url)) as store:
        store.jobs.enqueue([new_job() for _ in range(300)])
        written, stop = [300], threading.Event()

        def write():
            while not stop.is_set():
                store.jobs.enqueue([new_job(), new_job()])
                written.append(2)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            answer = on_file("db", "backup", str(target), "--json")
        finally:
            stop.set()
            writer.join()

    assert answer.code == 0
    assert len(written) > 10
    copied = answer.json["contents"]["active_jobs"]
    assert 300 <= copied < sum(written)
    assert copied % 2 == 0
    with closing(sqlite3.connect(target)) as copy:
        assert copy.execute("pragma integrity_check").fetchall() == [("ok",)]


def test_a_damaged_copy_gets_no_name(on_file, tmp_path, target):
    on_file("db", "migrate")
    with closing(sqlite3.connect(tmp_path / "haulwright.db")) as connection:
        ((page,),) = connection.execute("select rootpage from sqlite_schema where name = 'haulwright_sources'")
    with (tmp_path / "haulwright.db").open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xa5" * 4096)

    answer = on_file("db", "backup", str(target))

    assert (answer.code, names_in(target.parent)) == (74, [])


@pytest.mark.postgres
def test_without_pg_dump_the_line_to_type_is_said(bare, postgres_url, target, monkeypatch):
    bare("db", "migrate", "--database", postgres_url)
    monkeypatch.setenv("PATH", str(target.parent))

    answer = bare("db", "backup", str(target), "--database", postgres_url)

    assert (answer.code, target.exists()) == (2, False)
    assert "apt install postgresql-client-" in answer.err


@pytest.mark.postgres
def test_a_pg_dump_that_is_too_old_is_told(bare, postgres_url, target, tmp_path, monkeypatch):
    bare("db", "migrate", "--database", postgres_url)
    _program(tmp_path / "pg_dump", "echo 'pg_dump (PostgreSQL) 9.6.1'")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    answer = bare("db", "backup", str(target), "--database", postgres_url)

    assert (answer.code, "is of version 9" in answer.err) == (2, True)


@pytest.mark.postgres
def test_a_password_is_never_in_the_list_of_processes(bare, postgres_url, target, tmp_path, monkeypatch):
    bare("db", "migrate", "--database", postgres_url)
    parts = urlsplit(postgres_url)
    host = parts.netloc.rpartition("@")[2]
    user = parts.netloc.rpartition("@")[0].partition(":")[0]
    url = parts._replace(netloc=f"{user}:hush-hush@{host}").geturl()
    real = shutil.which("pg_dump")
    seen = tmp_path / "seen"
    _program(tmp_path / "pg_dump", f'echo "$@" >> {seen}; echo "secret=$PGPASSWORD" >> {seen}; exec {real} "$@"')
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    answer = bare("db", "backup", str(target), "--database", url)

    words = Path(seen).read_text().splitlines()
    assert answer.code == 0
    assert not any("hush-hush" in line for line in words if not line.startswith("secret="))
    assert "secret=hush-hush" in words
    assert "hush-hush" not in answer.out + answer.err


def _program(path, line):
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)
