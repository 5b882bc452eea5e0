"""What a look at the installation found: how each thing stands, and what to do where it is not well."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from haulwright.errors import HaulwrightError

Level = Literal["ok", "warn", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; sentence and next step are those of an error's message and hint."""

    check: str
    level: Level
    sentence: str
    next_step: str = ""


def ok(check: str, sentence: str) -> Finding:
    """All is well."""
    return Finding(check, "ok", sentence)


def warn(check: str, sentence: str, next_step: str = "") -> Finding:
    """It works, and should be known."""
    return Finding(check, "warn", sentence, next_step)


def problem(check: str, sentence: str, next_step: str = "") -> Finding:
    """It does not work."""
    return Finding(check, "problem", sentence, next_step)


def examine(check: str, look: Callable[[], Iterable[Finding]]) -> list[Finding]:
    """Look at one thing; an error on the way is itself a finding."""
    try:
        return list(look())
    except HaulwrightError as error:
        return [problem(check, error.message, error.hint)]


def has_problem(findings: Iterable[Finding]) -> bool:
    """Whether something does not work."""
    return any(finding.level == "problem" for finding in findings)
