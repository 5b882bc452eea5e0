"""What a look at the installation found: how each thing stands, and what to do where it is not well."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

import click

from penstock.cli.output import Table
from penstock.errors import PenstockError

if TYPE_CHECKING:
    from penstock.cli.output import Out

Level = Literal["ok", "warn", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

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


def ask(check: str, look: Callable[[], Sequence[Finding]]) -> list[Finding]:
    """Look at one thing; an error on the way is itself a finding."""
    try:
        return list(look())
    except PenstockError as error:
        return [problem(check, error.message, error.hint)]


def show(out: Out, found: Sequence[Finding]) -> None:
    """Tell all findings, the next step below each that needs one."""
    problems = sum(one.level == "problem" for one in found)
    rows: list[tuple[str, str, str]] = []
    for one in found:
        rows.append((one.level, one.check, one.sentence))
        rows += [("", "", f"  next: {one.next_step}")] if one.next_step else []
    document = {"findings": [asdict(one) for one in found], "problems": problems}
    out.show(document, Table(("level", "check", "finding"), rows))


def leave_by(found: Sequence[Finding], code: int) -> None:
    """End with this code where a problem was found."""
    if any(one.level == "problem" for one in found):
        click.get_current_context().exit(code)
