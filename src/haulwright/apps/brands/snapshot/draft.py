"""What a compiler is asked for, and what it hands back: statements that say what they rest on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from haulwright.apps.brands.evidence.bundle import Bundle
from haulwright.apps.brands.snapshot.features import FeatureReport

SECTIONS: Final = ("identity", "audience", "voice", "themes", "channels", "response")
"""What a snapshot speaks of, in this order."""


@dataclass(frozen=True, slots=True)
class CompileOrder:
    """What a compiler works from."""

    brand: str
    """The brand's name."""
    answers: Mapping[str, Any]
    """The onboarding answers, by question."""
    bundle: Bundle
    features: FeatureReport
    prompt_version: str = "v1"
    model: str | None = None
    """The model that was asked for, if any."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing said about a brand."""

    section: str
    subject: str
    """What it is about: two snapshots are compared by it."""
    text: str
    evidence: tuple[str, ...] = ()
    """The ids of the items that it rests on."""
    answers: tuple[str, ...] = ()
    """The questions whose answers it rests on."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a draft cost."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = 0.0
    """None where the price of the model is not known."""


@dataclass(frozen=True, slots=True)
class SnapshotDraft:
    """What a compiler made. A dataclass of plain values: an effect can record it."""

    compiler: str
    """The compiler that ran."""
    statements: tuple[Statement, ...]
    model: str | None = None
    """The model that answered; None where none was called."""
    prompt_version: str | None = None
    """The prompt that was sent; None where none was."""
    usage: Usage = Usage()
    left_out: int = 0
    """Items of the bundle that the model was not shown, for want of room."""
    unfounded: int = 0
    """Statements that were dropped because nothing that they cite exists."""
