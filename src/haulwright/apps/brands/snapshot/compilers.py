"""Compilers: who makes a draft of an order. The default speaks from the evidence alone and asks nobody."""

from __future__ import annotations

from typing import Final, Protocol

from haulwright.apps.brands.snapshot.draft import CompileOrder, SnapshotDraft, Statement, Usage
from haulwright.apps.brands.snapshot.extraction import statements
from haulwright.engine.names import check_name
from haulwright.errors import InvalidValue

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
    "register_compiler",
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


COMPILERS: Final[dict[str, Compiler]] = {EXTRACTIVE: ExtractiveCompiler()}
"""Those that are asked for by name; any other name is that of a model."""


def register_compiler(compiler: Compiler) -> None:
    """Add a compiler of your own, for `--model` with its name. Call it where your app is made."""
    check_name("compiler", compiler.name)
    if COMPILERS.setdefault(compiler.name, compiler) is not compiler:
        raise InvalidValue("compiler", compiler.name, "is there already", hint="Give it another name.")


def compiler_for(model: str | None, through_model: Compiler | None = None) -> Compiler:
    """Who makes the draft: the compiler of that name, else the one that calls a model, where there is one to call."""
    if model in COMPILERS:
        return COMPILERS[model]
    return COMPILERS[EXTRACTIVE] if model is None or through_model is None else through_model
