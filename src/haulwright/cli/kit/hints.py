"""Hints that can be typed as they stand: with the app and the database that the command itself was given."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from haulwright.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Callable

APP_PLACEHOLDER = "MODULE:APP"
NOT_FOUND_HINTS = {"job": "See jobs with: haulwright job list"}
"""Where to look for what is not there, where the error does not say so itself."""
_COMMAND = re.compile(r"\bhaulwright (?P<word>[a-z]+)(?P<app> -A\b)?")
_NEED_APP = frozenset({"worker", "run"})


def typable(text: str, *, app: str | None, database: str | None, names_app: Callable[[], bool]) -> str:
    """A text whose commands carry the flags of this one; `names_app` says whether a setting names an app.

    The password of an address is not repeated: that one is left to be filled in.
    """

    def with_flags(command: re.Match[str]) -> str:
        flags: list[str] = []
        if command["app"] is None and app:
            flags += ["-A", shlex.quote(app)]
        elif command["app"] is None and command["word"] in _NEED_APP and not names_app():
            flags += ["-A", APP_PLACEHOLDER]
        if database:
            flags += ["--database", shlex.quote(redact(database))]
        return " ".join(["haulwright", *flags, command[0].removeprefix("haulwright ")])

    return _COMMAND.sub(with_flags, text)
