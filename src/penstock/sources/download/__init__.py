"""Downloads that go on where they stopped and end in a file that is proven whole."""

from __future__ import annotations

from penstock.sources.doors import plain
from penstock.sources.download.disk import content_path
from penstock.sources.download.errors import Corrupt, DiskFull, TakenOver
from penstock.sources.download.fetch import Downloaded, adownload
from penstock.sources.download.look import Hint, alook
from penstock.sources.download.orphans import Orphan, orphans, remove_orphans

download = plain(adownload)
look = plain(alook)

__all__ = [
    "Corrupt",
    "DiskFull",
    "Downloaded",
    "Hint",
    "Orphan",
    "TakenOver",
    "adownload",
    "alook",
    "content_path",
    "download",
    "look",
    "orphans",
    "remove_orphans",
]
