"""Arguments of a task that a person typed: words on a command line, fields of a form."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from haulwright.engine.payload import DEPTH_LIMIT
from haulwright.errors import InvalidPayload

if TYPE_CHECKING:
    from haulwright.client.arguments import Signature

MOST_DIGITS: Final = 4_000


def read_arguments(signature: Signature, texts: Mapping[str, str]) -> dict[str, Any]:
    """The values of texts by name, as JSON where that fits the signature, else as text.

    JSON that fits and cannot be stored stays what it is, to be refused: as text it would be another value.
    """
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
        signature.validate_plain(values)
    except InvalidPayload as refusal:
        return refusal
    return None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant, parse_int=_integer)
    except RecursionError:
        return _too_deep()
    except ValueError:
        return text


def _refuse_constant(_word: str) -> None:
    """NaN and Infinity are no JSON: they are text here."""
    raise ValueError


def _integer(digits: str) -> float:
    """A number; one of more digits than Python reads is beyond all that can be stored."""
    return int(digits) if len(digits) <= MOST_DIGITS else math.inf


def _too_deep() -> list[Any]:
    """A value in place of one that cannot be read to its end: as deep, as far as anybody looks."""
    value: list[Any] = []
    for _ in range(DEPTH_LIMIT):
        value = [value]
    return value
