"""Headers of a job: what travels with it and with the jobs that it enqueues, such as a trace context. Text to text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from haulwright.engine.payload import HEADERS_LIMIT, HEADERS_LIMIT_BYTES, check, read_json
from haulwright.errors import InvalidPayload

_HINT = "Headers are for ids, such as a trace context or a request id; what a job works on goes into its arguments."


def dump_headers(headers: Mapping[str, str] | None) -> str | None:
    """The stored form of headers; None where there are none. A refusal names a key and never shows a value."""
    if headers is None:
        return None
    if not isinstance(headers, Mapping):
        raise InvalidPayload("headers", f"is a {type(headers).__name__}, and not text by name", hint=_HINT)
    pairs: Iterable[tuple[object, object]] = headers.items()
    for name, value in pairs:
        if not isinstance(name, str) or not name or not name.isprintable():
            raise InvalidPayload("headers", "has a name that is not printable text", hint=_HINT)
        if not isinstance(value, str):
            raise InvalidPayload(f"headers[{name!r}]", f"is of type {type(value).__name__}, and not text", hint=_HINT)
    if len(headers) > HEADERS_LIMIT:
        raise InvalidPayload("headers", f"has more than {HEADERS_LIMIT} names", hint=_HINT)
    return check(dict(headers), root="headers", limit_bytes=HEADERS_LIMIT_BYTES) if headers else None


def parse_headers(text: str | None) -> dict[str, str]:
    """Headers from their stored form; none where that cannot be read, which buries the job before it runs."""
    return read_json(text, dict) or {}


def inherit_headers(parent: str | None, own: str | None) -> str | None:
    """The headers of a job that another one enqueues: those of that one, under what the call says itself."""
    if parent is None or own is None:
        return own if parent is None else parent
    return dump_headers(parse_headers(parent) | parse_headers(own))
