"""A way in: the `manifest.sqlite3` that a team has in use, in the tables of the document, read and never written.

What is planned or under way there is planned here. What is finished there is adopted, where its file can be found and
is what its hash says: a copy of it waits in the staging for the job that files it, and nobody is asked for it again.

Others write this manifest. So a path in it leads nowhere but into the folder that whoever takes it over has named.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import sqlite3
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from haulwright.apps.documents.file_names import name_of_url
from haulwright.apps.documents.manifest import Item, ManifestLine
from haulwright.engine.payload import read_json
from haulwright.errors import DatabaseUnavailable, InvalidValue, Refused
from haulwright.redaction import redact
from haulwright.sources.download.disk import content_path, draft_path, holds, make_folder, move_into_place
from haulwright.sources.download.errors import disk_errors

if TYPE_CHECKING:
    from haulwright.apps.documents.folders import Folders

FINISHED: Final = frozenset({"FINALIZED", "INDEXED", "DEDUPED", "SKIPPED_DUPLICATE"})
UNDER_WAY: Final = frozenset({"PLANNED", "LEASED", "HEAD_DONE", "RESUME_OK", "STREAMING"})
FAILED: Final = "FAILED"
KNOWN_STATES: Final = FINISHED | UNDER_WAY | {FAILED}
PAGE: Final = 500
BLOCK_BYTES: Final = 1 << 20
MOST_OPERATIONS: Final = 100
"""Of one job; there are four kinds of them."""
PATIENCE_SECONDS: Final = 5.0
"""So long a statement waits for whoever writes the manifest at that moment."""
_PATHS: Final = ("path", "final_path", "file_path", "local_path", "dest", "dest_path")
"""Under which of these the result of an operation may say where the file is."""
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_JOBS: Final = """
    select {place}, job_id, work_id, artifact_id, canonical_url, state from artifact_jobs
    where {beyond} order by {place} limit ?2"""
_HAS_ROWID: Final = (
    "select 1 from pragma_table_list where schema = 'main' and name = 'artifact_jobs' and type = 'table' and wr = 0"
)
_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_NOT_THERE: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG})
_OPERATIONS: Final = """
    select result_json from artifact_ops
    where job_id = ? and result_json is not null and op_type in ('FINALIZE', 'STREAM') order by op_type limit ?"""
_HAS_TABLE: Final = "select 1 from sqlite_master where name = ?"


@dataclass(frozen=True, slots=True)
class LiveJob:
    """A job of a team's own manifest, with what its operations say of its file."""

    number: int
    work_id: str
    artifact_id: str
    canonical_url: str
    state: str
    sha256: str | None
    paths: tuple[str, ...]


@dataclass(slots=True)
class MoveIn:
    """What is taken over of a live manifest, and what is left out of it."""

    folders: Folders
    tenant: str
    files: Path | None
    """Where the files of that team are; without a folder none is looked for."""
    is_dry: bool
    with_failed: bool
    require_public: Callable[[str], object]
    """Raises where an address is not gone to."""
    counts: Counter[str] = field(default_factory=Counter)
    """Jobs by what was found: `adopted`, `without_file`, `under_way`, `failed`."""
    adopted: set[str] = field(default_factory=set)
    """The keys of those that nobody is asked for."""

    def lines(self, manifest: Path) -> Iterator[ManifestLine]:
        """What is to be planned, a line for each job; of files that are adopted a copy is in the staging by then."""
        for job in read_live_jobs(manifest):
            if job.state == FAILED and not self.with_failed:
                self.counts["failed"] += 1
                continue
            yield self._line(job)

    def _line(self, job: LiveJob) -> ManifestLine:
        try:
            item = self._checked(job)
            is_adopted = job.state in FINISHED and self._adopt(job)
        except InvalidValue as refusal:
            return ManifestLine(job.number, None, redact(refusal.message))
        finding = "adopted" if is_adopted else "without_file" if job.state in FINISHED else "under_way"
        self.counts[finding] += 1
        if is_adopted:
            item = Item(job.canonical_url, job.work_id, job.artifact_id, sha256=job.sha256)
            self.adopted.add(item.key)
        return ManifestLine(job.number, item)

    def _checked(self, job: LiveJob) -> Item:
        if job.state not in KNOWN_STATES:
            raise InvalidValue("state", job.state[:40], "is no state of the document")
        item = Item(job.canonical_url, job.work_id, job.artifact_id)
        self.require_public(item.url)
        return item

    def _adopt(self, job: LiveJob) -> bool:
        """Whether the file of a finished job is found and whole; then it is here, too, but for a dry run."""
        if job.sha256 is None:
            return False
        if self.folders.has_anywhere(self.tenant, job.sha256):
            return True
        source = self._find(job, job.sha256)
        return source is not None and (self.is_dry or self._copy(source, job.sha256))

    def _find(self, job: LiveJob, sha256: str) -> Path | None:
        """The first file that is whole. Where there is none, but one that cannot be read, somebody is to hear of it."""
        unreadable: InvalidValue | None = None
        for path in self._places(job, sha256):
            try:
                if _is_file(path) and holds(path, sha256):
                    return path
            except OSError as error:
                unreadable = unreadable or _unreadable(path, error)
        if unreadable is not None:
            raise unreadable
        return None

    def _places(self, job: LiveJob, sha256: str) -> Iterator[Path]:
        """Where in the folder the file may be: as its operations say, or there by its name or hash."""
        if self.files is None:
            return
        root = self.files.resolve()
        names = [*job.paths, *(Path(path).name for path in job.paths)]
        names += [str(content_path(root, sha256)), sha256, name_of_url(job.canonical_url)]
        for path in dict.fromkeys(_resolved(root / name) for name in names):
            if path is not None and path.is_relative_to(root):
                yield path

    def _copy(self, source: Path, sha256: str) -> bool:
        """Copy a file into the staging, and return whether what was copied is still what its hash says."""
        self.folders.prepare()
        staged = self.folders.staged(self.tenant, sha256)
        draft = draft_path(staged)
        with disk_errors():
            make_folder(staged.parent)
            try:
                is_same = _copy_hashed(source, draft) == sha256
            except BaseException:
                draft.unlink(missing_ok=True)
                raise
            if not is_same:
                draft.unlink()
                return False
            move_into_place(draft, staged)
        return True


def read_live_jobs(manifest: Path) -> Iterator[LiveJob]:
    """The jobs of a manifest, a page at a time: who works on it meanwhile is not kept waiting."""
    with _refusals(manifest), closing(_open(manifest)) as connection:
        has_operations = bool(connection.execute(_HAS_TABLE, ("artifact_ops",)).fetchall())
        has_rowid = bool(connection.execute(_HAS_ROWID).fetchall())
        place = "rowid" if has_rowid else "job_id"
        first, further = (_JOBS.format(place=place, beyond=beyond) for beyond in ("true", f"{place} > ?1"))
        after, count = None, 0
        while rows := connection.execute(first if after is None else further, (after, PAGE)).fetchall():
            for key, job_id, work_id, artifact_id, url, state in rows:
                operations = connection.execute(_OPERATIONS, (job_id, MOST_OPERATIONS)) if has_operations else ()
                results = [read_json(str(text), dict) or {} for (text,) in operations]
                names = str(work_id or ""), str(artifact_id or ""), str(url or ""), str(state or "")
                count += 1
                number = key if has_rowid else count
                yield LiveJob(number, *names, _sha256_in(results), _paths_in(results))
            after = rows[-1][0]


@contextmanager
def _refusals(manifest: Path) -> Iterator[None]:
    """Say what is wrong with a manifest that somebody holds, or that cannot be read."""
    try:
        yield
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _BUSY:
            hint = "Take it over again when that is done: what was planned until then is known by then."
            raise DatabaseUnavailable(f"{manifest} is in use: somebody writes to it alone.", hint=hint) from error
        raise Refused(f"{manifest} cannot be read as a SQLite database: {error}.") from error


def _open(manifest: Path) -> sqlite3.Connection:
    """The file, for reading alone. One that is no manifest is refused."""
    uri = f"{manifest.absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=PATIENCE_SECONDS)
    try:
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        columns = {row[1] for row in connection.execute("pragma table_info(artifact_jobs)")}
        _require_columns(manifest, columns)
    except BaseException:
        connection.close()
        raise
    return connection


def _require_columns(manifest: Path, columns: set[str]) -> None:
    missing = {"job_id", "work_id", "artifact_id", "canonical_url", "state"} - columns
    if missing:
        message = f"{manifest} is no manifest of the document: artifact_jobs lacks {', '.join(sorted(missing))}."
        raise Refused(message, hint="A list as CSV or JSON Lines is taken in by: haulwright doc import FILE")


def _resolved(path: Path) -> Path | None:
    """Where a path leads, through every link; None where that is nowhere."""
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):
        return None


def _is_file(path: Path) -> bool:
    """Whether there is a plain file; where nobody lets us look, that is an error."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError as error:
        if error.errno in _NOT_THERE:
            return False
        raise


def _copy_hashed(source: Path, draft: Path) -> str:
    """Copy a file, and return the hash of what was copied."""
    read = hashlib.sha256()
    with draft.open("wb") as copy:
        for block in _blocks(source):
            read.update(block)
            copy.write(block)
        copy.flush()
        os.fsync(copy.fileno())
    return read.hexdigest()


def _blocks(source: Path) -> Iterator[bytes]:
    try:
        with source.open("rb") as file:
            while block := file.read(BLOCK_BYTES):
                yield block
    except OSError as error:
        raise _unreadable(source, error) from error


def _unreadable(path: Path, error: OSError) -> InvalidValue:
    """Why a job is refused whose file is there, and closed to us: it may be whole, so it is not fetched anew."""
    return InvalidValue("file", str(path), f"cannot be read: {error.strerror}", hint="Let it be read, or move it away.")


def _sha256_in(results: list[dict[str, Any]]) -> str | None:
    """The hash that all operations of a job agree on."""
    hashes = {str(result["sha256"]).lower() for result in results if result.get("sha256")}
    sha256 = hashes.pop() if len(hashes) == 1 else ""
    return sha256 if _SHA256.fullmatch(sha256) else None


def _paths_in(results: list[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(str(result[name]) for result in results for name in _PATHS if isinstance(result.get(name), str))
