from __future__ import annotations

from contextlib import suppress
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haulwright.errors import InvalidValue
from haulwright.sources.tools.money import Money, parse_money


@pytest.mark.parametrize(
    ("written", "amount", "currency"),
    [
        ("1.234,56 €", "1234.56", "EUR"),
        ("€1,234.56", "1234.56", "EUR"),
        ("$1,234.56", "1234.56", "USD"),
        ("US$ 12", "12.00", "USD"),
        ("C$12.50", "12.50", "CAD"),
        ("CHF 12.\u2013", "12.00", "CHF"),
        ("CHF 1\u2019234.50", "1234.50", "CHF"),
        ("12,- €", "12.00", "EUR"),
        ("£12", "12.00", "GBP"),
        ("£0.99", "0.99", "GBP"),
        ("1\u202f234,56 EUR", "1234.56", "EUR"),
        ("12,5 zł", "12.50", "PLN"),
        ("₹1,23,456.78", "123456.78", "INR"),
        ("JPY 1,234", "1234", "JPY"),
        ("KWD 1234.567", "1234.567", "KWD"),
        ("1.234.567 €", "1234567.00", "EUR"),
        ("-5.00 €", "-5.00", "EUR"),
        ("£-5.00", "-5.00", "GBP"),
        ("-£5.00", "-5.00", "GBP"),
        ("£12 - free delivery", "12.00", "GBP"),
        ("£.50", "0.50", "GBP"),
        (",50 €", "0.50", "EUR"),
        ("Fr.12.50", "12.50", "CHF"),
        ("12 C$", "12.00", "CAD"),
        ("$5.00 CAD", "5.00", "CAD"),
        ("12.500000 €", "12.50", "EUR"),
        ("Price: 12.50 EUR incl. VAT", "12.50", "EUR"),
    ],
)
def test_a_price_is_read_as_it_is_written_in_its_country(written, amount, currency):
    money = parse_money(written)

    assert money == Money(Decimal(amount), currency)
    assert str(money.amount) == amount


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("1.234 €", "as decimal mark or as thousands mark"),
        ("1,234 €", "as decimal mark or as thousands mark"),
        ("12.50", "has no currency"),
        ("1 234,56 kr", "may be in DKK, ISK, NOK, SEK"),
        ("¥1,234", "may be in CNY, JPY"),
        ("€5 / £4", "is in several currencies"),
        ("12 € 15 €", "has several numbers"),
        ("10\u201315 €", "has several numbers"),
        ("sold out €", "has no number"),
        ("", "has no currency"),
        ("12.345,678 €", "has more than 2 decimals"),
        ("12,34,56 €", "is no number that is grouped"),
        ("1.23.456 €", "is no number that is grouped"),
        ("$5k", "is no plain amount"),
        ("$1.2 million", "is no plain amount"),
        ("EUR 20 %", "is no plain amount"),
        ("50p GBP", "is no plain amount"),
        ("50 ct EUR", "is no plain amount"),
        ("USD 99¢", "is no plain amount"),
        ("(£5.00)", "is no plain amount"),
        ("5.00- EUR", "is no plain amount"),
        ("minus 5 EUR", "is no plain amount"),
        ("£5.00 EUR", "is in several currencies"),
        ("TRY it for £5", "is in several currencies"),
        ("9" * 30 + " €", "is too large"),
        ("€" + "1" * 500, "is too long"),
    ],
)
def test_what_can_mean_two_things_or_nothing_is_refused_and_never_guessed(written, why):
    with pytest.raises(InvalidValue, match=why):
        parse_money(written)


@pytest.mark.parametrize(
    ("written", "mark", "amount"),
    [
        ("1.234 €", ",", "1234.00"),
        ("1.234,5 €", ",", "1234.50"),
        ("1,234 €", ".", "1234.00"),
        ("12,50 €", ",", "12.50"),
    ],
)
def test_a_stated_decimal_mark_settles_what_is_ambiguous(written, mark, amount):
    assert parse_money(written, decimal_mark=mark).amount == Decimal(amount)


def test_a_stated_decimal_mark_that_does_not_fit_is_refused_rather_than_bent():
    with pytest.raises(InvalidValue, match="grouped by thousands"):
        parse_money("12,50 €", decimal_mark=".")


def test_a_stated_currency_settles_a_sign_of_several_and_contradicts_a_wrong_one():
    assert parse_money("1 234,56 kr", currency="SEK") == Money(Decimal("1234.56"), "SEK")
    assert parse_money("$5", currency="AUD").currency == "AUD"
    assert parse_money("5.00", currency="EUR").currency == "EUR"
    with pytest.raises(InvalidValue, match="is not in EUR"):
        parse_money("$5", currency="EUR")
    with pytest.raises(InvalidValue, match="Write its ISO code"):
        parse_money("5", currency="EURO")


@pytest.mark.parametrize(("written", "minor"), [("€12.34", 1234), ("JPY 1234", 1234), ("KWD 1.2", 1200)])
def test_minor_units_are_whole_numbers(written, minor):
    assert parse_money(written).minor == minor


@given(st.integers(0, 10**12), st.sampled_from([(",", "."), (".", ","), (" ", ","), ("'", ".")]))
def test_every_amount_that_is_written_out_comes_back(cents, marks):
    thousands, decimal = marks
    text = f"{cents // 100:,}".replace(",", thousands) + f"{decimal}{cents % 100:02}"

    assert parse_money(f"{text} €").minor == cents


@given(st.text(max_size=60) | st.text("0123456789., '-€$kr", max_size=20))
def test_no_text_raises_anything_but_a_refusal(text):
    with suppress(InvalidValue):
        assert isinstance(parse_money(text).minor, int)
