"""One document, from its address to its place: asked for, streamed, verified, filed, read and indexed.

Every step is in the ledger before the stage says so, and none is done twice: a run that follows a crash finds what was
done, proves that it still holds, and goes on from there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from haulwright import Context, HaulwrightError, Skip, Tx
from haulwright.apps.documents.artifacts import Artifact
from haulwright.apps.documents.errors import Truncated, WrongKind
from haulwright.apps.documents.folders import staged_file_gone
from haulwright.apps.documents.identity import bare_url
from haulwright.apps.documents.indexing import put_into_index
from haulwright.apps.documents.kinds import check_kind
from haulwright.apps.documents.reading import Reading, read_text
from haulwright.apps.documents.stages import DOCUMENT_STAGES
from haulwright.sources.download import Downloaded, adownload, alook, orphans
from haulwright.sources.download.errors import disk_errors
from haulwright.sources.http import Http

if TYPE_CHECKING:
    from haulwright.application import Tables
    from haulwright.apps.documents.artifacts import Artifacts
    from haulwright.apps.documents.folders import Folders
    from haulwright.apps.documents.hosts import Hosts
    from haulwright.apps.documents.settings import DocumentSettings

LOOK_SECONDS: Final = 2.0
"""How often a download says how far it is."""


@dataclass(frozen=True, slots=True)
class Head:
    """What the server says of the file. It is a hint; only what arrives is believed."""

    code: str
    bytes: int | None
    content_type: str
    resumable: bool


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A file that arrived whole."""

    code: str
    sha256: str
    bytes: int
    resumed_from: int


@dataclass(frozen=True, slots=True)
class FiledContent:
    """A file that is in its place, and whose it is."""

    sha256: str
    kind: str
    first: str
    """The key of the artefact that brought this content first."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """The result of a job: a document that can be found."""

    sha256: str
    bytes: int
    kind: str
    title: str
    outcome: str
    same_as: str | None = None
    """The hash of an earlier file with the same text."""


class Fetch:
    """The task `documents.fetch`."""

    def __init__(
        self, tables: Tables, artifacts: Artifacts, folders: Folders, hosts: Hosts, figures: DocumentSettings
    ) -> None:
        self._tables = tables
        self._artifacts = artifacts
        self._folders = folders
        self._hosts = hosts
        self._figures = figures

    async def run(self, ctx: Context, artifact: str) -> StoredFile | Skip:
        """Bring one artefact into the store, or find that its content is there already."""
        target = await asyncio.to_thread(self._begin, ctx, artifact)
        first = await asyncio.to_thread(self._find_duplicate, target)
        if first is not None:
            await ctx.acommit("DEDUPE", self._write_expected_duplicate, target, first, key=target.key)
            return _skip(first)
        staged_file = await self._bring(ctx, target)
        content = await self._file(ctx, target, staged_file)
        if content.first != target.key:
            return _skip(content.first)
        place = self._folders.place(target.tenant, content.sha256)
        reading = await read_text(place, content.kind, self._figures)
        return await ctx.acommit("INDEX", self._write_indexed, target, staged_file, content, reading, settle=True)

    def _begin(self, ctx: Context, key: str) -> Artifact:
        self._folders.prepare()
        return self._artifacts.get(ctx.job.tenant, key)

    def _find_duplicate(self, target: Artifact) -> str | None:
        """The artefact that brought this content before, where the manifest says what the content is."""
        if target.expected_sha256 is None:
            return None
        file = self._artifacts.file(target.tenant, target.expected_sha256)
        if file is None or file.missing_at is not None or file.key == target.key:
            return None
        return file.key if self._folders.has(target.tenant, file.sha256) else None

    async def _bring(self, ctx: Context, target: Artifact) -> StagedFile:
        """Ask, then stream: what arrives is in the staging, whole and verified."""
        async with self._hosts.open(target.url) as http:
            head = await ctx.aeffect("HEAD", _look, http, target.url, key="HEAD")
            await ctx.astage("HEAD_DONE", DOCUMENT_STAGES)
            if head.resumable:
                await ctx.astage("RESUME_OK", DOCUMENT_STAGES)
            await ctx.astage("STREAMING", DOCUMENT_STAGES)
            has = partial(self._folders.has_anywhere, target.tenant)
            return await ctx.aeffect(
                "STREAM",
                self._stream,
                ctx,
                http,
                target,
                head,
                key="STREAM",
                verify=lambda staged_file: has(staged_file.sha256),
            )

    async def _stream(self, ctx: Context, http: Http, target: Artifact, head: Head) -> StagedFile:
        folder = self._folders.staging(target.tenant)
        async with self._report_progress(ctx, target, head.bytes or target.expected_bytes or 0):
            download = await adownload(
                http,
                target.url,
                folder,
                owner=ctx.job.key,
                expected_sha256=target.expected_sha256,
                expected_bytes=target.expected_bytes,
                limits=self._hosts.limits,
            )
        await self._check_length(http, target, head, download)
        return StagedFile("OK", download.sha256, download.bytes, download.resumed_from)

    async def _check_length(self, http: Http, target: Artifact, head: Head, download: Downloaded) -> None:
        """Throw away what is shorter than it was announced, unless it is the announcement that changed since.

        A length or hash of the manifest was compared already, and counts for more.
        """
        is_verified = target.expected_sha256 is not None or target.expected_bytes is not None
        if is_verified or head.bytes is None or download.bytes >= head.bytes:
            return
        announced = (await alook(http, target.url)).bytes
        if announced is None or download.bytes >= announced:
            return
        await asyncio.to_thread(self._folders.discard, target.tenant, download.sha256)
        message = f"{target.name}: {download.bytes} bytes came, and the server announces {announced}."
        raise Truncated(
            message, hint="Where the server is wrong about that, give the document its bytes or its sha256."
        )

    @asynccontextmanager
    async def _report_progress(self, ctx: Context, target: Artifact, total: int) -> AsyncIterator[None]:
        """Say how far the download is, for as long as it takes."""
        folder = self._folders.staging(target.tenant)

        async def report() -> None:
            while True:
                await asyncio.sleep(LOOK_SECONDS)
                with suppress(HaulwrightError, OSError):  # the download hears of it as well
                    parts = await asyncio.to_thread(orphans, folder, idle_seconds=float("-inf"))
                    arrived = max((part.bytes for part in parts if part.job_id == ctx.job.id), default=0)
                    await ctx.aprogress(arrived, max(total, arrived, 1), target.name)

        reporter = asyncio.ensure_future(report())
        try:
            yield
        finally:
            reporter.cancel()
            await asyncio.wait([reporter])

    async def _file(self, ctx: Context, target: Artifact, staged_file: StagedFile) -> FiledContent:
        """Move the file to its place, then write down whose it is: the first that brings a content has it."""
        tenant, sha256 = target.tenant, staged_file.sha256
        has = partial(self._folders.has, tenant, sha256)
        kind = await asyncio.to_thread(self._check_kind, target, staged_file)
        await ctx.aeffect(
            "FINALIZE",
            self._finalize,
            tenant,
            sha256,
            key=f"FINALIZE:{sha256}",
            recover=lambda _: {"code": "OK", "sha256": sha256} if has() else None,
            verify=lambda _: has(),
        )
        return await ctx.acommit(f"DEDUPE:{sha256}", self._write_filed, target, staged_file, kind, key=sha256)

    def _check_kind(self, target: Artifact, staged_file: StagedFile) -> str:
        """The kind of what arrived. What was not asked for is thrown away, so that another run fetches it anew."""
        staged = self._folders.staged(target.tenant, staged_file.sha256)
        path = staged if staged.exists() else self._folders.place(target.tenant, staged_file.sha256)
        try:
            return check_kind(path, target.name, target.expected_kind)
        except FileNotFoundError:
            raise staged_file_gone(staged_file.sha256) from None
        except (WrongKind, Truncated):
            self._folders.discard(target.tenant, staged_file.sha256)
            raise

    def _finalize(self, tenant: str, sha256: str) -> dict[str, str]:
        with disk_errors():
            self._folders.finalize(tenant, sha256)
        return {"code": "OK", "sha256": sha256}

    def _write_expected_duplicate(self, tx: Tx, target: Artifact, first: str) -> None:
        self._write_duplicate(tx, target, target.expected_sha256 or "", first)

    def _write_filed(self, tx: Tx, target: Artifact, staged_file: StagedFile, kind: str) -> FiledContent:
        row = {
            "tenant": target.tenant,
            "sha256": staged_file.sha256,
            "key": target.key,
            "bytes": staged_file.bytes,
            "kind": kind,
        }
        origin = {"source": bare_url(target.url), "title": target.title or target.name}
        ((first,),) = self._tables.on(tx).run("files.put", **row, **origin)
        if first == target.key:
            tx.stage("FINALIZED", DOCUMENT_STAGES)
        else:
            self._write_duplicate(tx, target, staged_file.sha256, first)
        return FiledContent(staged_file.sha256, kind, first)

    def _write_duplicate(self, tx: Tx, target: Artifact, sha256: str, first: str) -> None:
        tx.stage("SKIPPED_DUPLICATE", DOCUMENT_STAGES)
        self._end(tx, target, sha256, "SKIPPED_DUPLICATE", first)

    def _write_indexed(
        self, tx: Tx, target: Artifact, staged_file: StagedFile, content: FiledContent, reading: Reading
    ) -> StoredFile:
        """Put the file into the index; one that says the same as another is not found twice."""
        entry = put_into_index(self._tables.on(tx), target, content.sha256, reading)
        tx.stage(entry.outcome, DOCUMENT_STAGES)
        self._end(tx, target, content.sha256, entry.outcome, entry.first)
        return StoredFile(content.sha256, staged_file.bytes, content.kind, entry.title, entry.outcome, entry.same_as)

    def _end(self, tx: Tx, target: Artifact, sha256: str, outcome: str, duplicate_of: str | None) -> None:
        writing, artifact_key = self._tables.on(tx), {"tenant": target.tenant, "key": target.key}
        writing.run("artifacts.end", **artifact_key, sha256=sha256, outcome=outcome, duplicate_of=duplicate_of)
        writing.run("files.forget_lost", **artifact_key, sha256=sha256)
        writing.run("operations.keep", tenant=target.tenant, job_key=tx.job_key)


async def _look(http: Http, url: str) -> Head:
    hint = await alook(http, url)
    return Head("OK", hint.bytes, hint.content_type, hint.resumable)


def _skip(first: str) -> Skip:
    return Skip(f"duplicate of {first}")
