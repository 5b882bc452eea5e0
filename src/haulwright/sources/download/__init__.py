"""Downloads that go on where they stopped and end in a file that is proven whole."""

from __future__ import annotations

from haulwright.engine.job import LeaseKey
from haulwright.sources.blocking import plain
from haulwright.sources.download.disk import content_path
from haulwright.sources.download.errors import Corrupt, DiskFull, TakenOver
from haulwright.sources.download.fetch import Downloaded, adownload
from haulwright.sources.download.look import Hint, alook, hint_of
from haulwright.sources.download.orphans import Orphan, orphans, remove_orphans
from haulwright.sources.download.parts import has_part, part_path, part_subject
from haulwright.sources.download.small import SmallFile, aread_small, is_small

download = plain(adownload)
look = plain(alook)

__all__ = [
    "Corrupt",
    "DiskFull",
    "Downloaded",
    "Hint",
    "LeaseKey",
    "Orphan",
    "SmallFile",
    "TakenOver",
    "adownload",
    "alook",
    "aread_small",
    "content_path",
    "download",
    "has_part",
    "hint_of",
    "is_small",
    "look",
    "orphans",
    "part_path",
    "part_subject",
    "remove_orphans",
]
