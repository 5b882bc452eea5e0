from __future__ import annotations

import json
from collections import OrderedDict
from enum import StrEnum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from haulwright.engine.payload import DEPTH_LIMIT, canonical, check, clip
from haulwright.errors import InvalidPayload

LIMIT = 100_000

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=20)


def nested(levels):
    value = []
    for _ in range(levels - 1):
        value = [value]
    return value


def refusal_of(value, limit_bytes=LIMIT):
    with pytest.raises(InvalidPayload) as refusal:
        check(value, root="args", limit_bytes=limit_bytes)
    return refusal.value


@settings(deadline=None)
@given(values)
def test_what_is_stored_reads_back_as_it_was_given(value):
    assert json.loads(check(value, root="args", limit_bytes=LIMIT)) == value


@settings(deadline=None)
@given(st.dictionaries(texts, scalars), st.randoms())
def test_the_order_of_keys_does_not_matter(value, rng):
    items = list(value.items())
    rng.shuffle(items)
    assert canonical(dict(items)) == canonical(value)


def test_canonical_json_has_sorted_keys_no_spaces_and_text_as_it_is():
    value = {"ü": [1, 2.5, -0.0], "a": {"z": None, "b": True}, "Z": "𝄞\n\x1f"}
    assert canonical(value) == '{"Z":"𝄞\\n\\u001f","a":{"b":true,"z":null},"ü":[1,2.5,-0.0]}'


def test_tuples_and_the_subclasses_of_plain_types_are_stored_as_plain():
    class Colour(StrEnum):
        RED = "red"

    assert canonical({"at": (1, 2), "colour": Colour.RED, "map": OrderedDict(b=1, a=2)}) == (
        '{"at":[1,2],"colour":"red","map":{"a":2,"b":1}}'
    )


@pytest.mark.parametrize(
    ("value", "path", "why"),
    [
        ({"items": [0, 1, 2, {"name": "a\0b"}]}, "args.items[3].name", "contains a NUL character"),
        ({"a": {"b\0": 1}}, "args.a", "has a key with a NUL character"),
        ({"a": "\ud800"}, "args.a", "contains half of a surrogate pair"),
        ({"\udfff": 1}, "args", "has a key with half of a surrogate pair"),
        ({"a b": [float("nan")]}, 'args["a b"][0]', "is not a finite number"),
        ([float("inf")], "args[0]", "is not a finite number"),
        ({"n": 2**63}, "args.n", "is an integer beyond 64 bits"),
        ({"n": -(2**63) - 1}, "args.n", "is an integer beyond 64 bits"),
        ({"n": 10**5000}, "args.n", "is an integer beyond 64 bits"),
        ({"a": {3: 1}}, "args.a", "has a key of type int"),
        ({None: 1}, "args", "has a key of type NoneType"),
        ({"when": b"x"}, "args.when", "is of type bytes, which JSON has no place for"),
        ({1, 2}, "args", "is of type set, which JSON has no place for"),
        ({'"\ud800': [object()]}, "args", "has a key with half of a surrogate pair"),
    ],
)
def test_a_value_that_cannot_be_stored_is_refused_naming_its_field(value, path, why):
    refusal = refusal_of(value)
    assert (refusal.path, refusal.why) == (path, why)


def test_a_text_that_only_looks_like_an_escaped_nul_is_stored():
    assert json.loads(canonical({"a": "\\u0000"})) == {"a": "\\u0000"}


def test_the_largest_integers_are_stored_exactly():
    assert canonical([2**63 - 1, -(2**63)]) == "[9223372036854775807,-9223372036854775808]"


def test_nesting_is_allowed_up_to_its_limit_and_refused_beyond():
    assert json.loads(canonical(nested(DEPTH_LIMIT))) == nested(DEPTH_LIMIT)
    refusal = refusal_of(nested(DEPTH_LIMIT + 1))
    assert refusal.why == "is more than 100 levels deep, or contains itself"
    assert len(refusal.path) < 300


def test_a_value_that_contains_itself_is_refused():
    loop = {"a": []}
    loop["a"].append(loop)
    assert "contains itself" in refusal_of(loop).why


def test_size_is_counted_in_bytes_up_to_the_limit_and_refused_beyond():
    assert check("ü" * 49, root="args", limit_bytes=100) == '"' + "ü" * 49 + '"'
    refusal = refusal_of("ü" * 50, limit_bytes=100)
    assert (refusal.path, refusal.why) == ("args", "is larger than 100 bytes")
    assert "is larger" in refusal_of(["\x1f" * 20], limit_bytes=100).why


def test_a_small_value_that_unfolds_into_a_giant_text_is_refused_at_once():
    value = "laugh"
    for _ in range(60):
        value = [value, value]
    assert "is larger" in refusal_of(value).why  # to unfold it would take longer than there are seconds


def test_a_giant_value_is_refused_without_being_written_out():
    endless = type("Endless", (list,), {"__iter__": lambda _: iter(int, 1)})(["x"])
    assert "is larger" in refusal_of(endless).why


@settings(deadline=None)
@given(st.text(), st.integers(0, 60))
def test_a_clipped_text_can_always_be_stored_and_never_exceeds_its_limit(text, limit):
    clipped = clip(text + "\0\ud800" + text, limit)
    assert len(clipped.encode()) <= limit
    assert "\0" not in clipped


def test_a_short_text_is_kept_and_mended():
    assert clip("no such file") == "no such file"
    assert clip("a\0b\ud800c") == "ab\ufffdc"
    assert clip("ü" * 4, 8) == "üüüü"


def test_a_long_text_keeps_its_head_and_says_that_it_was_cut():
    clipped = clip("ü" * 100_000)
    assert clipped.startswith("üüüü")
    assert clipped.endswith("ü… [cut, 100000 characters in all]")
    assert 8_100 < len(clipped.encode()) <= 8_192
