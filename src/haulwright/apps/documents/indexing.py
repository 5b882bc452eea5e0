"""Indexing: what a file says is put where a search finds it, once for each content."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from haulwright import Context, Skip, Tx
from haulwright.apps.documents.artifacts import Artifact, File
from haulwright.apps.documents.reading import Reading, read_text
from haulwright.apps.documents.tokenizer import tokenize
from haulwright.engine.keys import digest

if TYPE_CHECKING:
    from haulwright.application import Tables, Writing
    from haulwright.apps.documents.artifacts import Artifacts
    from haulwright.apps.documents.folders import Folders
    from haulwright.apps.documents.settings import DocumentSettings

SHORTEST_TEXT_CHARS: Final = 200
"""Shorter texts are the same by accident."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A file as the index has it."""

    title: str
    outcome: Literal["INDEXED", "DEDUPED"]
    same_as: str | None
    """The hash of an earlier file with the same text."""
    first: str | None
    """The key of the artefact that brought that one."""


@dataclass(frozen=True, slots=True)
class IndexText:
    """What of a file goes into the index. It is made before the transaction: nobody waits for long texts in there."""

    title: str
    text: str
    problem: str | None
    sha256: str | None
    """By what the text is known to be the same as another; None where that cannot be told."""
    words: list[str] = field(repr=False)

    @classmethod
    def of(cls, artifact: Artifact, reading: Reading) -> IndexText:
        """What was read of the file of an artefact."""
        title = artifact.title or reading.title or artifact.name
        words = tokenize(f"{title} {artifact.name} {reading.text}")
        return cls(title, reading.text, reading.problem, _text_digest(reading), words)


class SearchIndex:
    """The task `documents.index`: for a file that documents point to and whose own job ended before it was indexed."""

    def __init__(self, tables: Tables, artifacts: Artifacts, folders: Folders, figures: DocumentSettings) -> None:
        self._tables = tables
        self._artifacts = artifacts
        self._folders = folders
        self._figures = figures

    async def run(self, ctx: Context, sha256: str) -> IndexEntry | Skip:
        """Read one file that is in its place, and have it found."""
        tenant = ctx.job.tenant
        file = await asyncio.to_thread(self._artifacts.file, tenant, sha256)
        if file is None or file.indexed_at is not None:
            return Skip("there is nothing to index any more")
        place = self._folders.place(tenant, sha256)
        if not await asyncio.to_thread(place.is_file):
            return Skip("the file is not in its place")
        artifact = await asyncio.to_thread(self._artifacts.get, tenant, file.key)
        reading = await read_text(place, file.kind, self._figures)
        text = await asyncio.to_thread(IndexText.of, artifact, reading)
        return await ctx.acommit("INDEX", self._write, artifact, file, text, settle=True)

    def _write(self, tx: Tx, artifact: Artifact, file: File, text: IndexText) -> IndexEntry:
        writing = self._tables.on(tx)
        entry = put_into_index(writing, artifact.tenant, file.sha256, text)
        params = {"tenant": artifact.tenant, "key": artifact.key, "sha256": file.sha256}
        writing.run("artifacts.reindexed", **params, outcome=entry.outcome, duplicate_of=entry.first)
        return entry


def put_into_index(writing: Writing, tenant: str, sha256: str, text: IndexText) -> IndexEntry:
    """Put the file into the index; one that says the same as another is not found twice."""
    file_key = {"tenant": tenant, "sha256": sha256}
    twins = writing.run("files.with_text", **file_key, text_sha256=text.sha256) if text.sha256 else []
    same_as, first = twins[0] if twins else (None, None)
    writing.run(
        "files.index",
        **file_key,
        title=text.title,
        text=text.text or None,
        text_sha256=text.sha256,
        text_problem=text.problem,
        same_as=same_as,
        words=text.words,
    )
    return IndexEntry(text.title, "INDEXED" if same_as is None else "DEDUPED", same_as, first)


def _text_digest(reading: Reading) -> str | None:
    words = " ".join(reading.text.split())
    return digest(words) if reading.is_whole and len(words) >= SHORTEST_TEXT_CHARS else None
