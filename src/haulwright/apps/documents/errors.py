"""What can be wrong with a file that arrived whole."""

from __future__ import annotations

from haulwright import Permanent
from haulwright.sources.download import Corrupt


class WrongKind(Permanent):
    """Another kind of file came than was asked for: mostly a page that says why there is no file. It is not kept."""


class Truncated(Corrupt):
    """The file ends before its end, although the server said that this is all of it. It is not kept."""
