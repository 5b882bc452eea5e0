"""The arguments of a task as fields of a form: which inputs there are, what stands in them, and what they come to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

FieldKind = Literal["text", "lines", "number", "switch", "choice", "json"]

PREFIX: Final = "arg."
"""Before the name of an argument in the name of its input, so that none is taken for an option."""
LINES_CHARS: Final = 80
"""A text of more characters, or with a line break, stands in a field of several lines."""
_KINDS: Final[Mapping[str, FieldKind]] = {
    "string": "text",
    "integer": "number",
    "number": "number",
    "boolean": "switch",
}
_NULL: Final = {"type": "null"}
_NOT_READ: Final = "is no JSON"


class NotRead(ValueError):
    """A text is no JSON."""


@dataclass(frozen=True, slots=True)
class ArgumentField:
    """One argument of a task, as an input."""

    name: str
    kind: FieldKind
    type: str
    """What it takes, in the words of JSON Schema."""
    is_required: bool
    may_be_null: bool
    default: str | None
    """What it is where nothing is given, as JSON; None where it has to be given, or nobody can say."""
    choices: tuple[str, ...] = ()
    """Each as JSON."""
    text: str = ""
    """What stands in the input."""
    is_on: bool = False
    """Of a switch."""
    error: str = ""


def fields_of(schema: Mapping[str, Any]) -> list[ArgumentField]:
    """The arguments of a task by the JSON schema of them, with what they are where nothing is given."""
    properties: Mapping[str, Any] = schema.get("properties", {})
    required = set(schema.get("required", ()))
    return [
        _field(name, described, schema.get("$defs", {}), is_required=name in required)
        for name, described in properties.items()
    ]


def filled(fields: Sequence[ArgumentField], values: Mapping[str, Any]) -> list[ArgumentField]:
    """The same with values in them, as a job has them."""
    return [_with_value(field, values[field.name]) if field.name in values else field for field in fields]


def typed(fields: Sequence[ArgumentField], texts: Mapping[str, str]) -> list[ArgumentField]:
    """The same with what somebody typed, as it was typed."""
    return [_typed(field, texts.get(f"{PREFIX}{field.name}")) for field in fields]


def with_error(fields: Sequence[ArgumentField], path: str, why: str) -> list[ArgumentField]:
    """The same with an error beside the field that it is about, such as `args.items.3`."""
    name, _, inner = path.removeprefix("args.").partition(".")
    words = f"{inner}: {why}" if inner else why
    return [replace(field, error=words) if field.name == name else field for field in fields]


def values_of(fields: Sequence[ArgumentField]) -> tuple[dict[str, Any], list[ArgumentField]]:
    """The arguments that these fields come to, and the fields with the errors of those that cannot be read."""
    values: dict[str, Any] = {}
    checked: list[ArgumentField] = []
    for field in fields:
        try:
            if (value := _value(field)) is not _LEFT_OUT:
                values[field.name] = value
            checked.append(field)
        except NotRead as error:
            checked.append(replace(field, error=str(error)))
    return values, checked


_LEFT_OUT: Final = object()


def _field(
    name: str, described: Mapping[str, Any], definitions: Mapping[str, Any], *, is_required: bool
) -> ArgumentField:
    options = [_resolved(option, definitions) for option in described.get("anyOf", (described,))]
    others = [option for option in options if option != _NULL]
    shape = others[0] if len(others) == 1 else {}
    choices = tuple(json.dumps(choice, ensure_ascii=False) for choice in shape.get("enum", ()))
    kind: FieldKind = "choice" if choices else _KINDS.get(str(shape.get("type")), "json")
    may_be_null = len(others) < len(options)
    if kind == "switch" and may_be_null:
        kind, choices = "choice", ("true", "false")
    default = json.dumps(described["default"], ensure_ascii=False) if "default" in described else None
    words = " or ".join(dict.fromkeys(_type_words(option) for option in options))
    field = ArgumentField(name, kind, words, is_required, may_be_null, default, choices)
    return _with_value(field, described["default"]) if "default" in described else field


def _resolved(option: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a reference stands for; one within another is left to the field of JSON."""
    reference = str(option.get("$ref", ""))
    return definitions.get(reference.rpartition("/")[2], option) if reference else option


def _type_words(option: Mapping[str, Any]) -> str:
    kind = str(option.get("type", "any JSON value"))
    return f"{kind}, {option['format']}" if "format" in option else kind


def _with_value(field: ArgumentField, value: Any) -> ArgumentField:
    if value is None and field.may_be_null and field.kind != "choice":
        return replace(field, text="")
    if field.kind == "switch":
        return replace(field, is_on=value is True)
    if field.kind == "text" and isinstance(value, str):
        kind: FieldKind = "lines" if len(value) > LINES_CHARS or "\n" in value else "text"
        return replace(field, kind=kind, text=value)
    if field.kind == "choice":
        written = json.dumps(value, ensure_ascii=False)
        return replace(field, text=written if written in field.choices else "")
    return replace(field, text=json.dumps(value, indent=2 if field.kind == "json" else None, ensure_ascii=False))


def _typed(field: ArgumentField, text: str | None) -> ArgumentField:
    if field.kind == "switch":
        return replace(field, is_on=text is not None, text="")
    plain = (text or "").replace("\r\n", "\n")  # as browsers send what has several lines
    return replace(field, text=plain, kind="lines" if field.kind == "text" and "\n" in plain else field.kind)


def _value(field: ArgumentField) -> Any:
    """What a field comes to: what stands there is what is meant, and nothing is null where that may be."""
    is_text = field.kind in {"text", "lines"}
    if field.kind == "switch":
        return field.is_on
    if not (field.text if is_text else field.text.strip()):
        has_value = field.is_required or field.default is not None
        if has_value and field.may_be_null:
            return None
        return "" if has_value and is_text else _LEFT_OUT
    if is_text:
        return field.text
    return _number(field.text) if field.kind == "number" else read_json(field.text)


def _number(text: str) -> Any:
    """A number; what is none stays text, and is refused as such by the task."""
    try:
        value = read_json(text)
    except NotRead:
        return text
    return value if isinstance(value, int | float) and not isinstance(value, bool) else text


def read_json(text: str) -> Any:
    """The value of a text, or NotRead with the place where it ends to be one."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except NotRead:
        raise
    except json.JSONDecodeError as error:
        message = f"{_NOT_READ}: {error.msg.lower()}, in line {error.lineno} at character {error.colno}"
        raise NotRead(message) from None
    except (ValueError, RecursionError):
        raise NotRead(_NOT_READ) from None


def _refuse(word: str) -> Any:
    raise NotRead(f"{_NOT_READ}: {word} is no number there")
