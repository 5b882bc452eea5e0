"""Parts: the bytes of a file that have arrived, each owned by one run of one job.

    parts/<what>.<job>.<fence>.<worker>.part     the bytes
    parts/<what>.<job>.<fence>.<worker>.json     what is known of them: the record

A later run of the job *copies* the part of an earlier one to a file of its own and removes the earlier name. So a run
that lost its lease and does not know it yet writes into a file that nobody reads any more.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

from haulwright.engine.job import LeaseKey
from haulwright.sources.download.disk import BLOCK_BYTES, boot_id, draft_path, make_folder, write_whole
from haulwright.sources.download.errors import TakenOver

PARTS: Final = "parts"
DURABLE_EVERY_BYTES: Final = 32 * 1024 * 1024
"""How much may be written before it is synced: what a loss of power can cost."""
_NAME_CHARS: Final = 24
_NAME_WORDS: Final = 5
"""What, job, fence, worker, and what kind of file it is."""


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of a part."""

    url: str
    """Without query and credentials: for people."""
    job_id: str
    validator: str | None = None
    """By which the rest of the same bytes can be asked for."""
    total: int | None = None
    """How long the whole file is."""
    durable: int = 0
    """How many bytes are on disk for sure."""
    boot: str = ""
    sha256: str | None = None
    """The hash of the whole, once all is there."""

    def trusted(self, size: int) -> int:
        """How many bytes of a part of this size are good: all, unless the machine went down since."""
        return size if self.boot and self.boot == boot_id() else min(size, self.durable)

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """The record at this path; None where there is none that can be read."""
        try:
            document: Any = json.loads(path.read_bytes())
            return cls(**document)
        except (OSError, ValueError, TypeError, RecursionError):
            return None


class Part:
    """One part that this run owns: bytes are added at its end and hashed on the way."""

    def __init__(self, path: Path, record: Record) -> None:
        self.path = path
        self.record = record
        self.size = 0
        self._hash = hashlib.sha256()
        self._file = path.open("r+b" if path.exists() else "w+b", buffering=0)

    @property
    def sha256(self) -> str:
        """The hash of all bytes so far."""
        return self._hash.hexdigest()

    def adopt(self, source: Path, length: int) -> None:
        """Take the first bytes of a part, hashing them anew; one of an earlier run is copied, never shared."""
        own = source == self.path
        with source.open("rb", buffering=0) as file:
            while self.size < length and (block := file.read(min(BLOCK_BYTES, length - self.size))):
                self._count(block) if own else self._append(block)
        self._file.truncate(self.size)
        self._file.seek(self.size)
        self.sync()

    def restart(self, record: Record) -> None:
        """Throw away what is there: from now on this is a part of another version."""
        self._file.truncate(0)
        self._file.seek(0)
        self.size, self._hash = 0, hashlib.sha256()
        self.note(replace(record, durable=0))

    def tail(self, length: int) -> bytes:
        """The last bytes, to compare with what the server sends."""
        return os.pread(self._file.fileno(), length, self.size - length)

    def write(self, data: bytes) -> None:
        """Add bytes. Where the disk is full, those that found room stay."""
        self._append(data)

    @property
    def is_sync_due(self) -> bool:
        """Whether so much was written since the last time that a loss of power would cost too much."""
        return self.size - self.record.durable >= DURABLE_EVERY_BYTES

    def sync(self) -> None:
        """Have all bytes that are there now on disk, then say so in the record. More may be written meanwhile."""
        size = self.size
        os.fsync(self._file.fileno())
        self.note(replace(self.record, durable=size))

    def note(self, record: Record) -> None:
        """Write the record down; refused where a later run has taken the part away."""
        if not self._is_mine():
            raise TakenOver(f"The part {self.path.name} belongs to a later run.")
        self.record = replace(record, boot=boot_id())
        write_whole(record_path(self.path), json.dumps(asdict(self.record)).encode())

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def remove(self) -> None:
        """Leave nothing behind."""
        self.close()
        forget(self.path)

    def _append(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            written = self._file.write(rest) or 0
            self._count(rest[:written])
            rest = rest[written:]

    def _count(self, data: bytes | memoryview) -> None:
        self._hash.update(data)
        self.size += len(data)

    def _is_mine(self) -> bool:
        try:
            return os.path.samestat(self.path.stat(), os.fstat(self._file.fileno()))
        except FileNotFoundError:
            return False


def take(folder: Path, what: str, owner: LeaseKey, fresh: Record) -> Part:
    """The part of this run, with whatever an earlier run of the same job left that is good."""
    mine = part_path(folder, what, owner)
    make_folder(mine.parent)
    part = _adopted(mine)
    if part is None:
        part = Part(mine, fresh)
        part.restart(fresh)
    for path in _earlier(mine):
        if path != mine:
            forget(path)
    return part


def finished(folder: Path, what: str, owner: LeaseKey) -> Record | None:
    """The record of a part that a run of this job moved into place and had no time to forget."""
    for path in _earlier(part_path(folder, what, owner)):
        record = Record.read(record_path(path))
        if record is not None and record.sha256 and not path.exists():
            return record
    return None


def forget_all(folder: Path, what: str, owner: LeaseKey) -> None:
    """Leave nothing of this job behind, up to this run."""
    for path in _earlier(part_path(folder, what, owner)):
        forget(path)


def part_subject(url: str, sha256: str | None = None) -> str:
    """What a part is of: the content where it is known, so that a signed address may change; else the address."""
    return f"sha256:{sha256}" if sha256 else url


def has_part(folder: Path, what: str, owner: LeaseKey) -> bool:
    """Whether an earlier run of this job left something that this one can go on with."""
    return bool(_earlier(part_path(folder, what, owner)))


def fence_of(path: Path) -> int | None:
    """The fence in the name of a part or of its record."""
    words = path.name.split(".")
    return int(words[2]) if len(words) == _NAME_WORDS and words[2].isdecimal() else None


def record_path(part: Path) -> Path:
    """Where the record of a part is."""
    return part.with_suffix(".json")


def forget(part: Path) -> None:
    """Remove a part with its record: the bytes first, for a record alone does no harm."""
    record = record_path(part)
    for path in (part, record, draft_path(record)):
        path.unlink(missing_ok=True)


def _adopted(mine: Path) -> Part | None:
    """A part with the bytes of the latest one that has a record: one without was never finished being taken over."""
    for source in _earlier(mine):
        record = Record.read(record_path(source))
        if record is not None and source.exists():
            break
    else:
        return None
    part = Part(mine, replace(record, durable=0))
    try:
        part.adopt(source, record.trusted(source.stat().st_size))
    except BaseException as error:
        part.close()
        if source != mine:
            mine.unlink(missing_ok=True)  # half a copy is of no use: the whole is still where it was
        if isinstance(error, FileNotFoundError):  # its run was not dead, and has finished meanwhile
            return None
        raise
    return part


def _earlier(mine: Path) -> list[Path]:
    """The parts of this job up to this fence, the latest first, also where only the record is left.

    Those of later runs are not ours to touch, nor is that of another holder who has the same number.
    """
    stem, own = mine.name.rsplit(".", 3)[0], fence_of(mine) or 0
    paths = {path.with_suffix(".part") for path in mine.parent.glob(f"{stem}.*")}
    numbered = [(number, path) for path in paths if (number := fence_of(path)) is not None]
    return [path for number, path in sorted(numbered, reverse=True) if number < own or path == mine]


def part_path(folder: Path, what: str, owner: LeaseKey) -> Path:
    """Where the part of a run is."""
    return folder / PARTS / f"{_word(what)}.{_word(owner.id)}.{owner.fence}.{_word(owner.worker_id or '')}.part"


def _word(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_NAME_CHARS]
