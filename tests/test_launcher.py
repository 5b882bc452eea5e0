"""The PostgreSQL of the tests: started by ourselves, private, and gone afterwards."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg
import pytest

from tests import conftest
from tests.support import postgres
from tests.support.binaries import (
    Account,
    PostgresUnavailable,
    copy_wheel_binaries,
    runnable,
    unprivileged_account,
    wheel_binaries,
)

REPOSITORY = Path(__file__).resolve().parent.parent
NOBODY = Account(65534, 65534)
# Starts a server, says where it is, and waits to be told to stop.
SERVE = """
import sys
from pathlib import Path
from tests.support import postgres
with postgres.start(binaries=Path(sys.argv[1]) if len(sys.argv) > 1 else None) as server:
    print(server.url(), server.folder, server.pid, flush=True)
    sys.stdin.read()
"""

pytestmark = pytest.mark.postgres


def answer(url: str, question: str = "select 1") -> object:
    with psycopg.connect(url) as connection:
        row = connection.execute(question).fetchone()
    return row and row[0]


def running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def serve(interpreter: str, *arguments: Path, cwd: Path = REPOSITORY, account: Account | None = None):
    """Start a server from another process, which can be killed or be another user's."""
    return subprocess.Popen(
        [interpreter, "-c", SERVE, *arguments],
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **(account or Account()).options(),
    )


def said(serving: subprocess.Popen[str]) -> list[str]:
    """Where its server is, or why there is none."""
    line = serving.stdout.readline()
    assert line, serving.communicate()[1]
    return line.split()


def interpreter_for(account: Account) -> str:
    """A Python that the account can run: ours may live where it cannot look."""
    for candidate in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        try:
            asked = [candidate, "-c", "import typing; typing.Self"]
            subprocess.run(asked, cwd="/", check=True, capture_output=True, **account.options())
        except (OSError, subprocess.SubprocessError):
            continue
        return candidate
    pytest.skip("no Python here that an ordinary user can run")


def test_a_server_is_private_and_leaves_nothing_behind():
    with postgres.start() as server:
        assert answer(server.url()) == 1
        assert server.folder.stat().st_mode & 0o777 == 0o700
        assert (server.folder / "data" / "postmaster.pid").stat().st_uid != 0, "PostgreSQL does not run as root"
        pid = server.pid

    assert not running(pid)
    assert not server.folder.exists()


def test_a_search_path_travels_in_the_address(postgres_server):
    url = postgres_server.url(search_path="somewhere")

    assert answer(url, "show search_path") == "somewhere"


def test_a_server_can_listen_on_loopback():
    with postgres.start(tcp=True) as server:
        assert "127.0.0.1" in server.url()
        assert answer(server.url()) == 1


def test_what_was_committed_survives_a_crash_of_a_durable_server():
    with postgres.start(durable=True) as server:
        assert answer(server.url(), "show fsync") == "on"
        with psycopg.connect(server.url()) as connection:
            connection.execute("create table kept as select 42 as figure")

        server.restart("immediate")

        assert answer(server.url(), "select figure from kept") == 42


def test_the_binaries_of_the_wheel_serve_too():
    binaries = wheel_binaries()
    assert binaries, "the development lock brings them"

    with postgres.start(binaries=binaries) as server:
        assert answer(server.url()) == 1


def test_binaries_that_the_account_cannot_reach_are_copied():
    binaries = wheel_binaries()
    with tempfile.TemporaryDirectory() as private:  # mode 0700: closed to every other account
        hidden = copy_wheel_binaries(binaries, Path(private))
        with postgres.start(binaries=hidden) as server:
            assert answer(server.url()) == 1
            assert (server.folder / "programs").exists() == (not runnable(hidden, unprivileged_account()))


def test_a_server_dies_with_the_process_that_started_it():
    serving = serve(sys.executable)
    _, folder, pid = said(serving)

    serving.kill()
    serving.communicate()  # returns when nothing holds its stderr any more, and the watchdog is the last to do so

    assert not running(int(pid))
    assert not Path(folder).exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="we are an ordinary user already")
def test_an_ordinary_user_can_start_a_server():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(REPOSITORY / "tests" / "support", folder / "tests" / "support")
        binaries = copy_wheel_binaries(wheel_binaries(), folder)
        NOBODY.owns(folder)

        serving = serve(interpreter_for(NOBODY), binaries, cwd=folder, account=NOBODY)
        url, data, _ = said(serving)

        assert answer(url) == 1
        assert Path(data).stat().st_uid == NOBODY.uid
        _, complaints = serving.communicate()
        assert (serving.returncode, complaints) == (0, "")
        assert not Path(data).exists()


def test_an_address_in_the_environment_is_used_before_anything_is_started(monkeypatch):
    monkeypatch.setenv("HAULWRIGHT_TEST_DATABASE_URL", "postgresql://somebody@db.example/work?sslmode=require")

    server = postgres.obtain()

    assert server.url() == "postgresql://somebody@db.example/work?sslmode=require"
    assert server.url(search_path="a").endswith("/work?sslmode=require&options=-c%20search_path%3Da")


@pytest.mark.parametrize(("ci", "verdict"), [("", pytest.skip.Exception), ("true", pytest.fail.Exception)])
def test_a_missing_server_skips_at_home_and_fails_where_changes_are_decided(monkeypatch, ci, verdict):
    def nothing_here(**_: object):
        raise PostgresUnavailable("nothing found")

    monkeypatch.setattr(conftest, "obtain", nothing_here)
    monkeypatch.setenv("CI", ci)

    with pytest.raises(verdict, match="nothing found"):
        next(conftest._serve(durable=False))
