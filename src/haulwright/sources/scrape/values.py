"""Text to values: exact, or a reason why not."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

from haulwright.errors import InvalidValue
from haulwright.sources.scrape.spec import FieldSpec
from haulwright.sources.tools.dates import read_date
from haulwright.sources.tools.money import Money, parse_money
from haulwright.sources.tools.urls import absolute_url

Value = str | int | bool | datetime | Money | None

LONGEST_CHARS: Final = 10_000
LARGEST_INT: Final = 2**63 - 1

_INT: Final = re.compile(r"([+-]?)([0-9]+|[0-9]{1,3}(?:[., '\u2019][0-9]{3})+)")
_BOOLS: Final = {
    **dict.fromkeys(("true", "yes", "1", "on"), True),
    **dict.fromkeys(("false", "no", "0", "off"), False),
}  # fmt: skip


class Unreadable(Exception):
    """A value that is there and cannot be read as what it should be."""


def read_value(field: FieldSpec, raw: str | None, base: str | None) -> Value:
    """Return the value of a field from the text that was found, None if there is none; raise Unreadable otherwise."""
    text = None if raw is None else " ".join(raw[:LONGEST_CHARS].split())
    if text is not None and field.regex is not None and field.type != "bool":
        match = re.search(field.regex, text)
        text = (match[1] if match.re.groups else match[0]) if match else None
    if not text:
        return None
    return _convert(field, text, base)


def _convert(field: FieldSpec, text: str, base: str | None) -> Value:
    """Return the text as a value of the field's type."""
    match field.type:
        case "url":
            return _url(text, base)
        case "money":
            return _money(text, field)
        case "int":
            return _int(text)
        case "date":
            return _date(text)
        case "bool":
            return _bool(text, field.regex)
        case _:
            return text


def _url(text: str, base: str | None) -> str:
    """Return the absolute address."""
    if (address := absolute_url(text, base)) is None:
        raise Unreadable(f"{text[:60]!r} leads to no http address")
    return address


def _money(text: str, field: FieldSpec) -> Money:
    """Return the amount and its currency."""
    try:
        return parse_money(text, currency=field.currency, decimal_mark=field.decimal_mark)
    except InvalidValue as refusal:
        raise Unreadable(f"{text[:60]!r} {refusal.why}") from refusal


def _int(text: str) -> int:
    """Return the whole number, with or without its thousands marks."""
    match = _INT.fullmatch(text)
    if match is None or abs(number := int(match[1] + re.sub("[^0-9]", "", match[2][:30]))) > LARGEST_INT:
        raise Unreadable(f"{text[:60]!r} is no whole number")
    return number


def _date(text: str) -> datetime:
    """Return the moment in UTC."""
    moment, why = read_date(text)
    if moment is None:
        raise Unreadable(why or "there is no date")
    return moment


def _bool(text: str, regex: str | None) -> bool:
    """Return whether the text matches, or the answer that it is."""
    if regex is not None:
        return re.search(regex, text) is not None
    if text.lower() not in _BOOLS:
        raise Unreadable(f"{text[:60]!r} is neither true nor false")
    return _BOOLS[text.lower()]
