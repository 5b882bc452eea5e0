"""Which file a path names, on systems old and new."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from types import SimpleNamespace

import pytest

from haulwright.stores.sqlite import file_marks
from haulwright.stores.sqlite.file_marks import mark_of, mark_without_times

WAYS = [mark_of, mark_without_times]


@pytest.mark.parametrize("mark", WAYS, ids=["by stat", "without times"])
def test_a_mark_stays_while_a_file_is_written_and_goes_with_the_file(mark, tmp_path):
    path = tmp_path / "kept"
    path.write_bytes(b"one")
    before = mark(os.fsencode(path))
    path.write_bytes(b"another")
    assert before == mark(os.fsencode(path)) is not None

    other = tmp_path / "other"
    other.write_bytes(b"another")
    other.replace(path)
    assert mark(os.fsencode(path)) not in {before, None}

    path.unlink()
    assert mark(os.fsencode(path)) is None
    assert mark(os.fsencode(tmp_path / "kept" / "inside")) is None


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has statx")
def test_a_mark_without_times_names_the_file_that_stat_names(tmp_path):
    path = tmp_path / "file"
    path.touch()
    (tmp_path / "link").symlink_to(path)

    inode, major, minor = mark_without_times(os.fsencode(tmp_path / "link"))

    status = path.stat()
    assert (inode, os.makedev(major, minor)) == (status.st_ino, status.st_dev)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has statx")
def test_a_sandbox_that_refuses_the_call_is_asked_by_the_ordinary_one(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.touch()

    def refused(*_arguments: object) -> int:
        ctypes.set_errno(errno.EPERM)
        return -1

    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: SimpleNamespace(statx=refused))

    assert file_marks._find_statx()(os.fsencode(path)) == mark_of(path)
