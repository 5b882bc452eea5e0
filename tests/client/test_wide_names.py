"""The longest names and keys of every script fit the indexes of both databases; what is longer is refused."""

from __future__ import annotations

import random
from typing import Any

import pytest

from haulwright import Haulwright, UniqueBy
from haulwright.engine.names import KEY_LIMIT_BYTES, KEY_LIMIT_CHARS, NAME_LIMIT_BYTES, NAME_LIMIT_CHARS
from haulwright.errors import InvalidValue

app = Haulwright()
WIDTHS = {1: (0x61, 0x7A), 2: (0x430, 0x44F), 3: (0x4E00, 0x9FA5), 4: (0x20000, 0x2A6D6)}
"""Bytes of a character in UTF-8, and where such stand."""


def word(width: int, most_chars: int, most_bytes: int) -> str:
    """The longest text of characters so wide. They are chosen by chance: an index stores what repeats in less room."""
    chance = random.Random(width)  # noqa: S311 - no secret
    return "".join(chr(chance.randint(*WIDTHS[width])) for _ in range(min(most_chars, most_bytes // width)))


def names(width: int) -> str:
    return word(width, NAME_LIMIT_CHARS, NAME_LIMIT_BYTES)


def keys(width: int) -> str:
    return word(width, KEY_LIMIT_CHARS, KEY_LIMIT_BYTES)


@app.task(name=names(4), queue=names(4), concurrency=1)
def while_active() -> None: ...


@app.task(name=names(3), unique=UniqueBy(lambda _: keys(3), "forever"), queue=names(3))
def forever() -> None: ...


@pytest.fixture(autouse=True)
def on_the_bench(bench):
    bench.use(app)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_longest_words_of_every_script_are_enqueued_and_run(bench, width):
    options = {"tenant": names(width), "job_key": keys(width), "correlation_id": keys(width)}

    handles = [
        while_active.using(unique=keys(width), **options).enqueue(),
        forever.using(unique=keys(width), **{**options, "job_key": keys(width)[1:]}).enqueue(),
    ]
    bench.drain()

    assert [handle.state() for handle in handles] == ["succeeded", "succeeded"]


@pytest.mark.parametrize("width", [2, 3, 4])
@pytest.mark.parametrize("field", ["tenant", "queue", "unique", "job_key", "correlation_id"])
def test_what_is_too_long_for_an_index_is_refused_at_the_enqueue_with_its_name(bench, field, width):
    longest = keys(width) if field in {"unique", "job_key", "correlation_id"} else names(width)
    options: dict[str, Any] = {field: longest + chr(WIDTHS[width][0])}

    with pytest.raises(InvalidValue, match=rf"^{field}: .* characters"):
        while_active.using(**options).enqueue()

    assert bench.store.queues.counts() == []


@pytest.mark.parametrize("character", ["\ud800", "\0"])
def test_a_key_that_no_database_can_hold_is_refused(character):
    with pytest.raises(InvalidValue, match=r"^job_key: "):
        while_active.using(job_key=f"a{character}").enqueue()
