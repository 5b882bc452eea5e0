"""The small part of JSON Schema that documents and answers are checked against."""

from __future__ import annotations

import pytest

from haulwright.apps.brands.json_schema import DEEPEST, check, listed, shape
from haulwright.errors import InvalidPayload

PERSON = shape({"name": {"type": "string", "minLength": 1}, "age": {"type": ["integer", "null"], "minimum": 0}})


@pytest.mark.parametrize("value", [{"name": "a", "age": 0}, {"name": "a", "age": None}])
def test_what_fits_passes(value):
    check(value, PERSON, root="person")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "person: is no object."),
        ({"name": "a"}, "person: has no age."),
        ({"name": "", "age": 1}, "person.name: is less than 1 characters."),
        ({"name": "a", "age": -1}, "person.age: is less than 0."),
        ({"name": "a", "age": True}, "person.age: is no integer or null."),
        ({"name": "a", "age": 1.5}, "person.age: is no integer or null."),
        ({"name": 1, "age": 1}, "person.name: is no string."),
        ({"name": "a", "age": 1, "b": 2}, "person: has a field 'b', which does not belong there."),
    ],
)
def test_what_does_not_fit_is_named(value, said):
    with pytest.raises(InvalidPayload) as refused:
        check(value, PERSON, root="person")

    assert refused.value.message == said


def test_a_list_is_checked_item_by_item_and_has_an_end():
    names = listed({"type": "string", "enum": ["a", "b"]}, most=2)

    check(["a", "b"], names, root="names")
    with pytest.raises(InvalidPayload, match=r"names\[1\]: is none of the values"):
        check(["a", "c"], names, root="names")
    with pytest.raises(InvalidPayload, match="names: is more than 2 items"):
        check(["a", "a", "a"], names, root="names")


def test_a_value_without_end_is_given_up():
    schema = {"type": "array"}
    schema["items"] = schema
    endless = []
    endless.append(endless)

    with pytest.raises(InvalidPayload, match=f"more than {DEEPEST} levels"):
        check(endless, schema, root="value")
