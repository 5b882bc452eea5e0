"""Secrets are masked wherever they turn up in a text, and nothing else is."""

from __future__ import annotations

import json
import time

import pytest

from haulwright.redaction import MASK, redact, remember


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("postgresql://bob:hunter2@db:5432/jobs is away", "postgresql://***@db:5432/jobs is away"),
        ("postgresql://bob:p@ss@db/jobs", "postgresql://***@db/jobs"),
        ("GET https://shop.example/a?api_key=K123&page=2", "GET https://shop.example/a?api_key=***&page=2"),
        ("Authorization: Bearer abc.def", "Authorization: ***"),
        ("sent bearer abcdef to them", "sent bearer *** to them"),
        ("Cookie: session=abc; csrf=def\nnext line", "Cookie: ***\nnext line"),
        ("{'Set-Cookie': 'a=b; c=d', 'n': 1}", "{'Set-Cookie': '***', 'n': 1}"),
        ('{"access_token": "abc def", "n": 1}', '{"access_token": "***", "n": 1}'),
        (json.dumps(json.dumps({"client_secret": "a b", "n": 1})), '"{\\"client_secret\\": \\"***\\", \\"n\\": 1}"'),
        ("AWS_SECRET_ACCESS_KEY=abc/d+e== region=eu", "AWS_SECRET_ACCESS_KEY=*** region=eu"),
        ("password: hunter2, user: bob", "password: ***, user: bob"),
        ("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln end", "jwt *** end"),
        ("mail ann@example.com about https://shop.example/a", "mail ann@example.com about https://shop.example/a"),
        ("the secretary signed 3 tokens", "the secretary signed 3 tokens"),
    ],
)
def test_secrets_are_masked(text, clean):
    assert redact(text) == clean
    assert redact(clean) == clean


def test_a_value_that_is_known_to_be_secret_is_masked_anywhere():
    remember("correct horse")
    remember("abc")  # too short to be told from ordinary words
    remember(None)

    assert redact("it said: correct horse, abc") == f"it said: {MASK}, abc"


@pytest.mark.parametrize("text", ["a" * 300_000, "x://" * 50_000, "token='" * 10_000, "cookie: " * 30_000])
def test_a_long_text_takes_no_longer_than_its_length(text):
    started = time.perf_counter()
    redact(text)

    assert time.perf_counter() - started < 5
