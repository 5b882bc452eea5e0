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

from haulwright.apps.documents.artifacts import Artifact
from haulwright.apps.documents.errors import Truncated, WrongKind
from haulwright.apps.documents.folders import gone
from haulwright.apps.documents.identity import bare_url
from haulwright.apps.documents.indexing import put_into_index
from haulwright.apps.documents.kinds import check_kind
from haulwright.apps.documents.reading import Reading, read_text
from haulwright.client.context import Context
from haulwright.client.transaction import Tx
from haulwright.engine.outcome import Skip
from haulwright.engine.stages import DOCUMENTS
from haulwright.errors import HaulwrightError
from haulwright.sources.download import adownload, alook, orphans
from haulwright.sources.download.errors import disk_errors
from haulwright.sources.http import Http

if TYPE_CHECKING:
    from haulwright.apps.documents.application import Documents

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
class Came:
    """A file that arrived whole."""

    code: str
    sha256: str
    bytes: int
    resumed_from: int


@dataclass(frozen=True, slots=True)
class Filed:
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

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._folders = documents.folders

    async def run(self, ctx: Context, artifact: str) -> StoredFile | Skip:
        """Bring one artefact into the store, or find that its content is there already."""
        wanted = await asyncio.to_thread(self._begin, ctx, artifact)
        first = await asyncio.to_thread(self._known_already, wanted)
        if first is not None:
            await ctx.acommit("DEDUPE", self._write_known, wanted, first)
            return _skip(first)
        came = await self._bring(ctx, wanted)
        filed = await self._file(ctx, wanted, came)
        if filed.first != wanted.key:
            return _skip(filed.first)
        place = self._folders.place(wanted.tenant, filed.sha256)
        read = await read_text(place, filed.kind, self._documents.figures)
        return await ctx.acommit("INDEX", self._write_indexed, wanted, came, filed, read, settle=True)

    def _begin(self, ctx: Context, artifact: str) -> Artifact:
        self._folders.prepare()
        return self._documents.artifacts.get(ctx.job.tenant, artifact)

    def _known_already(self, wanted: Artifact) -> str | None:
        """The artefact that brought this content before, where the manifest says what the content is."""
        if wanted.expected_sha256 is None:
            return None
        known = self._documents.artifacts.file(wanted.tenant, wanted.expected_sha256)
        if known is None or known.missing_at is not None or known.key == wanted.key:
            return None
        return known.key if self._folders.has(wanted.tenant, known.sha256) else None

    async def _bring(self, ctx: Context, wanted: Artifact) -> Came:
        """Ask, then stream: what arrives is in the staging, whole and verified."""
        async with self._documents.hosts.open(wanted.url) as http:
            head = await ctx.aeffect("HEAD", _look, http, wanted.url, key="HEAD")
            await ctx.astage("HEAD_DONE", DOCUMENTS)
            if head.resumable:
                await ctx.astage("RESUME_OK", DOCUMENTS)
            await ctx.astage("STREAMING", DOCUMENTS)
            has = partial(self._folders.has_anywhere, wanted.tenant)
            return await ctx.aeffect(
                "STREAM", self._stream, ctx, http, wanted, head, key="STREAM", verify=lambda came: has(came.sha256)
            )

    async def _stream(self, ctx: Context, http: Http, wanted: Artifact, head: Head) -> Came:
        folder = self._folders.staging(wanted.tenant)
        async with self._told(ctx, wanted, head.bytes or wanted.expected_bytes or 0):
            done = await adownload(
                http,
                wanted.url,
                folder,
                owner=ctx.job.key,
                expected_sha256=wanted.expected_sha256,
                expected_bytes=wanted.expected_bytes,
                limits=self._documents.hosts.limits,
            )
        return Came("OK", done.sha256, done.bytes, done.resumed_from)

    @asynccontextmanager
    async def _told(self, ctx: Context, wanted: Artifact, total: int) -> AsyncIterator[None]:
        """Say how far the download is, for as long as it takes."""
        folder = self._folders.staging(wanted.tenant)

        async def tell() -> None:
            while True:
                await asyncio.sleep(LOOK_SECONDS)
                with suppress(HaulwrightError, OSError):  # the download hears of it as well
                    parts = await asyncio.to_thread(orphans, folder, idle_seconds=float("-inf"))
                    arrived = max((part.bytes for part in parts if part.job_id == ctx.job.id), default=0)
                    await ctx.aprogress(arrived, max(total, arrived, 1), wanted.name)

        telling = asyncio.ensure_future(tell())
        try:
            yield
        finally:
            telling.cancel()
            await asyncio.wait([telling])

    async def _file(self, ctx: Context, wanted: Artifact, came: Came) -> Filed:
        """Move the file to its place, then write down whose it is: the first that brings a content has it."""
        tenant, sha256 = wanted.tenant, came.sha256
        has = partial(self._folders.has, tenant, sha256)
        kind = await asyncio.to_thread(self._checked, wanted, came)
        await ctx.aeffect(
            "FINALIZE",
            self._finalize,
            tenant,
            sha256,
            key=f"FINALIZE:{sha256}",
            recover=lambda _: {"code": "OK", "sha256": sha256} if has() else None,
            verify=lambda _: has(),
        )
        return await ctx.acommit(f"DEDUPE:{sha256}", self._write_filed, wanted, came, kind)

    def _checked(self, wanted: Artifact, came: Came) -> str:
        """The kind of what arrived. What was not asked for is thrown away, so that another run fetches it anew."""
        staged = self._folders.staged(wanted.tenant, came.sha256)
        path = staged if staged.exists() else self._folders.place(wanted.tenant, came.sha256)
        try:
            return check_kind(path, wanted.name, wanted.expected_kind)
        except FileNotFoundError:
            raise gone(came.sha256) from None
        except (WrongKind, Truncated):
            self._folders.discard(wanted.tenant, came.sha256)
            raise

    def _finalize(self, tenant: str, sha256: str) -> dict[str, str]:
        with disk_errors():
            self._folders.finalize(tenant, sha256)
        return {"code": "OK", "sha256": sha256}

    def _write_known(self, tx: Tx, wanted: Artifact, first: str) -> None:
        self._write_duplicate(tx, wanted, wanted.expected_sha256 or "", first)

    def _write_filed(self, tx: Tx, wanted: Artifact, came: Came, kind: str) -> Filed:
        row = {"tenant": wanted.tenant, "sha256": came.sha256, "key": wanted.key, "bytes": came.bytes, "kind": kind}
        words = {"source": bare_url(wanted.url), "title": wanted.title or wanted.name}
        ((first,),) = self._documents.tables.on(tx).run("files.put", **row, **words)
        if first == wanted.key:
            tx.stage("FINALIZED", DOCUMENTS)
        else:
            self._write_duplicate(tx, wanted, came.sha256, first)
        return Filed(came.sha256, kind, first)

    def _write_duplicate(self, tx: Tx, wanted: Artifact, sha256: str, first: str) -> None:
        tx.stage("SKIPPED_DUPLICATE", DOCUMENTS)
        self._end(tx, wanted, sha256, "SKIPPED_DUPLICATE", first)

    def _write_indexed(self, tx: Tx, wanted: Artifact, came: Came, filed: Filed, read: Reading) -> StoredFile:
        """Put the file into the index; one that says the same as another is not found twice."""
        made = put_into_index(self._documents.tables.on(tx), wanted, filed.sha256, read)
        tx.stage(made.outcome, DOCUMENTS)
        self._end(tx, wanted, filed.sha256, made.outcome, made.first)
        return StoredFile(filed.sha256, came.bytes, filed.kind, made.title, made.outcome, made.same_as)

    def _end(self, tx: Tx, wanted: Artifact, sha256: str, outcome: str, duplicate_of: str | None) -> None:
        writing, whose = self._documents.tables.on(tx), {"tenant": wanted.tenant, "key": wanted.key}
        writing.run("artifacts.end", **whose, sha256=sha256, outcome=outcome, duplicate_of=duplicate_of)
        writing.run("files.forget_lost", **whose, sha256=sha256)


async def _look(http: Http, url: str) -> Head:
    hint = await alook(http, url)
    return Head("OK", hint.bytes, hint.content_type, hint.resumable)


def _skip(first: str) -> Skip:
    return Skip(f"duplicate of {first}")
