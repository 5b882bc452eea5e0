"""Indexing: what a file says is put where a search finds it, once for each content."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from haulwright.apps.documents.artifacts import Artifact, File
from haulwright.apps.documents.reading import Reading, read_text
from haulwright.apps.documents.words import words_of
from haulwright.client.context import Context
from haulwright.client.transaction import Tx
from haulwright.engine.keys import digest
from haulwright.engine.outcome import Skip

if TYPE_CHECKING:
    from haulwright.application.tables import Tables, Writing
    from haulwright.apps.documents.artifacts import Artifacts
    from haulwright.apps.documents.folders import Folders
    from haulwright.apps.documents.settings import DocumentSettings

SHORTEST_TEXT_CHARS: Final = 200
"""Shorter texts are the same by accident."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """A file as the index has it."""

    title: str
    outcome: Literal["INDEXED", "DEDUPED"]
    same_as: str | None
    """The hash of an earlier file with the same text."""
    first: str | None
    """The key of the artefact that brought that one."""


class SearchIndex:
    """The task `documents.index`: for a file that documents point to and whose own job ended before it was indexed."""

    def __init__(self, tables: Tables, artifacts: Artifacts, folders: Folders, figures: DocumentSettings) -> None:
        self._tables = tables
        self._artifacts = artifacts
        self._folders = folders
        self._figures = figures

    async def run(self, ctx: Context, sha256: str) -> Indexed | Skip:
        """Read one file that is in its place, and have it found."""
        tenant = ctx.job.tenant
        file = await asyncio.to_thread(self._artifacts.file, tenant, sha256)
        if file is None or file.indexed_at is not None:
            return Skip("there is nothing to index any more")
        place = self._folders.place(tenant, sha256)
        if not await asyncio.to_thread(place.is_file):
            return Skip("the file is not in its place")
        wanted = await asyncio.to_thread(self._artifacts.get, tenant, file.key)
        read = await read_text(place, file.kind, self._figures)
        return await ctx.acommit("INDEX", self._write, wanted, file, read, settle=True)

    def _write(self, tx: Tx, wanted: Artifact, file: File, read: Reading) -> Indexed:
        writing = self._tables.on(tx)
        made = put_into_index(writing, wanted, file.sha256, read)
        whose = {"tenant": wanted.tenant, "key": wanted.key, "sha256": file.sha256}
        writing.run("artifacts.reindexed", **whose, outcome=made.outcome, duplicate_of=made.first)
        return made


def put_into_index(writing: Writing, wanted: Artifact, sha256: str, read: Reading) -> Indexed:
    """Put the file into the index; one that says the same as another is not found twice."""
    content = {"tenant": wanted.tenant, "sha256": sha256}
    title = wanted.title or read.title or wanted.name
    said = _text_digest(read)
    twins = writing.run("files.with_text", **content, text_sha256=said) if said else []
    same_as, first = twins[0] if twins else (None, None)
    writing.run(
        "files.index",
        **content,
        title=title,
        text=read.text or None,
        text_sha256=said,
        text_problem=read.problem,
        same_as=same_as,
        words=words_of(f"{title} {wanted.name} {read.text}"),
    )
    return Indexed(title, "INDEXED" if same_as is None else "DEDUPED", same_as, first)


def _text_digest(read: Reading) -> str | None:
    """By what a text is known to be the same as another; None where that cannot be told."""
    words = " ".join(read.text.split())
    return digest(words) if read.is_whole and len(words) >= SHORTEST_TEXT_CHARS else None
