"""Compilers: who makes a draft of an order. The default speaks from the evidence alone and asks nobody."""

from __future__ import annotations

from typing import Final, Protocol

from haulwright.apps.brands.snapshot.draft import CompileOrder, SnapshotDraft, Statement, Usage
from haulwright.apps.brands.snapshot.extraction import statements

EXTRACTIVE: Final = "extractive"

__all__ = [
    "EXTRACTIVE",
    "CompileOrder",
    "Compiler",
    "ExtractiveCompiler",
    "SnapshotDraft",
    "Statement",
    "Usage",
    "compiler_for",
]


class Compiler(Protocol):
    """Makes drafts. Call it inside `ctx.aeffect(..., key="draft")`: a run that is repeated does not pay again."""

    name: str

    async def acompile(self, order: CompileOrder) -> SnapshotDraft:
        """A draft of which every statement cites items or answers of the order."""
        ...


class ExtractiveCompiler:
    """Draws statements from answers, computed facts and the items themselves."""

    name = EXTRACTIVE

    async def acompile(self, order: CompileOrder) -> SnapshotDraft:
        """The same draft for the same order, at no cost."""
        return SnapshotDraft(self.name, tuple(statements(order)))


def compiler_for(model: str | None, through_model: Compiler | None = None) -> Compiler:
    """Who makes the draft: what `model_compiler(app)` gave, where a model was asked for and there is one to call."""
    if model in (None, EXTRACTIVE) or through_model is None:
        return ExtractiveCompiler()
    return through_model
