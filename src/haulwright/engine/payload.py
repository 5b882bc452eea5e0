"""Payloads: the one JSON text of a value, the same on every machine and database, or a refusal that names the field."""

from __future__ import annotations

import json
import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeVar

from haulwright.errors import InvalidPayload

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")

KIB: Final = 1024
MIB: Final = 1024 * KIB

ARGS_LIMIT_BYTES: Final = 1 * MIB
"""The arguments of one job."""
ARGS_INLINE_LIMIT_CHARS: Final = 16 * KIB
"""The arguments that still stand in the row of their job; larger ones stand beside it, and a step leaves them alone."""
RESULT_LIMIT_BYTES: Final = 1 * MIB
"""The result of one job, kept in its row."""
EFFECT_INLINE_LIMIT_BYTES: Final = 64 * KIB
"""The result of an effect that still stands in its row; a larger one goes into a blob."""
EFFECT_LIMIT_BYTES: Final = 16 * MIB
"""The result of an effect that is kept at all."""
PROGRESS_LIMIT_BYTES: Final = 64 * KIB
"""What a run reports about itself while it runs."""
CANONICAL_LIMIT_BYTES: Final = 16 * MIB
"""Any value whose text is only hashed or compared."""
ERROR_MESSAGE_LIMIT_BYTES: Final = 8 * KIB
"""The stored message of an error; the rest is cut off."""
HEADERS_LIMIT: Final = 32
"""Headers on one job, those of the job that enqueues it among them."""
HEADERS_LIMIT_BYTES: Final = 4 * KIB
"""All headers of one job, as JSON."""
JOIN_RESULTS_LIMIT_BYTES: Final = 64 * MIB
"""The results of all jobs that one join returns."""
DEPTH_LIMIT: Final = 100
"""Lists and objects within one another."""
PLAIN_DEPTH: Final = 3
PLAIN_ITEMS: Final = 100
PLAIN_KEY_CHARS: Final = 100
"""What is deeper or longer gets a closer look, which is bounded by the limit of its text."""
PATH_LIMIT_CHARS: Final = 200
"""How much of the path of a bad field an error shows."""

_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_LONGEST_CHARACTER_BYTES: Final = 4
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
_JUST_STR: Final = frozenset({str})
_WORDS: Final[dict[object, str]] = {None: "null", True: "true", False: "false"}
_quoted: Final = json.encoder.encode_basestring
_TYPES_HINT: Final = "Use text, numbers, booleans, null, lists, and objects whose keys are text."


def canonical(value: object, *, root: str = "value") -> str:
    """Return the canonical JSON of a value: keys sorted by code point, no spaces, text as it is."""
    return check(value, root=root, limit_bytes=CANONICAL_LIMIT_BYTES)


def plain_text(value: object, *, limit_bytes: int) -> str | None:
    """The canonical JSON of a value that stands for itself, small and of JSON's own types; None for any other."""
    text = _plain(value)
    return text if text is not None and len(text) <= limit_bytes else None


def check(value: object, *, root: str, limit_bytes: int) -> str:
    """Return the canonical JSON of a value, or raise InvalidPayload naming the field that cannot be stored.

    The time this takes is bounded by the limit, not by the value: a cycle, or a small value that unfolds into a giant
    text, is given up as soon as it cannot fit any more.
    """
    try:
        text = _plain(value)
        if text is None:
            _Inspection(limit_bytes).visit(value, 0)
            text = _ENCODER.encode(value)
        return _within(limit_bytes, text)
    except _Unfit as unfit:
        raise InvalidPayload(_path(root, unfit.steps), unfit.why, hint=unfit.hint) from None
    except _TooLarge:
        why = f"is larger than {limit_bytes} bytes"
        raise InvalidPayload(root, why, hint="Store the data where it belongs and pass its address.") from None


def read_json(text: str | None, kind: type[T]) -> T | None:
    """The value of a text that stands in a row; None where it is no JSON of this kind: one bad row stops nothing."""
    try:
        value = None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, kind) else None


def clip(text: str, limit_bytes: int = ERROR_MESSAGE_LIMIT_BYTES) -> str:
    """Return the text fit to store: without NUL, without half characters, cut with a note where it is too long."""
    head = _SURROGATE.sub("\ufffd", text[: limit_bytes + 1].replace("\0", "")).encode()
    if len(text) <= limit_bytes and len(head) <= limit_bytes:
        return head.decode()
    note = f"… [cut, {len(text)} characters in all]".encode()
    if len(note) > limit_bytes:
        note = b""
    return head[: limit_bytes - len(note)].decode(errors="ignore") + note.decode()


def _plain(value: object, depth: int = 0) -> str | None:
    """The text of a plain value: scalars, and a few levels of objects and lists of them. None where it takes more.

    Most payloads are plain. Made in one walk, for an encoder that must be set up first takes longer than all the rest.
    """
    kind = type(value)
    if kind is str:
        return _quoted(value) if value.isascii() and "\0" not in value else None  # type: ignore[attr-defined,operator,arg-type]
    if kind is int:
        return str(value) if _INT64_MIN <= value <= _INT64_MAX else None  # type: ignore[operator]
    if value is None or kind is bool:
        return _WORDS[value]
    if depth == PLAIN_DEPTH or kind not in {dict, list}:
        return None
    return _plain_object(value, depth) if kind is dict else _plain_list(value, depth)  # type: ignore[arg-type]


def _plain_object(value: dict[object, object], depth: int) -> str | None:
    if len(value) > PLAIN_ITEMS or not _JUST_STR.issuperset(map(type, value)):
        return None
    parts: list[str] = []
    for key in sorted(value):  # type: ignore[type-var]
        name, item = _plain_key(key), value[key]
        if (
            type(item) is str and item.isascii() and "\0" not in item
        ):  # as below: most are text, and a call takes longer
            text: str | None = _quoted(item)
        else:
            text = _plain(item, depth + 1)
        if name is None or text is None:
            return None
        parts.append(name + text)
    return f"{{{','.join(parts)}}}"


@lru_cache(maxsize=1024)
def _plain_key(key: str) -> str | None:
    """The text of a key with its colon: the same few come back in every payload."""
    text = _plain(key) if len(key) <= PLAIN_KEY_CHARS else None
    return None if text is None else f"{text}:"


def _plain_list(value: list[object], depth: int) -> str | None:
    if len(value) > PLAIN_ITEMS:
        return None
    parts = [_plain(item, depth + 1) for item in value]
    return None if None in parts else f"[{','.join(parts)}]"  # type: ignore[arg-type]


class _Unfit(Exception):
    """A value that cannot be stored. Each level on the way up adds its step to the path."""

    def __init__(self, why: str, hint: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.hint = hint
        self.steps: list[str | int] = []


class _TooLarge(Exception):
    """The text of this value cannot fit into its limit."""


class _Inspection:
    """One walk over a value, up to the first thing that cannot be stored or to the end of its bytes."""

    def __init__(self, limit_bytes: int) -> None:
        self._bytes_left = limit_bytes

    def visit(self, value: object, depth: int) -> None:
        """Check one value and all within it, counting the least that its text will need."""
        if isinstance(value, str):
            self._bytes_left -= len(value) + 2
            if not value.isascii() or "\0" in value:
                _check_text(value, "contains")
        elif value is None or isinstance(value, int):
            self._bytes_left -= 1
            if value is not None and not _INT64_MIN <= value <= _INT64_MAX:
                raise _Unfit("is an integer beyond 64 bits", "Pass it as text.")
        elif isinstance(value, float):
            self._bytes_left -= 1
            if not math.isfinite(value):
                raise _Unfit("is not a finite number", "Pass null, or text.")
        elif isinstance(value, dict | list | tuple):
            self._visit_within(value, depth + 1)
        else:
            raise _Unfit(f"is of type {type(value).__name__}, which JSON has no place for", _TYPES_HINT)
        if self._bytes_left < 0:
            raise _TooLarge

    def _visit_within(self, value: dict[object, object] | list[object] | tuple[object, ...], depth: int) -> None:
        self._bytes_left -= 2
        if depth > DEPTH_LIMIT:
            raise _Unfit(f"is more than {DEPTH_LIMIT} levels deep, or contains itself")
        for step, item in self._keyed(value) if isinstance(value, dict) else enumerate(value):
            try:
                self.visit(item, depth)
            except _Unfit as unfit:
                unfit.steps.append(step)
                raise

    def _keyed(self, value: dict[object, object]) -> Iterator[tuple[str, object]]:
        for key, item in value.items():
            if not isinstance(key, str):
                raise _Unfit(f"has a key of type {type(key).__name__}", _TYPES_HINT)
            self._bytes_left -= len(key) + 3
            if not key.isascii() or "\0" in key:
                _check_text(key, "has a key with")
            yield key, item


def _within(limit_bytes: int, text: str) -> str:
    """Return the text if its bytes fit, encoding it only where its length leaves a doubt."""
    if len(text) * _LONGEST_CHARACTER_BYTES > limit_bytes and len(text.encode()) > limit_bytes:
        raise _TooLarge
    return text


def _check_text(text: str, contains: str) -> None:
    """Refuse text that PostgreSQL cannot store or UTF-8 cannot carry."""
    if "\0" in text:
        raise _Unfit(f"{contains} a NUL character", "Remove it, or pass the bytes as base64.")
    if _SURROGATE.search(text):
        raise _Unfit(f"{contains} half of a surrogate pair", "Decode the text anew, or pass the bytes as base64.")


def _path(root: str, steps: list[str | int]) -> str:
    """Return where in the value the walk stopped, as in `args.items[3].name`."""
    path = root
    for step in reversed(steps):
        if isinstance(step, str) and _PLAIN_KEY.fullmatch(step):
            path += f".{step}"
        else:
            path += f"[{json.dumps(step)}]"
        if len(path) > PATH_LIMIT_CHARS:
            return f"{path[:PATH_LIMIT_CHARS]}…"
    return path
