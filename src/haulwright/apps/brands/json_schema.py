"""A small part of JSON Schema: what our documents, and a model's answers, are checked against."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from haulwright.errors import InvalidPayload

DEEPEST: Final = 20

_KINDS: Final[dict[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list, tuple),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def shape(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object that has these fields, all of them and no other."""
    return {
        "type": "object",
        "properties": dict(fields),
        "required": list(fields),
        "additionalProperties": False,
    }


def listed(items: Mapping[str, Any], *, most: int | None = None) -> dict[str, Any]:
    """The schema of a list."""
    return {"type": "array", "items": dict(items)} | ({} if most is None else {"maxItems": most})


def check(value: Any, schema: Mapping[str, Any], *, root: str) -> None:
    """Raise InvalidPayload that names the first place where a value does not fit its schema."""
    _check(value, schema, root, 0)


def _check(value: Any, schema: Mapping[str, Any], place: str, depth: int) -> None:
    if depth > DEEPEST:
        raise InvalidPayload(place, f"is more than {DEEPEST} levels deep")
    _check_kind(value, schema, place)
    if isinstance(value, dict):
        _check_object(value, schema, place, depth)
    elif isinstance(value, list | tuple):
        _check_list(value, schema, place, depth)
    elif isinstance(value, str):
        _check_size(len(value), "characters", schema.get("minLength"), schema.get("maxLength"), place)
    elif value is not None:
        _check_size(value, "", schema.get("minimum"), schema.get("maximum"), place)


def _check_kind(value: Any, schema: Mapping[str, Any], place: str) -> None:
    if "enum" in schema and value not in schema["enum"]:
        raise InvalidPayload(place, "is none of the values that may stand here")
    types = schema.get("type", ())
    names = [types] if isinstance(types, str) else list(types)
    if names and not any(_is(value, name) for name in names):
        raise InvalidPayload(place, f"is no {' or '.join(names)}")


def _is(value: Any, name: str) -> bool:
    if isinstance(value, bool):  # a kind of int to Python, and no number to JSON
        return name == "boolean"
    return isinstance(value, _KINDS[name])


def _check_object(value: Mapping[str, Any], schema: Mapping[str, Any], place: str, depth: int) -> None:
    fields: Mapping[str, Any] = schema.get("properties", {})
    missing = [name for name in schema.get("required", ()) if name not in value]
    if missing:
        raise InvalidPayload(place, f"has no {missing[0]}")
    unknown = sorted(value.keys() - fields.keys())
    if unknown and schema.get("additionalProperties") is False:
        raise InvalidPayload(place, f"has a field {unknown[0]!r}, which does not belong there")
    for name in (name for name in fields if name in value):
        _check(value[name], fields[name], f"{place}.{name}", depth + 1)


def _check_list(value: list[Any] | tuple[Any, ...], schema: Mapping[str, Any], place: str, depth: int) -> None:
    _check_size(len(value), "items", schema.get("minItems"), schema.get("maxItems"), place)
    for number, item in enumerate(value):
        _check(item, schema.get("items", {}), f"{place}[{number}]", depth + 1)


def _check_size(size: float, unit: str, least: float | None, most: float | None, place: str) -> None:
    if least is not None and size < least:
        raise InvalidPayload(place, f"is less than {least} {unit}".rstrip())
    if most is not None and size > most:
        raise InvalidPayload(place, f"is more than {most} {unit}".rstrip())
