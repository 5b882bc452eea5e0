"""The stages of a document, from a planned address to an indexed file."""

from __future__ import annotations

from typing import Final

from haulwright import StageMachine

DOCUMENT_STAGES: Final = StageMachine(
    "documents",
    start="PLANNED",
    moves={
        "PLANNED": {"HEAD_DONE", "SKIPPED_DUPLICATE"},
        "HEAD_DONE": {"RESUME_OK", "STREAMING", "SKIPPED_DUPLICATE"},
        "RESUME_OK": {"STREAMING", "SKIPPED_DUPLICATE"},
        "STREAMING": {"FINALIZED", "SKIPPED_DUPLICATE"},
        "FINALIZED": {"INDEXED", "DEDUPED", "SKIPPED_DUPLICATE"},
    },
    final={"INDEXED", "DEDUPED", "SKIPPED_DUPLICATE"},
    failed="FAILED",
)
"""There is no stage for being leased: a lease is no progress."""

DOCUMENT_STAGES_AT_ONCE: Final = DOCUMENT_STAGES.in_one_step()
"""For a small document, whose steps are recorded together."""
