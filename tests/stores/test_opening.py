"""A database on which the promise cannot be kept is refused early, and says what to do."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path
from tempfile import gettempdir

import pytest

from haulwright.errors import DatabaseUnavailable, DatabaseUnsuitable, Refused
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from haulwright.stores.sqlite import connection as sqlite_connection
from haulwright.stores.sqlite.filesystem import file_system_of, in_temporary_folder, require_suitable
from haulwright.stores.store import Store
from tests.stores.scenes import count, new_job

SECRET = "hunter2"  # noqa: S105 - what must not be seen


@pytest.mark.parametrize(
    "url",
    [
        f"mysql://root:{SECRET}@host/db",
        f"user=root password={SECRET} host=db",
        f"{SECRET}",
        "",
        "haulwright.db",
        f"redis://:{SECRET}@host",
    ],
)
def test_a_database_of_an_unknown_kind_is_refused_without_repeating_what_may_be_secret(url):
    with pytest.raises(DatabaseUnsuitable, match=r"sqlite:///path/to/file\.db or postgresql://") as refusal:
        open_database(url)

    assert SECRET not in str(refusal.value)


@pytest.mark.parametrize(
    "url",
    [
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite:///file::memory:?cache=shared",
        "sqlite://relative.db",
    ],
)
def test_a_database_in_memory_or_without_a_file_is_refused(url):
    with pytest.raises(DatabaseUnsuitable, match="names no SQLite file"):
        open_database(url)


@pytest.mark.parametrize("name", ["plain.db", "with space.db", "100%.db", "ünï.db", "a+b.db"])
def test_any_file_name_is_fine(tmp_path, name):
    path = tmp_path / name
    with closing(Store.open(f"sqlite:///{str(path).replace('%', '%25')}")):
        assert path.is_file()


def test_a_relative_path_is_relative_to_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    with closing(Store.open("sqlite:///relative.db")):
        assert (tmp_path / "relative.db").is_file()


def test_nothing_is_read_or_written_before_it_is_needed(tmp_path):
    open_database(f"sqlite:///{tmp_path}/not-yet.db").close()

    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_named_with_the_command_that_makes_it(tmp_path):
    with pytest.raises(DatabaseUnavailable, match="does not exist") as refusal:
        Store.open(f"sqlite:///{tmp_path}/a/b/haulwright.db")

    assert refusal.value.hint == f"Create it: mkdir -p {tmp_path}/a/b"


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("dear diary, " * 1000)

    with pytest.raises(DatabaseUnsuitable, match="is not an SQLite database"):
        Store.open(f"sqlite:///{path}")

    assert path.read_text().startswith("dear diary")


def test_a_folder_is_no_database(tmp_path):
    (tmp_path / "haulwright.db").mkdir()

    with pytest.raises(DatabaseUnsuitable, match="is a folder"):
        Store.open(f"sqlite:///{tmp_path}/haulwright.db")


@pytest.mark.parametrize("locked", ["file", "folder"])
def test_a_database_that_cannot_be_written_is_refused(tmp_path_factory, sqlite_url, locked):
    """Asked as a user without special rights: root may write everywhere."""
    folder = tmp_path_factory.mktemp("place")
    path = folder / "haulwright.db"
    Store.open(f"sqlite:///{path}").close()
    path.chmod(0o444 if locked == "file" else 0o666)
    folder.chmod(0o777 if locked == "file" else 0o555)
    code = """
        import os, sys
        from haulwright.errors import DatabaseUnavailable
        from haulwright.stores.store import Store
        Store.open(sys.argv[2]).close()  # what Python still has to load is loaded while it can be
        os.chdir(sys.argv[1])  # its parents may be private
        if os.getuid() == 0:
            os.setgroups([]); os.setgid(65534); os.setuid(65534)
        try:
            store = Store.open("sqlite:///haulwright.db")
            store.queues.pause("q", actor="me", reason="")
        except DatabaseUnavailable as refusal:
            print(refusal)
    """

    told = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), folder, sqlite_url], capture_output=True, text=True, check=False
    )

    assert "write permission" in told.stdout, told.stderr


MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
server:/export /data nfs4 rw 0 0
/dev/sdb1 /data/local xfs rw 0 0
//nas/share /far/my\\040share cifs rw 0 0
tmpfs /database tmpfs rw 0 0
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/", "ext4"),
        ("/srv/app", "ext4"),
        ("/data", "nfs4"),
        ("/data/a/b", "nfs4"),
        ("/data/local/a", "xfs"),
        ("/database", "tmpfs"),
        ("/database2", "ext4"),
        ("/far/my share/a", "cifs"),
    ],
)
def test_the_file_system_of_a_folder_is_that_of_its_nearest_mount(tmp_path, folder, kind):
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS)

    assert file_system_of(Path(folder), mounts) == kind


def test_a_system_that_does_not_tell_its_mounts_is_trusted(tmp_path):
    assert file_system_of(tmp_path, tmp_path / "none") is None
    (tmp_path / "odd").write_text("\nonly-two words\n")
    assert file_system_of(tmp_path, tmp_path / "odd") is None


def test_a_network_file_system_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("haulwright.stores.sqlite.filesystem.file_system_of", lambda _: "nfs4")

    with pytest.raises(DatabaseUnsuitable, match=r"network file system \(nfs4\)") as refusal:
        require_suitable(tmp_path / "haulwright.db")
    assert "PostgreSQL" in refusal.value.hint


def test_a_database_that_the_system_may_clean_away_is_known():
    assert in_temporary_folder(Path(gettempdir()) / "a" / "haulwright.db")
    assert not in_temporary_folder(Path("/var/lib/haulwright.db"))


@pytest.fixture
def full_store(sqlite_url, clock):
    """A store whose file may not grow any further; the one connection to it can be told otherwise."""
    with closing(Store(open_database(sqlite_url, clock=clock, pool_size=1))) as store:
        migrations.migrate(store.database)
        _limit(store, 0)
        yield store


def _limit(store, pages):
    store.database.read(lambda connection: connection.execute(f"pragma max_page_count = {pages or 1}"))


def test_a_full_disk_loses_nothing_that_was_acknowledged_and_work_goes_on_when_there_is_room(full_store):
    acknowledged = []

    def enqueue_until_full():
        while True:
            acknowledged.extend(full_store.jobs.enqueue([new_job(args='"' + "x" * 2000 + '"') for _ in range(5)]))

    with pytest.raises(DatabaseUnavailable, match="no room left") as refusal:
        enqueue_until_full()

    assert "Free some space" in refusal.value.hint
    assert count(full_store, "haulwright_jobs") == len(acknowledged)
    _limit(full_store, 1_000_000)
    full_store.jobs.enqueue([new_job()])
    assert count(full_store, "haulwright_jobs") == len(acknowledged) + 1


def test_a_file_that_the_system_lets_grow_no_further_loses_nothing_either(sqlite_url):
    """The limit of the operating system meets the log, not only the file."""
    code = """
        import resource, sys
        from haulwright.engine.ids import new_id
        from haulwright.engine.job import NewJob
        from haulwright.errors import DatabaseUnavailable
        from haulwright.stores.store import Store
        store = Store.open(sys.argv[1])
        resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))
        acknowledged = 0
        try:
            for _ in range(1000):
                store.jobs.enqueue([NewJob(id=new_id(), task="work", args='"' + "x" * 5000 + '"') for _ in range(3)])
                acknowledged += 3
        except DatabaseUnavailable:
            print(acknowledged)
    """

    told = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), sqlite_url], capture_output=True, text=True, check=False
    )

    assert int(told.stdout) > 0, told.stderr
    with closing(Store.open(sqlite_url)) as store:
        assert count(store, "haulwright_jobs") == int(told.stdout)


def test_a_settable_clock_is_refused_outside_tests(monkeypatch, tmp_path):
    monkeypatch.setenv("HAULWRIGHT_TEST_CLOCK", str(tmp_path / "clock"))
    monkeypatch.delenv("HAULWRIGHT_TESTING", raising=False)

    with pytest.raises(Refused, match="not a test"):
        open_database(f"sqlite:///{tmp_path}/haulwright.db")


def test_sqlite_keeps_its_promise_by_these_settings(sqlite_url):
    with closing(Store.open(sqlite_url)) as store:
        asked = [
            store.database.read(lambda c, name=name: c.execute(f"pragma {name}")[0][0])
            for name in ("journal_mode", "synchronous", "foreign_keys")
        ]

    assert asked == ["wal", 2, 1]


def test_a_place_that_cannot_have_a_log_is_refused(sqlite_url, monkeypatch):
    """SQLite says nothing where it cannot change its journal; it is asked."""
    other = sqlite_connection._PRAGMAS.replace("journal_mode = wal", "journal_mode = delete")
    monkeypatch.setattr(sqlite_connection, "_PRAGMAS", other)

    with pytest.raises(DatabaseUnsuitable, match="write-ahead log"):
        Store.open(sqlite_url)


def test_without_the_driver_postgresql_says_what_to_install():
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from haulwright.stores.connect import open_database\n"
        "try: open_database('postgresql://host/db')\n"
        "except Exception as refusal: print(type(refusal).__name__, refusal)"
    )

    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ)

    assert told.stdout.startswith("MissingExtra PostgreSQL needs the package psycopg")
    assert "haulwright[postgres]" in told.stdout
