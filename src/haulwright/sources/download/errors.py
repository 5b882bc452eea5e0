"""What can go wrong with a download beside the request itself."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from haulwright.errors import Retryable

_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})


class Corrupt(Retryable):
    """What the server sent is not what it or the caller said it would be. Nothing of it is kept."""


class DiskFull(Retryable):
    """There is no room for the file. What arrived before is kept, and the next run goes on from there."""


class TakenOver(Retryable):
    """A later run owns this download: its part was moved away under this one, which changes nothing any more."""


@contextmanager
def disk_errors() -> Iterator[None]:
    """Tell a full disk from other failures of the system."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_SPACE:
            raise
        message = "The disk is full. What arrived so far is kept."
        raise DiskFull(message, hint="Make room, or move the folder to a larger disk.") from error
