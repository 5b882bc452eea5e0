"""From an error to what a person or a program reads, and the exit code."""

from __future__ import annotations

import traceback
from typing import Any

import click

from haulwright.cli.kit.exits import Exit
from haulwright.cli.kit.output import write
from haulwright.errors import HaulwrightError
from haulwright.redaction import redact
from haulwright.visible import visible_json

NO_ARGUMENTS: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())
"""A group without a verb. Older versions of click print its help themselves."""


def code_of(error: Exception, *, as_json: bool, debug: bool) -> int:
    """Tell an error on stderr (what and why, then the next step) and return its exit code."""
    if isinstance(error, NO_ARGUMENTS) and not as_json:
        write(error.format_message(), err=True)  # nobody did anything wrong: this is the help that was meant
        return Exit.REFUSED
    if debug:
        write(redact("".join(traceback.format_exception(error))), err=True, newline=False)
    name, message, hint, code = _facts(error)
    envelope = {"code": name, "message": redact(message), "hint": redact(hint)}
    if as_json:
        write(visible_json({"error": envelope}), err=True)
        return code
    write(f"Error: {envelope['message']}", err=True)
    if hint:
        write(f"  {envelope['hint']}", err=True)
    return code


def _facts(error: Exception) -> tuple[str, str, str, int]:
    match error:
        case HaulwrightError():
            return error.code, error.message, error.hint, error.exit_code
        case click.UsageError():
            command = error.ctx.command_path if error.ctx else "haulwright"
            message = "Missing command." if isinstance(error, NO_ARGUMENTS) else error.format_message()
            return "usage", message, f"See: {command} --help", Exit.REFUSED
        case click.ClickException():
            return "usage", error.format_message(), "", Exit.REFUSED
        case click.Abort():
            return "interrupted", "Interrupted.", "", Exit.INTERRUPTED
        case _:
            hint = "This was not foreseen. Run again with --debug for the traceback."
            return "unexpected", f"{type(error).__name__}: {error}", hint, Exit.FAILED
