"""Which file a path names, by device and inode."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Callable

Mark = tuple[int, ...] | None
"""What tells one file from another, alike only where the same function made it; None where there is no file."""

_GONE = frozenset({errno.ENOENT, errno.ENOTDIR})
_NO_SUCH_CALL = frozenset({errno.ENOSYS, errno.EPERM, errno.EINVAL})
"""What a system says that does not know the call, or a sandbox that keeps it from us."""
_HERE = -100
_INODE = 0x100
_SIZE_BYTES = 256
_mark_in = struct.Struct("=Q96xII").unpack_from
"""The inode, and the two halves of the device, in what `statx` answers."""
_MARK_AT = 32


def mark_of(path: str | bytes) -> Mark:
    """The mark of the file that a path names; links are followed."""
    try:
        status = os.stat(path)  # noqa: PTH116 - by its text, as everything here
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino


def _find_statx() -> Callable[[bytes], Mark]:
    """What makes marks by a call that leaves the times alone; the ordinary one where there is none."""
    if not sys.platform.startswith("linux"):
        return mark_of
    try:
        statx = ctypes.CDLL(None, use_errno=True).statx
    except AttributeError:  # an older C library
        return mark_of
    statx.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_uint, ctypes.c_char_p)
    answer_type, error_number = ctypes.c_char * _SIZE_BYTES, ctypes.get_errno

    def mark(path: bytes) -> Mark:
        answer = answer_type()
        if statx(_HERE, path, 0, _INODE, answer) == 0:
            return _mark_in(answer, _MARK_AT)
        number = error_number()
        if number in _GONE:
            return None
        if number in _NO_SUCH_CALL:
            return mark_of(path)
        raise OSError(number, os.strerror(number), os.fsdecode(path))

    return mark


mark_without_times = _find_statx()
"""The mark of a file that is written all the time.

Since Linux 6.13 a file system remembers that somebody asked for the times of a file: its next write has to note a finer
one, and the commit that follows has more to bring to the disk. Asked after every commit, that makes each a quarter
dearer. So where the system has `statx`, by which one names what one asks for, it is asked for the inode alone.
"""
