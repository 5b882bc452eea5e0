"""Values as PostgreSQL reads them in bulk: a column as an array, a row as a line of COPY."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from haulwright.stores.connection import Parts, Row

_COPY_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_COPY_SPECIAL = re.compile(r"[\\\n\r]")


def array(values: Sequence[Any]) -> str:
    """A column as the literal of an array. The driver's own way asks every element for its type, which costs more."""
    if values and values[0] == values[-1] and values.count(values[0]) == len(values):  # most columns of most batches
        return f"{{{','.join([_element(values[0])] * len(values))}}}"
    return f"{{{','.join([_element(value) for value in values])}}}"


def _element(value: Any) -> str:
    if value is None:
        return "NULL"
    if not isinstance(value, str):
        return str(value)
    if "\\" in value or '"' in value:
        value = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{value}"'


def copy_lines(rows: Iterable[Parts]) -> Iterator[str]:
    """Rows as lines of the text that COPY reads. What a row has in common with the one before is not written anew."""
    last: Row | None = None
    end = ""
    for own, common in rows:
        if common is not last:
            last, end = common, "".join(["\t" + _copy_fields(common) if common else "", "\n"])
        yield _copy_fields(own) + end


def _copy_fields(values: Sequence[Any]) -> str:
    """Part of a line. Few have anything to escape: one look tells.

    A NUL stands for null meanwhile, for no text of PostgreSQL holds one.
    """
    line = "\t".join([value if type(value) is str else "\0" if value is None else str(value) for value in values])
    if _COPY_SPECIAL.search(line) or line.count("\t") >= len(values) or line.count("\0") > values.count(None):
        return "\t".join(map(_copy_field, values))
    return line.replace("\0", "\\N")


def _copy_field(value: Any) -> str:
    if isinstance(value, str):
        return value.translate(_COPY_ESCAPES)
    return "\\N" if value is None else str(value)
