"""Money as shops write it, exact and never guessed: what can mean two amounts or two currencies is refused."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from haulwright.errors import InvalidValue

LONGEST_CHARS: Final = 100
MOST_DIGITS: Final = 15

DECIMALS: Final = {
    "AED": 2, "AUD": 2, "BGN": 2, "BRL": 2, "CAD": 2, "CHF": 2, "CNY": 2, "CZK": 2, "DKK": 2, "EUR": 2, "GBP": 2,
    "HKD": 2, "HUF": 2, "IDR": 2, "ILS": 2, "INR": 2, "MXN": 2, "MYR": 2, "NOK": 2, "NZD": 2, "PHP": 2, "PLN": 2,
    "RON": 2, "RSD": 2, "RUB": 2, "SAR": 2, "SEK": 2, "SGD": 2, "THB": 2, "TRY": 2, "TWD": 2, "UAH": 2, "USD": 2,
    "ZAR": 2,
    "CLP": 0, "ISK": 0, "JPY": 0, "KRW": 0, "VND": 0,
    "BHD": 3, "JOD": 3, "KWD": 3, "OMR": 3, "TND": 3,
}  # fmt: skip
"""The currencies that are known, and how many decimals each has."""

SIGNS: Final = {
    "US$": ("USD",), "CA$": ("CAD",), "C$": ("CAD",), "AU$": ("AUD",), "A$": ("AUD",), "NZ$": ("NZD",), "HK$": ("HKD",),
    "S$": ("SGD",), "R$": ("BRL",), "MX$": ("MXN",), "NT$": ("TWD",), "€": ("EUR",), "£": ("GBP",), "₹": ("INR",),
    "₽": ("RUB",), "₩": ("KRW",), "₺": ("TRY",), "₴": ("UAH",), "₪": ("ILS",), "zł": ("PLN",), "Kč": ("CZK",),
    "Ft": ("HUF",), "Fr.": ("CHF",), "kr": ("SEK", "NOK", "DKK", "ISK"), "¥": ("JPY", "CNY"),
    "$": ("USD", "CAD", "AUD", "NZD", "HKD", "SGD", "MXN", "TWD", "CLP"),
}  # fmt: skip
"""What a sign can stand for. A plain dollar is the first of its list; the others of several need a stated currency."""

HINT: Final = "State the currency and the decimal mark of the source, or cut the amount out with a regex."

_CODE: Final = re.compile(r"(?<![A-Za-z])[A-Z]{3}(?![A-Za-z])")
_SIGN: Final = re.compile(
    "|".join(
        (r"(?<![^\W\d_])" if sign[0].isalpha() else "")
        + re.escape(sign)
        + (r"(?![^\W\d_])" if sign[-1].isalpha() else "")
        for sign in SIGNS
    )
)
_NUMBER: Final = re.compile(r"(?:(?<![^\W_])[.,](?=[0-9]))?[0-9]+(?:[.,' ][0-9]+)*")
"""A mark before the first digit is the decimal one, unless it ends an abbreviation: .50, but Rs.500."""
_NO_MINOR: Final = re.compile(r"(?<=[0-9])[.,](?:-{1,2}|=)(?![0-9])")
_SCALED: Final = re.compile(
    r"\s?(?:[km]|mn|mio|bn|mrd|million|thousand|%|[pc](?!\$)|¢|cts?|cents?|pence|pfg?|[øö]re)(?![^\W\d_])",
    re.IGNORECASE,
)
"""Thousands and millions, hundredths (50p, 50 ct), and parts of something else: none of them is the amount."""
_MINUS: Final = re.compile(r"(?:^|[^\w,.])-\s?(?:[^\W\d_]{1,3}|[^\w\s])?\s?$")
_SIGNED: Final = re.compile(r"^\(.*\)$|\bminus\b|[0-9]-(?![0-9\w])", re.IGNORECASE)
"""What accounts write for less than nothing, in brackets or with the minus behind, and others for something else."""
_GROUPED: Final = re.compile(r"[0-9]+|[0-9]{1,3}(?:([.,' ])[0-9]{3})(?:\1[0-9]{3})*|[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}")
_UNIFIED: Final = str.maketrans("\u2018\u2019\u0060\u2212\u2013\u2014\u066b\u066c", "'''---,.")
"""One apostrophe, one minus, and the Arabic marks: what looks alike means the same."""


@dataclass(frozen=True, slots=True)
class Money:
    """An exact amount of one currency."""

    amount: Decimal
    """In the currency's unit, with exactly its decimals: Decimal("12.50")."""
    currency: str
    """ISO 4217."""

    @property
    def minor(self) -> int:
        """The amount in the smallest unit: cents, pence, yen."""
        return int(self.amount.scaleb(DECIMALS[self.currency]))


def parse_money(text: str, *, currency: str | None = None, decimal_mark: str | None = None) -> Money:
    """Return the one amount that a text speaks of; raise InvalidValue where it speaks of none, several or any of two.

    `currency` and `decimal_mark` say what is known of the source; a text that contradicts the currency is refused.
    """
    written = " ".join(unicodedata.normalize("NFKC", text[: 2 * LONGEST_CHARS]).translate(_UNIFIED).split())
    if len(written) > LONGEST_CHARS:
        raise _refusal(text, "is too long for a price")
    plain = _NO_MINOR.sub("", written)
    unit = _currency(plain, currency, text)
    numbers = list(_NUMBER.finditer(plain))
    if len(numbers) != 1:
        raise _refusal(text, "has several numbers" if numbers else "has no number")
    number = numbers[0]
    if _SCALED.match(plain, number.end()) or _SIGNED.search(plain) or "¢" in plain:
        raise _refusal(text, "is no plain amount")
    amount = _amount(number[0], DECIMALS[unit], decimal_mark, text)
    return Money(-amount if _MINUS.search(plain[: number.start()]) else amount, unit)


def _currency(written: str, stated: str | None, text: str) -> str:
    """Return the one currency that the text or its source speaks of."""
    if stated is not None and stated not in DECIMALS:
        raise InvalidValue("currency", stated, "is no currency that is known", hint="Write its ISO code, such as EUR.")
    codes = {code for code in _CODE.findall(written) if code in DECIMALS}
    options = [*({code} for code in codes), *(set(SIGNS[sign]) for sign in _SIGN.findall(written))]
    possible = set.intersection(*options) if options else {stated} - {None}
    if stated is not None:
        if stated in possible:
            return stated
        raise _refusal(text, f"is not in {stated}")
    if not possible:
        raise _refusal(text, "is in several currencies" if options else "has no currency")
    if len(possible) == 1:
        return str(possible.pop())
    if "USD" in possible:
        return "USD"
    raise _refusal(text, f"may be in {', '.join(sorted(map(str, possible)))}")


def _amount(number: str, decimals: int, mark: str | None, text: str) -> Decimal:
    """Return the number with the decimals of its currency."""
    whole, fraction = _parts(f"0{number}" if number[0] in ".," else number, decimals, mark, text)
    if fraction[decimals:].strip("0"):
        raise _refusal(text, f"has more than {decimals} decimals")
    if len(whole) > MOST_DIGITS:
        raise _refusal(text, "is too large for a price")
    return Decimal(f"{whole}.{fraction[:decimals]:0<{decimals}}" if decimals else whole)


def _parts(number: str, decimals: int, mark: str | None, text: str) -> tuple[str, str]:
    """Return the digits before and after the decimal mark, found by the rules of writing and not by likelihood."""
    mark = mark or _decimal_mark(number, decimals, text)
    whole, _, fraction = number.partition(mark) if mark else (number, "", "")
    if not _GROUPED.fullmatch(whole) or (fraction and not fraction.isdecimal()):
        raise _refusal(text, "is no number that is grouped by thousands")
    return re.sub("[^0-9]", "", whole), fraction


def _decimal_mark(number: str, decimals: int, text: str) -> str:
    """Return the mark that must be the decimal one, nothing if there can be none; refuse what could be either."""
    marks = re.findall(r"[.,]", number)
    if not marks or (len(set(marks)) == 1 and len(marks) > 1):
        return ""
    last = str(marks[-1])
    if len(set(marks)) > 1:
        return last
    before, _, after = number.partition(last)
    could_be_thousands = len(after) == 3 and len(re.sub(r"[' ]", "", before)) <= 3 and before != "0"  # noqa: PLR2004
    if not could_be_thousands or re.search(r"[' ]", before):
        return last
    if decimals == 0:
        return ""
    raise _refusal(text, f"can be read with {last!r} as decimal mark or as thousands mark")


def _refusal(text: str, why: str) -> InvalidValue:
    """Return the error for what is no certain amount."""
    return InvalidValue("money", text[:LONGEST_CHARS], why, hint=HINT)
