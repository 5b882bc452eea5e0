"""Who a process is, and who is provably gone: what cannot be seen is not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from contextlib import contextmanager

import pytest

from haulwright.runtime import identity
from tests.runtime.waiting import eventually

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes as Linux shows them")
NOBODY = 65534
ASK = """
    import ctypes, os, sys
    from haulwright.runtime import identity

    boot, libc, dumpable = identity.boot_id(), ctypes.CDLL(None), 4
    os.setgroups([])
    os.setgid({nobody})
    os.setuid({nobody})
    libc.prctl(dumpable, 1, 0, 0, 0)  # else /proc/self belongs to root still
    print(identity.is_gone(boot, int(sys.argv[1]), sys.argv[2]))
"""
HIDDEN = 'mount -t proc -o hidepid=2 proc /proc && exec "$@"'


@contextmanager
def a_process():
    """A process that waits for its input to end."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        yield child
        child.stdin.close()


def asked_by_nobody(pid, started, *, hidden):
    """Whether another user, before whom the processes of others may be hidden, takes a process for gone."""
    script = textwrap.dedent(ASK.format(nobody=NOBODY))
    command = [sys.executable, "-c", script, str(pid), started]
    if hidden:
        command = ["unshare", "--mount", "sh", "-c", HIDDEN, "sh", *command]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if hidden and done.returncode and "mount" in done.stderr + done.stdout:
        pytest.skip(f"this machine does not let us mount a /proc of our own: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return {"True": True, "False": False}[done.stdout.strip()]


@pytest.fixture
def as_root():
    if os.name != "posix" or os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("only root can be another user, and mount a /proc")


def test_a_process_that_runs_is_not_gone_and_one_that_ended_is():
    me = identity.this_process()
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    started = identity.started_at(child.pid)

    assert not identity.is_gone(me.boot_id, me.pid, me.pid_started)
    assert not identity.is_gone(me.boot_id, child.pid, started)
    child.stdin.close()
    eventually(lambda: identity.is_gone(me.boot_id, child.pid, started))  # before its parent takes note of it
    child.wait()
    assert identity.is_gone(me.boot_id, child.pid, started)


def test_the_number_of_a_process_may_be_taken_by_another():
    me = identity.this_process()

    assert identity.is_gone(me.boot_id, me.pid, "1")


def test_an_earlier_boot_of_this_machine_is_gone_and_another_machine_is_not(monkeypatch):
    monkeypatch.setattr(identity, "boot_id", lambda: "machine/boot-2/pid:[1]")

    assert identity.is_gone("machine/boot-1/pid:[1]", 1, "1")
    assert not identity.is_gone("other/boot-1/pid:[1]", 1, "1")
    assert not identity.is_gone("/boot-1/pid:[1]", 1, "1")
    assert not identity.is_gone("machine/boot-2/pid:[2]", 1, "1")
    assert not identity.is_gone("", 1, "1")
    assert not identity.is_gone("machine/boot-1/pid:[1]", 1, "")


@linux
@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("hidden", [False, True], ids=["seen", "hidden"])
@pytest.mark.proves("SR-01", "SR-02")
def test_a_process_of_another_user_is_not_gone_while_it_runs_even_where_proc_hides_it(hidden):
    with a_process() as child:
        started = identity.started_at(child.pid)

        assert asked_by_nobody(child.pid, started, hidden=hidden) is False
    assert asked_by_nobody(child.pid, started, hidden=hidden) is True


@linux
@pytest.mark.usefixtures("as_root")
def test_another_process_under_the_same_number_that_is_hidden_proves_nothing():
    with a_process() as child:
        assert asked_by_nobody(child.pid, "1", hidden=False) is True
        assert asked_by_nobody(child.pid, "1", hidden=True) is False


@linux
def test_a_proc_that_counts_processes_otherwise_shows_nobody(tmp_path, monkeypatch):
    """A container may see the /proc of its host: its numbers are others, and mean other processes."""
    (tmp_path / "self").symlink_to("1")
    (tmp_path / str(os.getpid())).mkdir()
    (tmp_path / str(os.getpid()) / "stat").write_text("1 (other) S " + " ".join(["7"] * 30))
    me = identity.this_process()
    monkeypatch.setattr(identity, "boot_id", lambda: me.boot_id)
    monkeypatch.setattr(identity, "_PROC", tmp_path)

    assert not identity.is_gone(me.boot_id, me.pid, me.pid_started)


@linux
@pytest.mark.parametrize("pid", [0, -1, 2**40])
def test_a_number_that_no_process_can_have_proves_nothing(pid):
    assert not identity.is_gone(identity.boot_id(), pid, "1")


@pytest.mark.proves("CLM-06")
def test_a_worker_without_a_name_is_called_after_its_host():
    one, other = identity.this_process(), identity.this_process()

    assert one.id != other.id
    assert one.name == f"{one.host}-{one.id[-8:]}"
