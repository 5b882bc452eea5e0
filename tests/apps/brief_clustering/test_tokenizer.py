"""Words: what a text is made of, in every script."""

from __future__ import annotations

import pytest

from haulwright.apps.brief.clustering.tokenizer import MOST_CHARS, proper_names, tokenize


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Greece's Prime Minister", ["Greece", "Prime", "Minister"]),
        ("Straße, ﬁre & CAFÉ", ["Straße", "fire", "CAFÉ"]),
        ("magnitude 6.1 at 10:30", ["magnitude", "6.1", "at", "10:30"]),
        ("magnitude 6 . 1", ["magnitude", "6.1"]),
        ("won 20-13, or 20 - 13", ["won", "20-13", "or", "20-13"]),
        ("", []),
        ("... !? _ — 🎉", []),
        ("Землетрясение в Токио", ["Землетрясение", "Токио"]),
        ("زلزال قوي", ["زلزال", "قوي"]),
        ("भूकंप आया।", ["भूकंप", "आया"]),
        ("東京で地震", ["東京", "京で", "で地", "地震"]),
        ("แผ่นดิน", ["แผ", "ผ่", "่น", "นด", "ดิ", "ิน"]),
        ("7 Toyota車", ["7", "Toyota", "車"]),
    ],
)
def test_a_text_gives_its_words_in_order(text, words):
    assert tokenize(text, 100) == words


def test_a_text_without_end_costs_no_more_than_its_beginning():
    assert len(tokenize("word " * MOST_CHARS, MOST_CHARS)) == MOST_CHARS // 5
    assert tokenize("one two three four", 3) == ["one", "two", "three"]
    assert tokenize("東京で地震", 2) == ["東京", "京で"]


def test_a_composed_letter_is_the_same_as_one_with_a_mark():
    assert tokenize("cafe\u0301", 1) == tokenize("caf\u00e9", 1)


def test_names_begin_with_a_capital_wherever_they_stand():
    words = tokenize("The mayor of Lisbon met the press. Lisbon waits, and so does May; it may rain.", 100)

    assert proper_names(words) == {"lisbon"}


def test_a_headline_in_capitals_tells_no_names():
    assert proper_names(tokenize("COLTS BEAT CHIEFS In The Last Quarter", 100)) == set()
