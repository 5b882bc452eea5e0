"""One file from its address to its place: resumed where it can be, verified always."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from haulwright.engine.job import LeaseKey
from haulwright.errors import Retryable
from haulwright.sources.download import ranges
from haulwright.sources.download.disk import content_path, holds, move_into_place
from haulwright.sources.download.errors import Corrupt, TakenOver, disk_errors
from haulwright.sources.download.parts import Part, Record, finished, forget_all, part_subject, take
from haulwright.sources.download.writer import PartWriter, off_loop
from haulwright.sources.http import Http, Limits, Stream

LARGEST_BYTES: Final = 64 * 1024**3
LIMITS: Final = Limits(total="24 h", body_bytes=LARGEST_BYTES, wire_bytes=LARGEST_BYTES)
"""A file is larger and takes longer than a page."""
FLUSH_BYTES: Final = 256 * 1024
FLUSH_SECONDS: Final = 1.0
"""What has arrived is in the part after so many bytes or seconds: a process that dies loses no more."""
MOST_WAITING_BYTES: Final = 4 * 1024 * 1024
"""While the disk is slower than the network, so much waits in memory, beside as much that is being written."""
OVERLAP_BYTES: Final = 1024
"""How much of what is there is asked for again, to see whether the rest belongs to it."""
_OK, _PARTIAL = 200, 206
_RANGE_REFUSED: Final = frozenset({304, 412, 416})


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A file that is in its place."""

    path: Path
    sha256: str
    bytes: int
    validator: str | None
    """The strong tag or date of this version, where the server gave one."""
    resumed_from: int
    """How many bytes were there from before and were kept."""
    wire_bytes: int
    """How many bytes of body arrived in this call."""


class _Doubtful(Exception):
    """The server's ranges cannot be trusted: what is there has to be fetched anew."""


async def adownload(  # noqa: PLR0913  what is wanted, each part with its name
    http: Http,
    url: str,
    folder: str | Path,
    *,
    owner: LeaseKey,
    expected_sha256: str | None = None,
    expected_bytes: int | None = None,
    headers: Mapping[str, str] | None = None,
    limits: Limits = LIMITS,
    answer: Stream | None = None,
) -> Downloaded:
    """Fetch a file into `folder/ab/cd/<sha256>`, going on where an earlier run of the same job stopped.

    `owner` is the lease of this run, `ctx.job.key` in a task. An error leaves what is good in the part, so that
    the next run resumes; only what proved wrong is thrown away. `answer` is one to a plain GET of the whole file,
    open already: it is taken where nothing is there to go on with.
    """
    order = DownloadOrder(Path(folder), url, owner, expected_sha256, expected_bytes)
    with disk_errors():
        there = await off_loop(order.already_there)
        if there is not None:
            return there
        part = await off_loop(order.take)
        try:
            return await _Fetch(http, order, part, dict(headers or {}), limits, answer).run()
        finally:
            part.close()


@dataclass(frozen=True, slots=True)
class DownloadOrder:
    """What is to be downloaded, and for whom."""

    folder: Path
    url: str
    owner: LeaseKey
    sha256: str | None
    length: int | None

    @property
    def what(self) -> str:
        """The content where it is known, so that a signed address may change between runs; else the address."""
        return part_subject(self.url, self.sha256)

    def record(self) -> Record:
        """The record of a part that nothing is known of yet."""
        parts = urlsplit(self.url)
        shown = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
        return Record(shown, self.owner.id)

    def take(self) -> Part:
        """The part to go on with."""
        return take(self.folder, self.what, self.owner, self.record())

    def already_there(self) -> Downloaded | None:
        """The file, if it is in its place already: another job's, or this one's before it could say so."""
        record = finished(self.folder, self.what, self.owner)
        sha256 = self.sha256 or (record.sha256 if record else None)
        if sha256 is None:
            return None
        path = content_path(self.folder, sha256)
        if not holds(path, sha256):
            return None
        forget_all(self.folder, self.what, self.owner)
        size = path.stat().st_size
        return Downloaded(path, sha256, size, record.validator if record else None, size, 0)


class _Fetch:
    """One call: at most one try with what is there, and one from the first byte."""

    def __init__(  # noqa: PLR0913, PLR0917 - as above
        self,
        http: Http,
        order: DownloadOrder,
        part: Part,
        headers: dict[str, str],
        limits: Limits,
        answer: Stream | None,
    ) -> None:
        self._http = http
        self._answer = answer
        self._order = order
        self._part = part
        self._headers = headers | ranges.IDENTITY
        self._limits = limits
        self._wire_bytes = 0
        self._kept_bytes = part.size

    async def run(self) -> Downloaded:
        """Fetch what is missing, verify all of it, and move it into place."""
        try:
            await self._fill()
            self._verify()
        except _Doubtful as doubt:
            if not self._kept_bytes:
                await off_loop(self._part.remove)
                raise Corrupt(f"{self._part.record.url}: {doubt}.") from None
            await self._restart(self._order.record())
            return await self.run()
        return await off_loop(self._finish)

    async def _fill(self) -> None:
        """Ask for what is missing, and add it to the part."""
        part = self._part
        if part.size and (part.size == part.record.total or part.record.sha256 == part.sha256):
            return
        if part.size and part.record.validator is None:
            await self._restart(self._order.record())
        answer, self._answer = self._answer, None
        if answer is not None and not part.size:
            await self._accept(answer, b"")
            return
        overlap = part.tail(min(OVERLAP_BYTES, part.size))
        headers = self._headers
        if part.size and part.record.validator:
            headers = headers | ranges.range_headers(part.size - len(overlap), part.record.validator)
        async with self._http.astream(self._order.url, headers=headers, limits=self._limits) as answer:
            await self._accept(answer, overlap)

    async def _accept(self, answer: Stream, overlap: bytes) -> None:
        """Look at what the server says it sends before anything is believed."""
        if answer.status in {_OK, _PARTIAL} and ranges.is_encoded(answer.headers):
            raise _Doubtful("the server compresses a file that was asked for as it is")
        if answer.status == _PARTIAL:
            span = self._checked_span(answer, self._part.size - len(overlap))
            if self._part.record.total is None and span.total is not None:
                await off_loop(self._part.note, replace(self._part.record, total=span.total))
            await self._receive(answer, overlap)
        elif answer.status == _OK:
            total = ranges.content_length(answer.headers)
            self._check_total(total)
            fresh = replace(self._order.record(), validator=ranges.strong_validator(answer.headers), total=total)
            await self._restart(fresh)
            await self._receive(answer, b"")
        elif answer.status in _RANGE_REFUSED and overlap:
            raise _Doubtful(f"the rest was refused with status {answer.status}")
        else:
            answer.raise_for_status()
            raise Corrupt(f"{self._part.record.url}: status {answer.status} is no answer to a download.")

    def _checked_span(self, answer: Stream, start: int) -> ranges.Span:
        """The part that a 206 holds, if it can be the rest of what is there."""
        span, record = ranges.content_span(answer.headers), self._part.record
        if span is None:
            raise _Doubtful("a partial answer does not say which part it is")
        if not self._part.size or span.start != start:
            raise _Doubtful(f"bytes from {start} were asked for, and the server sends them from {span.start}")
        if span.total != record.total and None not in {span.total, record.total}:
            raise _Doubtful(f"the file had {record.total} bytes and has {span.total} now")
        if ranges.content_length(answer.headers) not in {None, span.end - span.start}:
            raise _Doubtful("the length of a partial answer is not that of its range")
        if record.validator is None or not ranges.same_file(record.validator, answer.headers):
            raise _Doubtful("a part of another version was sent")
        return span

    def _check_total(self, total: int | None) -> None:
        expected = self._order.length
        if expected is not None and total is not None and total != expected:
            raise _Doubtful(f"{expected} bytes were expected and {total} are announced")

    async def _receive(self, answer: Stream, overlap: bytes) -> None:
        """Add the body to the part, after its beginning was compared with what is there."""
        writer = PartWriter(self._part)
        waiting: list[bytes] = []
        size, flushed = 0, time.monotonic()
        try:
            async for chunk in answer:
                self._wire_bytes += len(chunk)
                waiting.append(chunk)
                size += len(chunk)
                if overlap and size >= len(overlap):
                    beginning = b"".join(waiting)
                    if not beginning.startswith(overlap):
                        raise _Doubtful("the server sends other bytes than those that are there")
                    waiting, size, overlap = [beginning[len(overlap) :]], size - len(overlap), b""
                due = size >= FLUSH_BYTES or time.monotonic() - flushed >= FLUSH_SECONDS
                if due and not overlap and (writer.is_idle or size >= MOST_WAITING_BYTES):
                    await writer.write(waiting)
                    waiting, size, flushed = [], 0, time.monotonic()
        finally:
            try:
                if waiting and not overlap:
                    await writer.write(waiting)
            finally:  # also where the write before failed: nobody may close the part under a sync
                await writer.drain()

    async def _restart(self, record: Record) -> None:
        self._kept_bytes = 0
        await off_loop(self._part.restart, record)

    def _verify(self) -> None:
        """Compare what is there with what the server and the caller say it is."""
        part, total = self._part, self._part.record.total
        if total is not None and part.size < total:
            raise Retryable(
                f"{part.record.url}: {part.size} of {total} bytes arrived. The next run goes on from there."
            )
        if total is not None and part.size > total:
            raise _Doubtful(f"{part.size} bytes arrived where {total} were announced")
        if self._order.length not in {None, part.size}:
            raise _Doubtful(f"{part.size} bytes arrived where {self._order.length} were expected")
        if self._order.sha256 not in {None, part.sha256}:
            raise _Doubtful(f"the file has the hash {part.sha256} and should have {self._order.sha256}")

    def _finish(self) -> Downloaded:
        """Move the part to where its content belongs. The record says so first, for a crash in between."""
        part = self._part
        part.record = replace(part.record, sha256=part.sha256)
        part.sync()
        path = content_path(self._order.folder, part.sha256)
        try:
            move_into_place(part.path, path)
        except FileNotFoundError as error:
            raise TakenOver(f"The part {part.path.name} belongs to a later run.") from error
        part.remove()
        return Downloaded(path, part.sha256, part.size, part.record.validator, self._kept_bytes, self._wire_bytes)
