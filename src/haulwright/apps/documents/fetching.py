"""One document, from its address to its place: asked for, streamed, verified, filed, read and indexed.

Every step is in the ledger before the stage says so, and none is done twice: a run that follows a crash finds what was
done, proves that it still holds, and goes on from there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from haulwright import Context, HaulwrightError, Skip, Tx
from haulwright.apps.documents.artifacts import Artifact
from haulwright.apps.documents.endings import end_artifact, put_file, skip_duplicate, write_duplicate
from haulwright.apps.documents.errors import Truncated, WrongKind
from haulwright.apps.documents.folders import staged_file_gone
from haulwright.apps.documents.indexing import IndexText, put_into_index
from haulwright.apps.documents.kinds import check_kind
from haulwright.apps.documents.reading import read_text
from haulwright.apps.documents.results import FiledContent, Head, StagedFile, StoredFile
from haulwright.apps.documents.small import SmallFiles
from haulwright.apps.documents.stages import DOCUMENT_STAGES
from haulwright.sources.download import (
    Downloaded,
    SmallFile,
    adownload,
    alook,
    aread_small,
    has_part,
    hint_of,
    is_small,
    orphans,
    part_subject,
)
from haulwright.sources.download.errors import disk_errors
from haulwright.sources.download.ranges import IDENTITY
from haulwright.sources.http import Http, Stream

if TYPE_CHECKING:
    from haulwright.application import Tables
    from haulwright.apps.documents.artifacts import Artifacts
    from haulwright.apps.documents.folders import Folders
    from haulwright.apps.documents.hosts import Hosts
    from haulwright.apps.documents.settings import DocumentSettings

LOOK_SECONDS: Final = 2.0
"""How often a download says how far it is."""


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
        self._small_files = SmallFiles(tables, folders, figures)

    async def run(self, ctx: Context, artifact: str) -> StoredFile | Skip:
        """Bring one artefact into the store, or find that its content is there already."""
        target, is_fresh = await asyncio.to_thread(self._begin, ctx, artifact)
        first = await asyncio.to_thread(self._find_duplicate, target) if target.expected_sha256 else None
        if first is not None:
            await ctx.acommit("DEDUPE", self._write_expected_duplicate, target, first, key=target.key)
            return skip_duplicate(first)
        staged_file = await self._adopt(ctx, target)
        if staged_file is None:
            async with self._hosts.open(target.url) as http:
                arrival = await self._ask(ctx, target, http) if is_fresh else None
                if isinstance(arrival, SmallFile):
                    return await self._small_files.file(ctx, target, arrival)
                staged_file = arrival or await self._bring(ctx, target, http)
        content = await self._file(ctx, target, staged_file)
        if content.first != target.key:
            return skip_duplicate(content.first)
        place = self._folders.place(target.tenant, content.sha256)
        reading = await read_text(place, content.kind, self._figures)
        text = await asyncio.to_thread(IndexText.of, target, reading)
        return await ctx.acommit("INDEX", self._write_indexed, target, staged_file, content, text, settle=True)

    def _begin(self, ctx: Context, key: str) -> tuple[Artifact, bool]:
        """What is to be brought, and whether it is asked for anew: no earlier run began to bring it step by step."""
        self._folders.prepare()
        job, target = ctx.job, self._artifacts.get(ctx.job.tenant, key)
        if not self._figures.small_bytes:
            return target, False
        if job.fence == 1 and job.requeued_from is None:
            return target, True
        first = ctx.store.effects.of_job(job.tenant, job.job_key, limit=1)
        went_step_by_step = bool(first) and not SmallFiles.began(first[0])
        what = part_subject(target.url, target.expected_sha256)
        return target, not went_step_by_step and not has_part(self._folders.staging(job.tenant), what, job.key)

    def _find_duplicate(self, target: Artifact) -> str | None:
        """The artefact that brought this content before, where the manifest says what the content is."""
        if target.expected_sha256 is None:
            return None
        file = self._artifacts.file(target.tenant, target.expected_sha256)
        if file is None or file.missing_at is not None or file.key == target.key:
            return None
        return file.key if self._folders.has(target.tenant, file.sha256) else None

    async def _adopt(self, ctx: Context, target: Artifact) -> StagedFile | None:
        """The file that is expected, where it is here: brought from another store, or left by an earlier run."""
        has = partial(self._folders.has_anywhere, target.tenant)
        if target.expected_sha256 is None or not await asyncio.to_thread(has, target.expected_sha256):
            return None
        for stage in ("HEAD_DONE", "STREAMING"):
            await ctx.astage(stage, DOCUMENT_STAGES)
        return await ctx.aeffect("STREAM", self._adopted, target, key="STREAM", verify=lambda file: has(file.sha256))

    def _adopted(self, target: Artifact) -> StagedFile:
        sha256 = target.expected_sha256 or ""
        staged, place = self._folders.staged(target.tenant, sha256), self._folders.place(target.tenant, sha256)
        size = (staged if staged.exists() else place).stat().st_size
        return StagedFile("ADOPTED", sha256, size, resumed_from=size)

    async def _ask(self, ctx: Context, target: Artifact, http: Http) -> SmallFile | StagedFile | None:
        """Ask for the file itself, for its answer says what one to HEAD would. A small one is here with it.

        None where the answer does not say how long the file is, or what came is not what it should be.
        """
        async with http.astream(target.url, headers=IDENTITY, limits=self._hosts.limits) as answer:
            answer.raise_for_status()
            hint = hint_of(answer)
            if is_small(answer, hint, self._figures.small_bytes, target.expected_bytes):
                folder, sha256 = self._folders.staging(target.tenant), target.expected_sha256
                return await aread_small(answer, hint, target.url, folder, owner=ctx.job.key, expected_sha256=sha256)
            if hint.bytes is None:
                return None
            return await self._bring(ctx, target, http, answer)

    async def _bring(self, ctx: Context, target: Artifact, http: Http, answer: Stream | None = None) -> StagedFile:
        """Ask, then stream: what arrives is in the staging, whole and verified."""
        head = await ctx.aeffect("HEAD", _look, http, target.url, answer, key="HEAD")
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
            answer,
            key="STREAM",
            verify=lambda staged_file: has(staged_file.sha256),
        )

    async def _stream(
        self, ctx: Context, http: Http, target: Artifact, head: Head, answer: Stream | None
    ) -> StagedFile:
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
                answer=answer,
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
            recover=lambda _: self._find_finalized(tenant, sha256),
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

    def _find_finalized(self, tenant: str, sha256: str) -> dict[str, str] | None:
        """What a run that died came to, where the file is in its place; a copy that it still had waiting goes."""
        if not self._folders.has(tenant, sha256):
            return None
        self._folders.discard(tenant, sha256)
        return {"code": "OK", "sha256": sha256}

    def _write_expected_duplicate(self, tx: Tx, target: Artifact, first: str) -> None:
        self._write_duplicate(tx, target, target.expected_sha256 or "", first)

    def _write_filed(self, tx: Tx, target: Artifact, staged_file: StagedFile, kind: str) -> FiledContent:
        writing = self._tables.on(tx)
        first = put_file(writing, target, staged_file.sha256, staged_file.bytes, kind)
        if first == target.key:
            tx.stage("FINALIZED", DOCUMENT_STAGES)
        else:
            self._write_duplicate(tx, target, staged_file.sha256, first)
        return FiledContent(staged_file.sha256, kind, first)

    def _write_duplicate(self, tx: Tx, target: Artifact, sha256: str, first: str) -> None:
        writing = self._tables.on(tx)
        write_duplicate(writing, tx, target, sha256, first)
        writing.run("operations.keep", tenant=target.tenant, job_key=tx.job_key)

    def _write_indexed(
        self, tx: Tx, target: Artifact, staged_file: StagedFile, content: FiledContent, text: IndexText
    ) -> StoredFile:
        """Put the file into the index; one that says the same as another is not found twice."""
        writing = self._tables.on(tx)
        entry = put_into_index(writing, target.tenant, content.sha256, text)
        tx.stage(entry.outcome, DOCUMENT_STAGES)
        end_artifact(writing, target, content.sha256, entry.outcome, entry.first)
        writing.run("operations.keep", tenant=target.tenant, job_key=tx.job_key)
        return StoredFile(content.sha256, staged_file.bytes, content.kind, entry.title, entry.outcome, entry.same_as)


async def _look(http: Http, url: str, answer: Stream | None) -> Head:
    return Head.of(await alook(http, url) if answer is None else hint_of(answer))
