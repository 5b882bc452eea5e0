"""Reads the books of SQL: files of named statements, the same names and parameters in both dialects.

A statement is written as it could be run by hand: `-- name: claim` above it, parameters as `:name`. A few entries of
the SQLite books are short lists of statements; they run in order, in the transaction of the caller.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

Entry = tuple[str, ...]
"""The statements of one named entry."""

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_PARAMETER = re.compile(r"(?<![:\w]):([a-z]\w*)")
_COMMENT = re.compile(r"^\s*--.*$", re.MULTILINE)


@cache
def book(package: str, dialect: str, noun: str) -> dict[str, Entry]:
    """The entries of one noun in one dialect, ready for the driver."""
    text = (files(package) / dialect / "books" / f"{noun}.sql").read_text("utf-8")
    parts = _NAME.split(text)[1:]
    names, bodies = parts[0::2], parts[1::2]
    return {name: _statements(body, dialect) for name, body in zip(names, bodies, strict=True)}


def _statements(body: str, dialect: str) -> Entry:
    bare = _COMMENT.sub("", body)
    pieces = [piece.strip() for piece in bare.split(";\n") if piece.strip(" \n;")]
    return tuple(_for_driver(piece.rstrip(";"), dialect) for piece in pieces)


def _for_driver(statement: str, dialect: str) -> str:
    if dialect == "sqlite":
        return statement
    return _PARAMETER.sub(r"%(\1)s", statement.replace("%", "%%"))
