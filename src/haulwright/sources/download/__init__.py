"""Downloads that go on where they stopped and end in a file that is proven whole."""

from __future__ import annotations

from haulwright.engine.job import LeaseKey
from haulwright.sources.blocking import plain
from haulwright.sources.download.disk import content_path
from haulwright.sources.download.errors import Corrupt, DiskFull, TakenOver
from haulwright.sources.download.fetch import Downloaded, adownload
from haulwright.sources.download.look import Hint, alook
from haulwright.sources.download.orphans import Orphan, orphans, remove_orphans

download = plain(adownload)
look = plain(alook)

__all__ = [
    "Corrupt",
    "DiskFull",
    "Downloaded",
    "Hint",
    "LeaseKey",
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
