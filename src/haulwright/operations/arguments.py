"""Arguments of a task that a person typed: words on a command line, fields of a form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from haulwright.errors import InvalidPayload

if TYPE_CHECKING:
    from haulwright.client.arguments import Signature


def read_arguments(signature: Signature, texts: Mapping[str, str]) -> dict[str, Any]:
    """The values of texts by name, as JSON where that fits the signature, else as text."""
    values = {name: _parsed(text) for name, text in texts.items()}
    while (refusal := _refusal(signature, values)) is not None:
        name = refusal.path.removeprefix("args.")
        if isinstance(values.get(name, ""), str):
            raise refusal
        values[name] = texts[name]  # it is text from here on, so no name comes here twice
        again = _refusal(signature, values)
        if again is not None and again.path == refusal.path:
            raise refusal  # not even the text fits: speak of the value that was meant
    return values


def _refusal(signature: Signature, values: dict[str, Any]) -> InvalidPayload | None:
    try:
        signature.dump_plain(values)
    except InvalidPayload as refusal:
        return refusal
    return None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except ValueError:
        return text


def _refuse_constant(_word: str) -> None:
    """NaN and Infinity are no JSON: they are text here."""
    raise ValueError
