"""A SQLite file that is replaced, deleted or written over under a process: nothing is acknowledged into the void."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from haulwright import Haulwright
from haulwright.errors import DatabaseDamaged, DatabaseReplaced
from haulwright.stores.sqlite import file_identity
from haulwright.stores.store import Store
from tests.stores.scenes import count, new_job
from tests.support import rough_hands
from tests.support.rough_hands import HANDS, log_of


@pytest.fixture
def path(tmp_path):
    return tmp_path / "haulwright.db"


@pytest.fixture
def store(sqlite_url, clock):
    with closing(Store.open(sqlite_url, clock=clock)) as store:
        for size in (1, 40):  # those who write a few rows have a connection, and those who write many
            store.jobs.enqueue([new_job() for _ in range(size)])
        yield store


def in_another_process(path, *statements):
    """Open the file elsewhere, run statements there, and close it again."""
    code = (
        "import sqlite3, sys\n"
        "connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=20)\n"
        "for statement in sys.argv[2:]: connection.execute(statement).fetchall()\n"
        "connection.close()"
    )
    subprocess.run(
        [sys.executable, "-c", code, str(path), "select count(*) from haulwright_jobs", *statements], check=True
    )


@pytest.mark.parametrize("hand", HANDS)
@pytest.mark.parametrize("size", [1, 40], ids=["one", "many"])
def test_an_enqueue_into_a_file_that_is_not_there_any_more_is_refused(store, path, hand, size):
    do, words = HANDS[hand]
    do(path)

    for _ in range(2):
        with pytest.raises(DatabaseReplaced) as refusal:
            store.jobs.enqueue([new_job() for _ in range(size)])

    assert words in refusal.value.message
    assert "Stop every process that uses it" in refusal.value.hint


@pytest.mark.parametrize("hand", ["deleted", "emptied", "replaced"])
def test_nothing_is_made_in_the_place_of_a_file_that_went(store, path, hand):
    """A process that finds no file would make an empty one, and a worker would find nothing to do for ever."""
    HANDS[hand][0](path)
    size = path.stat().st_size if path.exists() else None
    store.database.close()  # what is open is let go: the next that asks opens the path again

    with pytest.raises(DatabaseReplaced):
        store.jobs.enqueue([new_job()])

    assert (path.stat().st_size if path.exists() else None) == size


def test_a_link_that_is_turned_to_another_file_is_another_file(tmp_path, clock):
    for name in ("one", "two"):
        Store.open(f"sqlite:///{tmp_path}/{name}.db").close()
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "one.db")
    with closing(Store.open(f"sqlite:///{link}", clock=clock)) as store:
        store.jobs.enqueue([new_job()])
        (tmp_path / "next").symlink_to(tmp_path / "two.db")
        (tmp_path / "next").replace(link)

        with pytest.raises(DatabaseReplaced, match="replaced by another file"):
            store.jobs.enqueue([new_job()])


def test_a_caller_who_brings_a_connection_is_refused_too(sqlite_url, path):
    with closing(Haulwright(sqlite_url)) as app:
        work = app.task(name="work")(lambda: None)
        work.enqueue()
        with closing(sqlite3.connect(path)) as connection:
            rough_hands.replace(path)

            with pytest.raises(DatabaseReplaced):
                work.using(connection=connection).enqueue()


def test_a_file_that_is_written_over_in_its_place_is_noticed_with_the_next_heartbeat(store, path, monkeypatch):
    """`cp backup.db haulwright.db`: the inode stays, and what the log does not have is an hour old."""
    monkeypatch.setattr(file_identity, "COUNT_SECONDS", 0)
    earlier = path.with_name("earlier.db")
    in_another_process(path, "pragma wal_checkpoint(truncate)")
    rough_hands.copy_over(path, earlier)
    for _ in range(3):
        in_another_process(path, "update haulwright_jobs set attempts = attempts", "pragma wal_checkpoint(truncate)")
        store.database.require_unchanged()

    rough_hands.copy_over(earlier, path)

    with pytest.raises(DatabaseReplaced, match="was written over from outside"):
        store.database.require_unchanged()


def test_a_file_that_is_no_database_any_more_is_noticed_with_the_next_heartbeat(store, path):
    store.database.require_unchanged()
    with path.open("r+b") as file:
        file.write(b"dear diary, " * 100)

    with pytest.raises(DatabaseReplaced, match="was written over from outside"):
        store.database.require_unchanged()


def vacuum(_store, path):
    in_another_process(path, "vacuum")


def truncate_log(_store, path):
    in_another_process(path, "pragma wal_checkpoint(truncate)")


def back_up(_store, path):
    rough_hands.backup(path)


def restore_by_sqlite(_store, path):
    """What `.restore` of its shell does is a transaction as any other."""
    earlier = rough_hands.backup(path)
    with closing(sqlite3.connect(earlier)) as source, closing(sqlite3.connect(path, timeout=20)) as target:
        source.backup(target)


def open_again(store, path):
    """The last one to close the file deletes its log; the next has a new one."""
    store.database.close()
    assert not log_of(path).exists()


def go_elsewhere(_store, path):
    os.chdir(path.parent.parent)


@pytest.mark.parametrize(
    "act", [vacuum, truncate_log, back_up, restore_by_sqlite, open_again, go_elsewhere], ids=lambda act: act.__name__
)
def test_what_may_be_done_to_a_file_is_no_reason_to_refuse(path, clock, monkeypatch, act):
    monkeypatch.chdir(path.parent)
    monkeypatch.setattr(file_identity, "COUNT_SECONDS", 0)
    with closing(Store.open("sqlite:///haulwright.db", clock=clock, pool_size=1)) as store:
        store.jobs.enqueue([new_job() for _ in range(40)])
        for _ in range(3):
            act(store, path)
            store.database.require_unchanged()
            store.jobs.enqueue([new_job()])

        assert count(store, "haulwright_jobs") == 43


def test_a_link_and_a_second_process_are_no_reason_either(path, clock):
    link = path.with_name("link.db")
    link.symlink_to(path)
    with closing(Store.open(f"sqlite:///{link}", clock=clock)) as store:
        for _ in range(3):
            in_another_process(path, "update haulwright_jobs set attempts = attempts")
            store.jobs.enqueue([new_job()])
        store.database.require_unchanged()

        assert count(store, "haulwright_jobs") == 3


def test_looking_at_a_file_does_not_cost_this_process_its_locks(sqlite_url, path):
    """The system drops all locks of a process with the first descriptor of the file that it closes.

    Then another process takes itself for the last one, and deletes the log that this one goes on writing to.
    """
    with closing(Haulwright(sqlite_url)) as app:
        work = app.task(name="work")(lambda: None)
        work.enqueue()
        with app.existing_store() as store:
            assert store is not None
        in_another_process(path)

        assert log_of(path).exists()
        work.enqueue()
        assert count(app.store, "haulwright_jobs") == 2


def test_damage_is_told_in_words_with_what_to_do(store, path):
    store.jobs.enqueue([new_job() for _ in range(200)])
    rough_hands.damage(path)
    store.database.close()

    with pytest.raises(DatabaseDamaged, match="is damaged") as refusal:
        count(store, "haulwright_jobs")

    assert ".recover" in refusal.value.hint
    assert "Put a backup in its place" in refusal.value.hint
    assert Path(refusal.value.path) == path
