"""From an error to what a person or a program reads, and the exit code."""

from __future__ import annotations

import traceback

import click

from haulwright.cli.kit.exits import Exit
from haulwright.cli.kit.output import write
from haulwright.errors import HaulwrightError
from haulwright.redaction import redact
from haulwright.visible import visible_json


def code_of(error: Exception, *, as_json: bool, debug: bool) -> int:
    """Tell an error on stderr (what and why, then the next step) and return its exit code."""
    if debug:
        write(redact("".join(traceback.format_exception(error))), err=True, newline=False)
    name, message, hint, code = _facts(error)
    told = {"code": name, "message": redact(message), "hint": redact(hint)}
    if as_json:
        write(visible_json({"error": told}), err=True)
        return code
    write(f"Error: {told['message']}", err=True)
    if hint:
        write(f"  {told['hint']}", err=True)
    return code


def _facts(error: Exception) -> tuple[str, str, str, int]:
    match error:
        case HaulwrightError():
            return error.code, error.message, error.hint, error.exit_code
        case click.UsageError():
            asked = error.ctx.command_path if error.ctx else "haulwright"
            return "usage", error.format_message(), f"See: {asked} --help", Exit.REFUSED
        case click.ClickException():
            return "usage", error.format_message(), "", Exit.REFUSED
        case click.Abort():
            return "interrupted", "Interrupted.", "", Exit.INTERRUPTED
        case _:
            hint = "This was not foreseen. Run again with --debug for the traceback."
            return "unexpected", f"{type(error).__name__}: {error}", hint, Exit.FAILED
