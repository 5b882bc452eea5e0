"""Reads the books of SQL: files of named statements, the same names and parameters in both dialects.

A statement is written as it could be run by hand: `-- name: claim` above it, parameters as `:name`. A few entries of
the SQLite books are short lists of statements; they run in order, in the transaction of the caller. An entry that is
the same on both databases stands once, in `shared/`; it reads the clock as `haulwright_now(:now)`.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from haulwright.errors import InvalidValue

Entry = tuple[str, ...]
"""The statements of one named entry."""

SHARED = "shared"
"""The folder of what both dialects read, beside those of each."""
_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_PARAMETER = re.compile(r"(?<![:\w]):([a-z]\w*)")
_COMMENT = re.compile(r"^\s*--.*$", re.MULTILINE)
_CLOCK = "haulwright_now(:now)"


@cache
def book(package: str, dialect: str, noun: str) -> dict[str, Entry]:
    """The entries of one noun in one dialect, ready for the driver: the shared ones, and its own."""
    paths = [files(package) / folder / "books" / f"{noun}.sql" for folder in (SHARED, dialect)]
    texts = [path.read_text("utf-8") for path in paths if path.is_file()]
    if not texts:
        raise FileNotFoundError(str(paths[-1]))
    entries: dict[str, Entry] = {}
    for text in texts:
        parts = _NAME.split(text)[1:]
        for name, body in zip(parts[0::2], parts[1::2], strict=True):
            if name in entries:
                why = f"is twice in the books of {package} for {dialect}"
                hint = f"It stands in {SHARED}/, or once in the book of each database."
                raise InvalidValue("entry", f"{noun}.{name}", why, hint=hint)
            entries[name] = _statements(body, dialect)
    return entries


def _statements(body: str, dialect: str) -> Entry:
    bare = _COMMENT.sub("", body)
    pieces = [piece.strip() for piece in bare.split(";\n") if piece.strip(" \n;")]
    return tuple(_for_driver(piece.rstrip(";"), dialect) for piece in pieces)


def _for_driver(statement: str, dialect: str) -> str:
    if dialect == "sqlite":
        return statement.replace(_CLOCK, ":now")  # what the connection binds: this host's time
    return _PARAMETER.sub(r"%(\1)s", statement.replace("%", "%%"))
