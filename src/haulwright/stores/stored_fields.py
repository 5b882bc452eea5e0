"""The fields of JSON objects that stand in rows. What a newer version added is told apart from what is broken."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from haulwright.engine.payload import read_json


def fields_of(what: str, text: str, known: Collection[str], required: Collection[str] = ()) -> dict[str, Any]:
    """The fields of an object that this version knows; ValueError says what of it cannot be read."""
    return check_fields(what, read_json(text, dict), known, required)


def check_fields(what: str, fields: Any, known: Collection[str], required: Collection[str] = ()) -> dict[str, Any]:
    """The same for a value that was read already."""
    if not isinstance(fields, dict):
        message = f"{what} is no JSON object"
        raise ValueError(message)  # noqa: TRY004 - of the row, not of the call
    if unknown := sorted(fields.keys() - set(known)):
        message = f"{what} has fields that this version does not know: {', '.join(unknown)}"
        raise ValueError(message)
    if missing := sorted(set(required) - fields.keys()):
        message = f"{what} lacks {', '.join(missing)}"
        raise ValueError(message)
    return fields
