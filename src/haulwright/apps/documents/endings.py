"""How a document ends in the database: what its artefact came to, and whose its content is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haulwright import Skip, Tx
from haulwright.apps.documents.identity import bare_url
from haulwright.apps.documents.stages import DOCUMENT_STAGES_AT_ONCE

if TYPE_CHECKING:
    from haulwright.application import Writing
    from haulwright.apps.documents.artifacts import Artifact


def put_file(writing: Writing, target: Artifact, sha256: str, size: int, kind: str) -> str:
    """Put a file on record, and return the key of the artefact that brought its content first."""
    row = {"tenant": target.tenant, "sha256": sha256, "key": target.key, "bytes": size, "kind": kind}
    origin = {"source": bare_url(target.url), "title": target.title or target.name}
    ((first,),) = writing.run("files.put", **row, **origin)
    return str(first)


def write_duplicate(writing: Writing, tx: Tx, target: Artifact, sha256: str, first: str) -> None:
    """End an artefact whose content another one brought first."""
    tx.stage("SKIPPED_DUPLICATE", DOCUMENT_STAGES_AT_ONCE)
    end_artifact(writing, target, sha256, "SKIPPED_DUPLICATE", first)


def end_artifact(writing: Writing, target: Artifact, sha256: str, outcome: str, duplicate_of: str | None) -> None:
    """Write down what an artefact came to."""
    artifact_key = {"tenant": target.tenant, "key": target.key}
    writing.run("artifacts.end", **artifact_key, sha256=sha256, outcome=outcome, duplicate_of=duplicate_of)
    writing.run("files.forget_lost", **artifact_key, sha256=sha256)


def skip_duplicate(first: str) -> Skip:
    """How the job of a duplicate ends."""
    return Skip(f"duplicate of {first}")
