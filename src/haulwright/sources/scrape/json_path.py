"""Paths into JSON: names with dots, [2], [-1], [*] and ["a name with dots"]."""

from __future__ import annotations

import re
from typing import Any, Final

from haulwright.errors import InvalidValue

LONGEST_PATH_CHARS: Final = 300
HINT: Final = 'Write a path such as data.items[*], price.amount or images[0]["a.b"]; a single dot is the item itself.'

EVERY: Final = "*"
Step = str | int
Path = tuple[Step | None, ...]
"""Names, positions, and None for every element of a list."""

_STEP: Final = re.compile(
    r"""\.?(?P<name>[^\s.\[\]"'*]+)|\[(?P<position>-?\d{1,9}|\*)\]|\[(?P<quote>["'])(?P<key>.+?)(?P=quote)\]"""
)


def parse_path(text: str, *, what: str) -> Path:
    """Return the steps of a path, or refuse it."""
    if text in {"", ".", "$"}:
        return ()
    steps: list[Step | None] = []
    position, end = 2 if text.startswith("$.") else 0, len(text)
    while position < end and (step := _STEP.match(text, position)) and end <= LONGEST_PATH_CHARS:
        if number := step["position"]:
            steps.append(None if number == EVERY else int(number))
        else:
            steps.append(step["key"] or step["name"])
        position = step.end()
    if position < end:
        raise InvalidValue(what, text[:LONGEST_PATH_CHARS], "is no path", hint=HINT)
    return tuple(steps)


def find(document: Any, path: Path) -> list[Any]:
    """Return everything that a path leads to, in the order of the document; what is absent is simply not there."""
    values = [document]
    for step in path:
        values = [value for place in values for value in _go(place, step)]
    return values


def _go(place: Any, step: Step | None) -> list[Any]:
    """Return what one step leads to."""
    if step is None:
        return place if isinstance(place, list) else []
    if isinstance(step, str):
        return [place[step]] if isinstance(place, dict) and step in place else []
    fits = isinstance(place, list) and -len(place) <= step < len(place)
    return [place[step]] if fits else []
