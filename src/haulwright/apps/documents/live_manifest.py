"""A way in: the `manifest.sqlite3` that a team has in use, in the tables of the document, read and never written.

What is planned or under way there is planned here. What is finished there is adopted, where its file can be found and
is what its hash says: a copy of it waits in the staging for the job that files it, and nobody is asked for it again.
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from haulwright.apps.documents.file_names import name_of_url
from haulwright.apps.documents.manifest import Item, ManifestLine
from haulwright.engine.payload import read_json
from haulwright.errors import InvalidValue, Refused
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
_PATHS: Final = ("path", "final_path", "file_path", "local_path", "dest", "dest_path")
"""Under which of these the result of an operation may say where the file is."""
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_JOBS: Final = """
    select rowid, job_id, work_id, artifact_id, canonical_url, state from artifact_jobs
    where rowid > ? order by rowid limit ?"""
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
    """Where the files of that team are."""
    is_dry: bool
    with_failed: bool
    require_public: Callable[[str], object]
    """Raises where an address is not gone to."""
    counts: Counter[str] = field(default_factory=Counter)
    """Jobs by what was found: `adopted`, `without_file`, `under_way`, `failed`."""

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
        source = next((path for path in self._places(job) if holds(path, job.sha256)), None)
        return source is not None and (self.is_dry or self._copy(source, job.sha256))

    def _places(self, job: LiveJob) -> Iterator[Path]:
        """Where the file may be: as its operations say, in the folder of the files, or there by its hash or name."""
        recorded = [Path(path) for path in job.paths]
        if self.files is not None:
            recorded = [self.files / path for path in recorded] + [self.files / path.name for path in recorded]
            recorded += [content_path(self.files, job.sha256 or ""), self.files / (job.sha256 or "")]
            recorded.append(self.files / name_of_url(job.canonical_url))
        for path in dict.fromkeys(recorded):
            if path.is_file():
                yield path

    def _copy(self, source: Path, sha256: str) -> bool:
        """Copy a file into the staging, and return whether what was copied is still what its hash says."""
        self.folders.prepare()
        staged = self.folders.staged(self.tenant, sha256)
        draft = draft_path(staged)
        read = hashlib.sha256()
        with disk_errors():
            make_folder(staged.parent)
            with source.open("rb") as original, draft.open("wb") as copy:
                while block := original.read(BLOCK_BYTES):
                    read.update(block)
                    copy.write(block)
                copy.flush()
                os.fsync(copy.fileno())
            if read.hexdigest() != sha256:
                draft.unlink()
                return False
            move_into_place(draft, staged)
        return True


def read_live_jobs(manifest: Path) -> Iterator[LiveJob]:
    """The jobs of a manifest, a page at a time: who works on it meanwhile is not kept waiting."""
    with closing(_open(manifest)) as connection:
        has_operations = bool(connection.execute(_HAS_TABLE, ("artifact_ops",)).fetchall())
        after = 0
        while rows := connection.execute(_JOBS, (after, PAGE)).fetchall():
            for number, job_id, work_id, artifact_id, url, state in rows:
                operations = connection.execute(_OPERATIONS, (job_id, MOST_OPERATIONS)) if has_operations else ()
                results = [read_json(str(text), dict) or {} for (text,) in operations]
                names = str(work_id or ""), str(artifact_id or ""), str(url or ""), str(state or "")
                yield LiveJob(number, *names, _sha256_in(results), _paths_in(results))
            after = rows[-1][0]


def _open(manifest: Path) -> sqlite3.Connection:
    """The file, for reading alone. One that is no manifest is refused."""
    connection = sqlite3.connect(f"{manifest.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
    try:
        columns = {row[1] for row in connection.execute("pragma table_info(artifact_jobs)")}
    except sqlite3.DatabaseError as error:
        connection.close()
        raise Refused(f"{manifest} cannot be read as a SQLite database: {error}.") from error
    missing = {"job_id", "work_id", "artifact_id", "canonical_url", "state"} - columns
    if missing:
        connection.close()
        message = f"{manifest} is no manifest of the document: artifact_jobs lacks {', '.join(sorted(missing))}."
        raise Refused(message, hint="A list as CSV or JSON Lines is taken in by: haulwright doc import FILE")
    return connection


def _sha256_in(results: list[dict[str, Any]]) -> str | None:
    """The hash that all operations of a job agree on."""
    hashes = {str(result["sha256"]).lower() for result in results if result.get("sha256")}
    sha256 = hashes.pop() if len(hashes) == 1 else ""
    return sha256 if _SHA256.fullmatch(sha256) else None


def _paths_in(results: list[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(str(result[name]) for result in results for name in _PATHS if isinstance(result.get(name), str))
