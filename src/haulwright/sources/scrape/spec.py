"""How a listing is read: what an item is and where its fields stand, checked once and refused early."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, Final, TypeVar

from haulwright.extras import needs_extra

with needs_extra("http", "Reading a page"):
    from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from haulwright.errors import InvalidValue
from haulwright.sources.scrape.json_path import parse_path
from haulwright.sources.tools.money import DECIMALS

FORMATS: Final = ("html", "json")
KINDS: Final = ("text", "url", "money", "int", "date", "bool")
MARKS: Final = (".", ",")
MOST_FIELDS: Final = 100

_TEXTS: Final = ("select", "attribute", "regex", "type", "currency", "decimal_mark", "format", "item", "next_page")
_TYPES: Final[Mapping[str, type]] = {**dict.fromkeys(_TEXTS, str), "required": bool, "version": int, "max_items": int}
_TYPE_NAMES: Final[Mapping[type, str]] = {str: "text", bool: "true or false", int: "a whole number"}
_EMPTY_PAGE: Final = LexborHTMLParser("")
_Spec = TypeVar("_Spec", "FieldSpec", "ListingSpec")


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSpec:
    """One field of a record."""

    select: str = "."
    """A CSS selector or JSON path within the item; a single dot is the item itself."""
    attribute: str | None = None
    """The attribute of the element (HTML); without one, its text."""
    regex: str | None = None
    """What of the text is meant: the first group, else the whole match. For a bool: whether it matches."""
    type: str = "text"
    required: bool = False
    """An item without it is rejected."""
    default: Any = None
    """The value when there is none."""
    currency: str | None = None
    """The currency of the source (money)."""
    decimal_mark: str | None = None
    """Its decimal mark (money); without one, an amount that could be read in two ways is rejected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingSpec:
    """A listing: where its items stand, what they consist of, and where it goes on."""

    format: str
    item: str
    """A CSS selector or JSON path that leads to every item."""
    fields: Mapping[str, FieldSpec]
    next_page: str | None = None
    """A selector of the link to the next page, or the path of its address."""
    version: int = 1
    """Of these rules. Kept beside every record, so that one can tell what was read by which rules."""
    max_items: int = 1_000
    """Items of one page; the rest is left out with a warning."""

    @classmethod
    def from_toml(cls, text: str) -> ListingSpec:
        """Return the specification that a TOML document describes, or refuse it saying what is wrong where."""
        try:
            return cls.from_dict(tomllib.loads(text))
        except tomllib.TOMLDecodeError as fault:
            raise InvalidValue("listing", text[:60], f"is no TOML: {fault}") from fault

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> ListingSpec:
        """Return the specification that a mapping describes, or refuse it saying what is wrong where."""
        if not isinstance(table.get("fields"), Mapping) or not 1 <= len(table["fields"]) <= MOST_FIELDS:
            raise InvalidValue("fields", table.get("fields"), f"must be a table of 1 to {MOST_FIELDS} fields")
        field_specs = {name: _make(FieldSpec, field, f"fields.{name}") for name, field in table["fields"].items()}
        spec = _make(ListingSpec, {**table, "fields": field_specs}, "listing")
        _check(spec)
        return spec


def _make(kind: Callable[..., _Spec], table: Any, where: str) -> _Spec:
    """Return a specification from its table; a word that is not known is answered with the one that was meant."""
    if not isinstance(table, Mapping):
        raise InvalidValue(where, table, "must be a table", hint='Write, for example, {select = "h2"}.')
    options = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]  # both are dataclasses
    for word, value in table.items():
        if word not in options:
            raise _unknown(where, word, options)
        if (expected := _TYPES.get(word)) is not None and type(value) is not expected:
            raise InvalidValue(f"{where}.{word}", value, f"must be {_TYPE_NAMES[expected]}")
    if missing := [word for word, field in options.items() if field.default is MISSING and word not in table]:
        raise InvalidValue(where, sorted(table), f"lacks {missing[0]!r}")
    return kind(**table)


def _check(spec: ListingSpec) -> None:
    """Refuse what cannot be read by: a word for no format, a selector, path or regex that is none."""
    _one_of("listing.format", spec.format, FORMATS)
    _place("listing.item", spec.item, spec.format)
    if spec.next_page is not None:
        _place("listing.next_page", spec.next_page, spec.format)
    if spec.max_items < 1:
        raise InvalidValue("listing.max_items", spec.max_items, "must be at least 1")
    for name, field in spec.fields.items():
        where = f"fields.{name}"
        _place(f"{where}.select", field.select, spec.format)
        _one_of(f"{where}.type", field.type, KINDS)
        if field.currency is not None:
            _one_of(f"{where}.currency", field.currency, tuple(DECIMALS))
        if field.decimal_mark is not None:
            _one_of(f"{where}.decimal_mark", field.decimal_mark, MARKS)
        if field.attribute is not None and spec.format != "html":
            raise InvalidValue(f"{where}.attribute", field.attribute, "is only for HTML")
        _regex(f"{where}.regex", field.regex)


def _place(what: str, written: str, form: str) -> None:
    """Refuse what is no selector or path."""
    if form == "json":
        parse_path(written, what=what)
    elif written != ".":
        try:
            _EMPTY_PAGE.css(written)
        except SelectolaxError as fault:
            raise InvalidValue(what, written, "is no CSS selector", hint="Write one such as li.offer > h2.") from fault


def _regex(what: str, written: str | None) -> None:
    """Refuse what is no regular expression."""
    try:
        re.compile(written or "")
    except re.error as fault:
        raise InvalidValue(what, written, f"is no regular expression: {fault}") from fault


def _one_of(what: str, word: str, choices: tuple[str, ...]) -> None:
    """Refuse a word that is not among those that are known."""
    if word not in choices:
        raise InvalidValue(what, word, "is not known", hint=_meant(word, choices))


def _unknown(where: str, word: str, choices: Mapping[str, object]) -> InvalidValue:
    """Return the error for an option that does not exist."""
    return InvalidValue(where, word, "is no option here", hint=_meant(word, tuple(choices)))


def _meant(word: str, choices: tuple[str, ...]) -> str:
    """Return the word that was probably meant, else all of them."""
    close = difflib.get_close_matches(str(word), choices, n=1)
    return f"Did you mean {close[0]!r}?" if close else f"Known are: {', '.join(choices)}."
