"""A small document: its steps are done at once and recorded together, in the one transaction that ends its job.

Before that nothing is in the ledger: what the steps do beside it is one request and one file under the hash of its
content, and both are as well done again. So a run that follows a crash begins anew, and costs one more request.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from haulwright import Context, Skip, Throttled, Tx
from haulwright.apps.documents.artifacts import Artifact
from haulwright.apps.documents.endings import end_artifact, put_file, skip_duplicate, write_duplicate
from haulwright.apps.documents.indexing import IndexText, put_into_index
from haulwright.apps.documents.kinds import PDF, check_kind
from haulwright.apps.documents.reading import read_body, read_text
from haulwright.apps.documents.results import FiledContent, Head, StagedFile, StoredFile
from haulwright.apps.documents.stages import DOCUMENT_STAGES_AT_ONCE
from haulwright.client.ledger_keys import COMMIT
from haulwright.engine.keys import JobKey, effect_key
from haulwright.sources.download import part_path, part_subject
from haulwright.sources.download.errors import disk_errors

if TYPE_CHECKING:
    from haulwright.application import Tables, Writing
    from haulwright.apps.documents.folders import Folders
    from haulwright.apps.documents.settings import DocumentSettings
    from haulwright.clock import Instant
    from haulwright.sources.download import SmallFile
    from haulwright.stores.effects import EffectRow

STEPS: Final = ("HEAD", "STREAM", "FINALIZE")


class _StoredBefore(Exception):
    """Another artefact has brought this content: nothing of this transaction counts."""


@dataclass(frozen=True, slots=True)
class _FiledFile:
    """A small file in its place, and what becomes of it in the database."""

    sha256: str
    bytes: int
    kind: str
    head: Head
    operations: dict[str, str]
    """The keys of its steps in the ledger, by their names."""
    job_id: str
    started_at: Instant


class SmallFiles:
    """Files small documents."""

    def __init__(self, tables: Tables, folders: Folders, figures: DocumentSettings) -> None:
        self._tables = tables
        self._folders = folders
        self._figures = figures

    async def file(self, ctx: Context, target: Artifact, small_file: SmallFile) -> StoredFile | Skip:
        """Put a file that arrived whole into its place, and have it found."""
        kind, text = await asyncio.to_thread(self._put, ctx, target, small_file)
        if text is None:
            place = self._folders.place(target.tenant, small_file.sha256)
            reading = await read_text(place, kind, self._figures)
            text = await asyncio.to_thread(IndexText.of, target, reading)
        keys = {step: ctx.key_for(step, key=f"{step}:{small_file.sha256}") for step in STEPS}
        keys["DEDUPE"] = _commit_key(ctx, small_file.sha256)
        size, head = len(small_file.body), Head.of(small_file.hint)
        filed = _FiledFile(small_file.sha256, size, kind, head, keys, ctx.job.id, ctx.job.leased_at)
        try:
            return await ctx.acommit("INDEX", self._write, target, filed, text, settle=True)
        except _StoredBefore:
            name, sha256 = f"DEDUPE:{filed.sha256}", filed.sha256
            content = await ctx.acommit(name, self._write_duplicate, target, filed, key=sha256)
            return skip_duplicate(content.first)

    @staticmethod
    def began(first_effect: EffectRow) -> bool:
        """Whether the run with this first record did not go step by step: such a one looked for the file before."""
        return first_effect.name.startswith(f"{COMMIT}DEDUPE")

    def _put(self, ctx: Context, target: Artifact, small_file: SmallFile) -> tuple[str, IndexText | None]:
        """Write the file, look at its kind, and read it where that needs no process of its own."""
        tenant, sha256 = target.tenant, small_file.sha256
        part = part_path(self._folders.staging(tenant), part_subject(target.url, target.expected_sha256), ctx.job.key)
        check = partial(check_kind, name=target.name, expected=target.expected_kind)
        with disk_errors():
            kind = self._folders.put(tenant, sha256, small_file.body, part, check)
        return kind, None if kind == PDF else IndexText.of(target, read_body(small_file.body, kind))

    def _write(self, tx: Tx, target: Artifact, filed: _FiledFile, text: IndexText) -> StoredFile:
        writing = self._tables.on(tx)
        first = put_file(writing, target, filed.sha256, filed.bytes, filed.kind)
        if first != target.key:
            raise _StoredBefore
        entry = put_into_index(writing, target.tenant, filed.sha256, text)
        tx.stage(entry.outcome, DOCUMENT_STAGES_AT_ONCE)
        self._record(writing, target, filed, first)
        end_artifact(writing, target, filed.sha256, entry.outcome, entry.first)
        return StoredFile(filed.sha256, filed.bytes, filed.kind, entry.title, entry.outcome, entry.same_as)

    def _write_duplicate(self, tx: Tx, target: Artifact, filed: _FiledFile) -> FiledContent:
        """What this comes to step by step, in the same form: a later run may go that way."""
        writing = self._tables.on(tx)
        first = put_file(writing, target, filed.sha256, filed.bytes, filed.kind)
        if first == target.key:
            message = f"The document that brought {filed.sha256} first is gone. This one takes its place."
            raise Throttled(message, after=1.0, gate="staging")
        self._record(writing, target, filed, first)
        write_duplicate(writing, tx, target, filed.sha256, first)
        return FiledContent(filed.sha256, filed.kind, first)

    def _record(self, writing: Writing, target: Artifact, filed: _FiledFile, first: str) -> None:
        """Write down what the steps came to, as the ledger would have it."""
        results: dict[str, dict[str, Any]] = {
            "HEAD": asdict(filed.head),
            "STREAM": asdict(StagedFile("OK", filed.sha256, filed.bytes, 0)),
            "FINALIZE": {"code": "OK", "sha256": filed.sha256},
            "DEDUPE": asdict(FiledContent(filed.sha256, filed.kind, first)),
        }
        rows = [
            {"key": filed.operations[step], "name": step, "result": json.dumps(result)}
            for step, result in results.items()
        ]
        run = {"job_id": filed.job_id, "started_at": filed.started_at}
        writing.each("operations.put", rows, tenant=target.tenant, **run)


def _commit_key(ctx: Context, sha256: str) -> str:
    """The key that the commit of a duplicate has in the ledger: its operation is shown once."""
    return effect_key(JobKey(ctx.job.job_key), f"{COMMIT}DEDUPE:{sha256}", sha256)
