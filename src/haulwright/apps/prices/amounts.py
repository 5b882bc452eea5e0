"""Amounts for people: minor units as the currency writes them."""

from __future__ import annotations

from decimal import Decimal

from haulwright.sources.tools.money import DECIMALS


def decimal_text(minor: int, currency: str) -> str:
    """An amount with the decimals of its currency, for programs: 1234.50."""
    return str(Decimal(minor).scaleb(-DECIMALS[currency]))


def amount_text(minor: int | None, currency: str | None) -> str:
    """An amount for people: 1,234.50 EUR; nothing where there is none."""
    if minor is None or currency is None:
        return ""
    return f"{Decimal(minor).scaleb(-DECIMALS[currency]):,} {currency}"
