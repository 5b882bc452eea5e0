"""What the model says: always the same to the same messages."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from haulwright.sandbox.chance import chance

THEMES = ("craft", "service", "sustainability", "price", "community", "launches", "repair", "people")
TONES = ("warm", "matter-of-fact", "playful", "earnest")
DEEPEST = 8
SCHEMA_WORDS = "JSON Schema: "


def answer(messages: list[Any], response_format: dict[str, Any]) -> str:
    """Prose, JSON, or JSON by a schema, as was asked."""
    prompt = json.dumps(messages, sort_keys=True, ensure_ascii=False)
    described = _schema_in(messages)
    if described is not None and response_format.get("type") != "json_schema":
        return json.dumps(_instance(described, prompt, ()), ensure_ascii=False)
    match response_format.get("type", "text"):
        case "json_schema":
            schema = response_format.get("json_schema", {}).get("schema", {})
            return json.dumps(_instance(schema, prompt, ()), ensure_ascii=False)
        case "json_object":
            return json.dumps(_summary(prompt), ensure_ascii=False)
        case _:
            summary = _summary(prompt)
            themes = ", ".join(summary["themes"])
            return f"In short: {summary['summary']} The tone is {summary['tone']}; themes are {themes}."


def _schema_in(messages: list[Any]) -> dict[str, Any] | None:
    """The schema that a message describes in words, for a model that takes none as a parameter."""
    content = messages[-1].get("content") if isinstance(messages[-1], dict) else None
    _, found, text = content.rpartition(SCHEMA_WORDS) if isinstance(content, str) else ("", "", "")
    try:
        schema = json.loads(text) if found else None
    except ValueError:
        return None
    return schema if isinstance(schema, dict) else None


def _summary(prompt: str) -> dict[str, Any]:
    luck = chance(0, prompt)
    themes = luck.sample(THEMES, k=3)
    return {
        "summary": f"The material speaks mostly of {themes[0]} and {themes[1]}.",
        "themes": themes,
        "tone": luck.choice(TONES),
        "confidence": round(luck.uniform(0.6, 0.95), 2),
    }


def _instance(schema: dict[str, Any], prompt: str, place: tuple[object, ...]) -> Any:
    """A value that fits a JSON schema, as far as the usual words go."""
    if len(place) > DEEPEST:
        return None
    if schema.get("type") == "object":
        return {name: _instance(inner, prompt, (*place, name)) for name, inner in schema.get("properties", {}).items()}
    if schema.get("type") == "array":
        places = range(max(2, schema.get("minItems", 0)))
        return [_instance(schema.get("items", {}), prompt, (*place, number)) for number in places]
    return _scalar(schema, chance(0, prompt, *place))


def _scalar(schema: dict[str, Any], luck: Random) -> Any:
    low, high = schema.get("minimum", 0), schema.get("maximum", 100)
    if "enum" in schema:
        return luck.choice(schema["enum"])
    match schema.get("type", "string"):
        case "integer":
            return luck.randint(int(low), int(high))
        case "number":
            return round(luck.uniform(low, high), 2)
        case "boolean":
            return luck.choice([True, False])
        case "null":
            return None
        case _:
            return f"{luck.choice(THEMES)} and {luck.choice(THEMES)}"
