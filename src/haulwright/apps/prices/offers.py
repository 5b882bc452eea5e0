"""Offers: what a listing says, exact, or a reason why it cannot be used. Nothing is guessed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from haulwright.apps.prices.rules import OWN_FIELDS, Rules
from haulwright.errors import InvalidValue
from haulwright.sources.tools.money import DECIMALS, Money, parse_money
from haulwright.sources.tools.urls import canonical_url

LONGEST_TITLE_CHARS: Final = 1_000
LONGEST_ID_CHARS: Final = 200
LONGEST_VALUE_CHARS: Final = 200
MOST_ATTRIBUTES: Final = 30
LARGEST_MINOR: Final = 10**15

_UNSTORABLE: Final = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
"""Characters that no text is kept with: controls, and halves of a character."""


class Unusable(Exception):
    """A listing that cannot become a price point; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One listing as its source says it."""

    external_id: str | None
    url: str | None
    """In its one form."""
    title: str
    minor: int
    """The price in the smallest unit of the currency."""
    currency: str
    price_type: str
    sold_on: str | None
    """The day of the sale, where it is one and says when."""
    attributes: dict[str, str]


def storable(text: str, longest: int) -> str:
    """The beginning of a text from outside, as every database can keep it."""
    return _UNSTORABLE.sub("", text[:longest])


def read_offer(rules: Rules, record: Mapping[str, Any], today: str) -> Offer:
    """The offer that a record of a listing is; raises Unusable with the reason where it is none."""
    title, external_id, url = _title(record), _external_id(record), _url(rules, record)
    if external_id is None and url is None:
        raise Unusable("neither an id nor an address tells it from others")
    word = record.get("price_type")
    kind = rules.kind(None if word is None else str(word))
    if kind is None:
        raise Unusable(f"price_type: {str(word)[:60]!r} is no kind of price that is known")
    money = _money(rules, record)
    sold_on = _day(record, today) if kind == "sold" else None
    return Offer(external_id, url, title, money.minor, money.currency, kind, sold_on, _attributes(record))


def _title(record: Mapping[str, Any]) -> str:
    text = str(record["title"])
    if len(text) > LONGEST_TITLE_CHARS:
        raise Unusable(f"title: it has more than {LONGEST_TITLE_CHARS} characters")
    title = storable(text, LONGEST_TITLE_CHARS).strip()
    if not title:
        raise Unusable("title: it has nothing to read in it")
    return title


def _external_id(record: Mapping[str, Any]) -> str | None:
    value = record.get("id")
    if value is None:
        return None
    text = str(value)
    if len(text) > LONGEST_ID_CHARS or not text.isprintable():
        raise Unusable(f"id: it is not of 1 to {LONGEST_ID_CHARS} printable characters")
    return text


def _url(rules: Rules, record: Mapping[str, Any]) -> str | None:
    value = record.get("url")
    if value is None:
        return None
    try:
        return canonical_url(str(value), keep=rules.keep_params, drop=rules.drop_params)
    except InvalidValue as refusal:
        raise Unusable(f"url: {refusal.why}") from None


def _money(rules: Rules, record: Mapping[str, Any]) -> Money:
    """The price, in the currency that the listing names, else in that of its source."""
    text, code = str(record["price"]), record.get("currency")
    currency = rules.money.currency if code is None else str(code).strip().upper()
    if currency is not None and currency not in DECIMALS:
        raise Unusable(f"currency: {currency[:20]!r} is not known")
    try:
        money = parse_money(text, currency=currency, decimal_mark=rules.money.decimal_mark)
    except InvalidValue as refusal:
        raise Unusable(f"price: {text[:60]!r} {refusal.why}") from None
    if not 0 < money.minor <= LARGEST_MINOR:
        raise Unusable(f"price: {text[:60]!r} is no price of anything")
    return money


def _day(record: Mapping[str, Any], today: str) -> str | None:
    """The day of a sale in UTC; one that has not come yet is no day of a sale."""
    moment = record.get("date")
    if not isinstance(moment, datetime):
        return None
    day = moment.astimezone(UTC).date().isoformat()
    if day > today:
        raise Unusable(f"date: {day} is in the future")
    return day


def _attributes(record: Mapping[str, Any]) -> dict[str, str]:
    """Everything else that it says, to be compared."""
    attributes = {name: str(value) for name, value in record.items() if name not in OWN_FIELDS and value is not None}
    return {name: storable(value, LONGEST_VALUE_CHARS) for name, value in list(attributes.items())[:MOST_ATTRIBUTES]}
